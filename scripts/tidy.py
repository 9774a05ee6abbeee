#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs clang-tidy on files in parallel, skipping those that were clean before.

The result for a file depends on its content, on all of our headers, on the settings
and on the compile commands; their hash is the name of a stamp in BUILD/tidy.
"""
import argparse
import concurrent.futures
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def common_hash(build):
    digest = hashlib.sha256()
    for path in [ROOT / ".clang-tidy", *sorted(ROOT.glob("src/**/*.h")),
                 *sorted(ROOT.glob("include/**/*.h")), build / "compile_commands.json"]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def tidy(build, name, common):
    stamp = build / "tidy" / hashlib.sha256(
        common.encode() + name.encode() + (ROOT / name).read_bytes()).hexdigest()
    if stamp.exists():
        return 0, ""
    done = subprocess.run(["clang-tidy-14", "-p", str(build), "--quiet", name], cwd=ROOT,
                          capture_output=True, text=True, check=False)
    if done.returncode == 0:
        stamp.touch()
    noise = re.compile(r"^(\d+ warnings? (and .* )?generated|.*treated as error).*$")
    lines = [line for line in (done.stdout + done.stderr).splitlines() if not noise.match(line)]
    return done.returncode, "\n".join(lines) if done.returncode else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    if not shutil.which("clang-tidy-14"):
        print("clang-tidy-14 is not installed (make deps)")
        return 1
    build = (ROOT / options.build).resolve()
    (build / "tidy").mkdir(exist_ok=True)
    common = common_hash(build)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for status, output in pool.map(lambda name: tidy(build, name, common), options.files):
            failed += status != 0
            if output:
                print(output)
    print(f"clang-tidy: {len(options.files)} files, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs commands and tests on an emulated machine with the CPU that this one does not have.

    vm.py [OPTIONS] run COMMAND...   a command in the checkout, by bash -c
    vm.py [OPTIONS] build            cross-builds wick in build-vm-CPU
    vm.py [OPTIONS] test [smoke|all] builds and runs tests; results in build-vm-CPU/logs
    vm.py [OPTIONS] root             where the root file system is unpacked

"run" passes the command's exit status on; 124 is the time limit, 125 a machine that
died. If something is not available (no emulator, no network), it prints one line and exits with status 77.
"""
import argparse
import os
import pathlib
import shlex
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import cross  # noqa: E402
import guest_tests  # noqa: E402
import machine  # noqa: E402

ROOT = HERE.parent.parent
UNAVAILABLE = 77


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0], epilog=(
        "kernels: " + ", ".join(f"{name} {version}" for name, version in machine.KERNELS.items())))
    parser.add_argument("--cpu", choices=machine.CPUS, default=machine.other_cpu().name,
                        help="of the machine (default: %(default)s)")
    parser.add_argument("--kernel", choices=machine.KERNELS, default=machine.USERLAND,
                        help="Debian suite that the kernel is from (default: %(default)s)")
    parser.add_argument("--cache", type=pathlib.Path, default=machine.default_cache(),
                        help="folder for root file systems and kernels (default: %(default)s)")
    parser.add_argument("--cpus", type=int, default=1, help="how many (default: 1)")
    parser.add_argument("--memory", type=int, default=2048, help="MB (default: 2048)")
    parser.add_argument("--timeout", type=int, help="seconds, of the whole run (default: 600)")
    parser.add_argument("--icount", action="store_true",
                        help="the machine's time follows the instructions it runs; test does so")
    parser.add_argument("--verbose", action="store_true", help="show the kernel's console")
    parser.add_argument("what", choices=("run", "build", "test", "root"))
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="...")
    options = parser.parse_args(arguments)
    if options.what == "run" and not options.words:
        parser.error("run: a command is missing")
    if options.what == "test" and options.words not in ([], ["smoke"], ["all"]):
        parser.error("test: smoke or all")
    return options


def settings_of(options):
    settings = machine.Settings()
    settings.suite = options.kernel
    settings.cpus = options.cpus
    settings.memory_mb = options.memory
    settings.timeout_s = options.timeout or 600
    settings.icount = options.icount
    settings.verbose = options.verbose
    return settings


def main(arguments):
    options = parse(arguments)
    cpu, cache = machine.CPUS[options.cpu], machine.Cache(options.cache)
    settings = settings_of(options)
    build = pathlib.Path(os.environ.get("WICK_VM_BUILD") or ROOT / f"build-vm-{cpu.name}")
    if options.what in ("run", "test"):
        machine.need_emulator(cpu)  # before anything is fetched
    if options.what in ("build", "test"):
        cross.need_compilers(cpu)
    if options.what == "root":
        print(cache.root(cpu))
        return 0
    if options.what == "run":
        words = options.words[1:] if options.words[0] == "--" else options.words
        script = words[0] if len(words) == 1 else shlex.join(words)
        return machine.run(cache, cpu, settings, ROOT, script)
    cross.build(cpu, cache.root(cpu), build)
    if options.what == "build":
        return 0
    return guest_tests.run(cache, cpu, settings, build, options.words == ["smoke"])


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (machine.Unavailable, cross.BuildFailed) as error:
        print(f"vm: {error}", file=sys.stderr)
        sys.exit(UNAVAILABLE if isinstance(error, machine.Unavailable) else 1)
    except KeyboardInterrupt:
        sys.exit(130)

# SPDX-License-Identifier: BSD-2-Clause
"""Interpreters of other releases of Debian, unpacked into a cache and run in a root of their own.

    releases.py [VERSION...]      fetches them and prints where they are

No script of a package is run and nothing of this machine changes.
"""
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/vm"))

import debian  # noqa: E402
import machine  # noqa: E402
from debian import Unavailable  # noqa: E402

SUITES = {"3.9": "bullseye", "3.13": "trixie", "3.14": "forky"}
OLD = ("3.9",)  # their release is older than any that builds wick
RECIPE = "2"  # to be changed with what is done to unpacked roots
CANNOT_ENTER = 125
ENTER = """
for name in dev proc sys; do
	mount --rbind "/$name" "$0/$name" || exit 125
done
mount --rbind "$WICK_TEMPORARY" "$0$WICK_TEMPORARY" || exit 125
mount --bind "$WICK_SITE" "$0$WICK_SITE_INSIDE" || exit 125
folder=$WICK_FOLDER
unset WICK_TEMPORARY WICK_SITE WICK_SITE_INSIDE WICK_FOLDER
exec chroot "$0" /bin/sh -c 'cd "$0" && exec "$@"' "$folder" "$@"
"""


def cpu():
    return "arm64" if os.uname().machine == "aarch64" else "amd64"


def packages(version):
    return [f"python{version}", f"libpython{version}-testsuite", f"libpython{version}-dev", "openssl",
            "ca-certificates", "coreutils", "dash", "libc-bin"]


class Release:
    """An interpreter in its root. site is a folder of this machine whose packages it sees."""

    def __init__(self, version, site):
        self.version = version
        self.site = pathlib.Path(site)
        self.site.mkdir(parents=True, exist_ok=True)
        self.root = self._root()
        self.executable = f"/usr/bin/python{version}"
        self.site_inside = f"/usr/local/lib/python{version}/dist-packages"

    def _root(self):
        debian.need_commands("apt-get", "dpkg-deb", "tar", "unshare")
        cache = machine.Cache(machine.default_cache().with_name("python"))
        wanted = packages(self.version)

        def fill(folder):
            debian.unpack_packages(folder, cpu(), SUITES[self.version], wanted)
            if self.version in OLD:
                self._renew_c_library(folder)
            temporary = tempfile.gettempdir()
            for name in ("dev", "proc", "sys", "root", "etc", temporary.lstrip("/"),
                         f"usr/local/lib/python{self.version}/dist-packages"):
                (folder / name).mkdir(parents=True, exist_ok=True)
            (folder / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n", encoding="ascii")
            (folder / "etc/hosts").write_text("127.0.0.1 localhost\n::1 localhost\n", encoding="ascii")
            self._copy_headers(folder)

        try:
            recipe = (ROOT / "tests/vm/debian.py").read_text(encoding="utf-8")
            return cache.entry(f"python{self.version}", [RECIPE, recipe, *wanted], fill)
        finally:
            self.cache = cache

    @staticmethod
    def _renew_c_library(root):
        """An extension that is compiled here needs a C library as new as this machine's."""
        suite = platform.freedesktop_os_release()["VERSION_CODENAME"]
        work = root.with_name(root.name + ".libc")
        shutil.rmtree(work, ignore_errors=True)
        try:
            for archive in debian.Apt(work, cpu(), suite).fetch(["libc6"]):
                if archive.name.startswith("libc6_"):
                    debian.unpack(archive, root)
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def _copy_headers(self, root):
        """Python's headers alone: those of the C library are this machine's."""
        for folder in [root / "usr/include", *root.glob("usr/include/*-linux-gnu")]:
            headers = folder / f"python{self.version}"
            if headers.is_dir():
                shutil.copytree(headers, root / "headers" / headers.relative_to(root / "usr/include"))

    def includes(self):
        return f"{self.root}/headers/python{self.version}:{self.root}/headers"

    def run(self, *words, env=None, cwd=None, **options):
        """Runs the interpreter with arguments, as subprocess.run() does."""
        own = [] if os.geteuid() == 0 else ["--map-root-user"]
        done = subprocess.run(
            ["unshare", "--mount", *own, "sh", "-c", ENTER, str(self.root), self.executable, *map(str, words)],
            stdin=options.pop("stdin", subprocess.DEVNULL), check=False, text=True, capture_output=True, **options,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", **(env or {}),
                 "WICK_TEMPORARY": tempfile.gettempdir(), "WICK_SITE": str(self.site),
                 "WICK_SITE_INSIDE": self.site_inside, "WICK_FOLDER": str(cwd or "/")})
        if done.returncode == CANNOT_ENTER or done.stderr.startswith("unshare:"):
            raise Unavailable(f"no root can be entered here: {done.stderr.strip().splitlines()[0]}")
        return done


def main(versions):
    for version in versions or SUITES:
        with tempfile.TemporaryDirectory() as site:
            release = Release(version, site)
            print(release.root, release.run("-VV").stdout.strip())


if __name__ == "__main__":
    main(sys.argv[1:])

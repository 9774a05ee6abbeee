# SPDX-License-Identifier: BSD-2-Clause
"""The interpreters that the package is tested with, and the package built for each.

Those of this machine, from 3.9 on; with WICK_LONG also those of other releases of Debian (releases.py).
"""
import glob
import json
import os
import pathlib
import subprocess
import sys

import releases

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("WICK_BUILD") or ROOT / "build").resolve()
BACKEND = ROOT / "python/build_backend.py"
OLDEST, NEWEST = [3, 9], [3, 14]
PATTERNS = ("/usr/bin/python3", "/usr/bin/python3.?", "/usr/bin/python3.??", "/usr/local/bin/python3.?",
            "/usr/local/bin/python3.??", "~/.pyenv/versions/*/bin/python3")
ASK = """
import json, os, sys, sysconfig
print(json.dumps({"executable": os.path.realpath(sys.executable), "version": list(sys.version_info[:2]),
    "name": sys.implementation.name, "free": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    "shared": "libpython" in open("/proc/self/maps").read(), "suffix": sysconfig.get_config_var("EXT_SUFFIX")}))
"""


class Unusable(Exception):
    """An interpreter cannot be tested; the text says why."""


def clean_environment(**more):
    """The environment without what changes interpreters."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("PYTHON", "WICK_TRACEMALLOC", "PYTEST"))}
    return {**kept, **more}


def describe(path):
    done = subprocess.run([path, "-I", "-c", ASK], capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


class Local:
    """An interpreter of this machine. The package is found through PYTHONPATH."""

    def __init__(self, facts):
        self.facts = facts
        self.version = tuple(facts["version"])
        linked = "shared" if facts["shared"] else "static"
        self.name = f"{'.'.join(map(str, self.version))}-{linked}"
        self.executable = facts["executable"]
        self.folder = BUILD / "python" / self.name
        self.package = self.folder / "package"

    def prepare(self):
        done = subprocess.run([ROOT / "scripts/build-python", self.executable, self.package],
                              capture_output=True, text=True, check=False, env=clean_environment())
        if done.returncode != 0:
            if "there is no Python.h" in done.stderr:
                raise Unusable(done.stderr.strip())
            raise AssertionError(done.stderr)
        return self

    def run(self, *words, env=None, **options):
        settings = {"PYTHONPATH": str(self.package), **(env or {})}
        return self._run([self.executable, *words], settings, options)

    @staticmethod
    def _run(command, settings, options):
        options.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.run(list(map(str, command)), env=clean_environment(**settings), check=False, text=True,
                              capture_output=True, **options)

    def installed(self):
        return LocalInstalled(self)


class LocalInstalled:
    """A virtual environment where wick.tracemalloc is in the place of the standard module."""

    def __init__(self, local):
        self.local, self.name, self.version = local, local.name, local.version
        self.folder = local.folder / "venv"
        self.executable = str(self.folder / "bin/python")
        if not os.path.exists(self.executable):
            subprocess.run([local.executable, "-m", "venv", "--without-pip", self.folder], check=True,
                           env=clean_environment())
        done = self.run("-m", "wick.tracemalloc", "install", env={"PYTHONPATH": str(local.package)})
        assert done.returncode == 0, done.stderr

    def run(self, *words, env=None, **options):
        return self.local._run([self.executable, *words], env or {}, options)


class Other:
    """An interpreter of another release of Debian."""

    def __init__(self, version):
        self.version = tuple(map(int, version.split(".")))
        self.name = f"{version}-{releases.SUITES[version]}"
        self.folder = BUILD / "python" / self.name

    def prepare(self):
        try:
            self.release = releases.Release(".".join(map(str, self.version)), self.folder)
        except releases.Unavailable as error:
            raise Unusable(str(error)) from None
        suffix = json.loads(self.run("-I", "-c", ASK).stdout)["suffix"]
        subprocess.run([sys.executable, "-B", BACKEND, "tree", self.folder, f"_tracer{suffix}"], check=True,
                       env=clean_environment(WICK_PYTHON_INCLUDE=self.release.includes()))
        self.executable = self.release.executable
        return self

    def run(self, *words, env=None, **options):
        return self.release.run(*words, env=env, **options)

    def installed(self):
        other = OtherInstalled(".".join(map(str, self.version)))
        other.release, other.executable = self.release, self.executable
        return other.install()


class OtherInstalled(Other):
    """The same with the standard module replaced. The file that does it lies in a folder of its own."""

    def install(self):
        folder = self.folder.with_name(self.folder.name + "-installed")
        subprocess.run(["cp", "-a", f"{self.folder}/.", folder], check=True)
        self.release = releases.Release(".".join(map(str, self.version)), folder)
        done = self.run("-m", "wick.tracemalloc", "install")
        assert done.returncode == 0, done.stderr
        return self


def local():
    """One of each: version, and shared or static. Those of the machine's own version come first."""
    found = {}
    for pattern in PATTERNS:
        for path in sorted(glob.glob(os.path.expanduser(pattern))):
            facts = describe(path)
            if facts and facts["name"] == "cpython" and not facts["free"] and \
                    OLDEST <= facts["version"] <= NEWEST:
                found.setdefault(Local(facts).name, Local(facts))
    own = next(iter(found.values()), None)
    return sorted(found.values(), key=lambda one: one.version != own.version)


def every():
    wanted = local()
    if os.environ.get("WICK_LONG"):
        wanted += [Other(version) for version in releases.SUITES]
    return wanted

# SPDX-License-Identifier: BSD-2-Clause
"""Threads have the names that a Python program gave them, also those that the kernel does not know."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest
from conftest import LONG, ROOT

from ebpf import needs_ebpf

sys.path.insert(0, str(ROOT / "tests/python"))

PROGRAM = pathlib.Path(__file__).parent.parent / "workloads" / "python_names.py"
PYTHONS = sorted({os.path.realpath(shutil.which(path))
                  for path in ("/usr/bin/python3", "python3", sys.executable) if shutil.which(path)})
PERF = pytest.param("perf", marks=pytest.mark.perf)
ENGINES = [pytest.param("ebpf", marks=needs_ebpf), PERF, "signal", "ptrace"]
GIVEN = {"reader of a very long list", "schrei\u00df-\u043f\u043e\u0442\u043e\u043a", "worker of a class"}


def names_of(wick, recording):
    """The names of threads with Python calls, without the main thread."""
    found = set()
    text = wick.ok("export", recording.path, "--format", "samples").stdout
    for sample in map(json.loads, text.splitlines()):
        calls = any(frame["kind"] == "interpreted" for frame in sample["stack"])
        if sample["tid"] != sample["pid"] and calls:
            found.add(sample["comm"])
    return found


def check(found):
    """The program's names are there. Before, a thread has that of the program, or (3.14) the beginning of its own."""
    assert GIVEN <= found and any(name.startswith("Thread-") for name in found), found
    begins = ("python", "Thread-", *(name[:6] for name in GIVEN))
    assert all(name.startswith(begins) for name in found), found


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("engine", ENGINES)
def test_threads_have_the_names_that_the_program_gave(wick, engine, python):
    recording = wick.record([python, PROGRAM, 2], "--engine", engine, "-F", 499, "--overhead", "off")
    check(names_of(wick, recording))


@pytest.mark.parametrize("engine", [pytest.param("ebpf", marks=needs_ebpf), PERF, "ptrace"])
def test_threads_of_a_running_program(wick, background, engine):
    program = background([PYTHONS[0], PROGRAM, "60"])
    assert program.stdout.readline() == "all run\n"
    found = names_of(wick, wick.attach("--engine", engine, "-p", program.pid, "-F", 499, "-d", 1))
    check(found)
    assert len(found) == len(GIVEN) + 1, found


@pytest.mark.root
def test_threads_in_a_pid_namespace(wick):
    inside = ["unshare", "--pid", "--fork", "--mount-proc"]
    if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no pid namespace can be made here")
    check(names_of(wick, wick.record([*inside, PYTHONS[0], PROGRAM, 2], "--engine", "ptrace", "-F", 499)))


@pytest.mark.skipif(not LONG, reason="fetches interpreters of other releases: set WICK_LONG=1")
@pytest.mark.skipif(os.geteuid() != 0 or not tempfile.gettempdir().startswith("/tmp"),
                    reason="needs root and /tmp to enter the root of another Debian")
@pytest.mark.parametrize("version", ["3.9", "3.13", "3.14"])
def test_other_versions_of_python(wick, tmp_path, version):
    import releases  # pylint: disable=import-outside-toplevel
    try:
        root = releases.Release(version, ROOT / f"build/python/site-{version}").root
    except releases.Unavailable as why:
        pytest.skip(str(why))
    program = tmp_path / PROGRAM.name
    shutil.copy(PROGRAM, program)
    recording = wick.record(["unshare", "--mount", "sh", "-c", 'mount --bind /tmp "$0/tmp" && exec chroot "$0" "$@"',
                             str(root), f"/usr/bin/python{version}", program, 2],
                            "--engine", "ptrace", "-F", 499, "--overhead", "off")
    check(names_of(wick, recording))

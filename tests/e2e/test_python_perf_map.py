# SPDX-License-Identifier: BSD-2-Clause
"""python3 -X perf, since 3.12: its stacks are whole, and no call is shown twice."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import pytest
from conftest import LONG, ROOT

from ebpf import needs_ebpf
from test_python_frames import python_calls, samples_of

sys.path.insert(0, str(ROOT / "tests/python"))

PROGRAM = """\
import time


def inner(count):
    return sum(i * i for i in [1, 2, 3] * count)


def outer(count):
    return inner(count) + 1


end = time.process_time() + 0.5
while time.process_time() < end:
    outer(300)
"""
ASK = "import sys; print(sys.version_info >= (3, 12) and getattr(sys, 'activate_stack_trampoline', None) is not None)"


def can_list_its_calls(command):
    done = subprocess.run([*command, "-c", ASK], capture_output=True, text=True, check=False)
    return done.stdout.strip() == "True"


@pytest.fixture(name="python")
def command_of_python():
    """This machine's interpreter if it is new enough; with WICK_LONG, one of a newer Debian."""
    if can_list_its_calls([sys.executable]):
        return [sys.executable]
    if not LONG:
        pytest.skip("needs Python 3.12; WICK_LONG=1 fetches 3.13")
    if os.geteuid() != 0 or not tempfile.gettempdir().startswith("/tmp"):
        pytest.skip("needs root and /tmp to enter the root of another Debian")
    import releases  # pylint: disable=import-outside-toplevel
    try:
        root = releases.Release("3.13", ROOT / "build/python/site-3.13").root
    except releases.Unavailable as why:
        pytest.skip(str(why))
    # It sees the temporary files of this machine, where it also writes its list.
    command = ["unshare", "--mount", "sh", "-c", 'mount --bind /tmp "$0/tmp" && exec chroot "$0" "$@"',
               str(root), "/usr/bin/python3.13"]
    if not can_list_its_calls(command):
        pytest.skip("the root cannot be entered, or its Python lists no calls")
    return command


@pytest.mark.parametrize("engine,mode", [("ptrace", "auto"), ("ptrace", "off"),
                                         pytest.param("ebpf", "off", marks=needs_ebpf)])
def test_calls_are_whole_and_shown_once(wick, python, tmp_path, engine, mode):
    program = tmp_path / "listed.py"
    program.write_text(PROGRAM)
    recording = wick.record([*python, "-X", "perf", program], "--engine", engine, "-F", "499",
                            "--overhead", "off", "--python", mode)
    samples = samples_of(wick, recording)
    for pid in {sample["pid"] for sample in samples}:
        pathlib.Path(f"/tmp/perf-{pid}.map").unlink(missing_ok=True)
    names = [[frame["function"] for frame in sample["stack"]] for sample in samples]
    inside = [each for each in names if any("inner" in name for name in each)]
    assert len(inside) > 20, json.dumps(names[-1])
    if mode == "auto":
        calls = [[frame["function"] for frame in python_calls(sample)] for sample in samples]
        calls = [each for each in calls if "inner" in each]
        assert all(each[:3] == ["<module>", "outer", "inner"] for each in calls)
        # A loop that has just begun has no call yet: there the list names it.
        pairs = {(outer["kind"], inner["kind"]) for sample in samples
                 for outer, inner in zip(sample["stack"], sample["stack"][1:])}
        assert ("jit", "interpreted") not in pairs
    else:
        # The code that -X perf makes has no unwind table, and interpreters need not use frame pointers.
        listed = [[name.split(":")[2] for name in each if name.startswith("py::")] for each in inside]
        whole = [each[:3] == ["<module>", "outer", "inner"] for each in listed]
        assert whole.count(False) <= len(whole) / 100, [each for each, good in zip(inside, whole) if not good][0]

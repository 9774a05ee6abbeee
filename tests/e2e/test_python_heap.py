# SPDX-License-Identifier: BSD-2-Clause
"""Python calls in the stacks of allocations: each block has exactly the calls that made it."""
import collections
import os
import pathlib
import shutil
import sys

import pytest

from ebpf import needs_ebpf
from test_heap_attach import Attached

PROGRAM = pathlib.Path(__file__).parent.parent / "workloads" / "python_blocks.py"
PYTHONS = sorted({os.path.realpath(shutil.which(path))
                  for path in ("/usr/bin/python3", "python3", sys.executable) if shutil.which(path)})
MB = 1 << 20
# Calls from main() on, and the bytes that they allocate.
BLOCKS = {
    "main;first;block": 3 * MB,
    "main;second;block": 12 * MB,
    ";".join(["main"] + ["nested"] * 21 + ["block"]): 5 * MB,
    "main;sorting;key;block": 14 * MB,
    **{f"main;made;made_{i};block": 2 * MB for i in range(20)},
    "helper;block": 18 * MB,
}
LINE = next(i for i, line in enumerate(PROGRAM.read_text().splitlines(), 1) if "bytearray" in line)
NAMES = {name for stack in BLOCKS for name in stack.split(";")}


def heap(wick, python, *options):
    path = wick.new_path()
    process = wick.ok("heap", "-o", path, *options, "--", python, PROGRAM)
    assert " 0 lost" in process.stderr
    return path


def large_blocks(wick, path):
    """{functions of the program: bytes}, of stacks with block()."""
    text = wick.ok("export", path, "--format", "folded", "--event", "alloc_space").stdout
    found = collections.Counter()
    for line in text.splitlines():
        stack, _, amount = line.rpartition(" ")
        names = [name for name in stack.split(";") if name in NAMES]
        if names[-1:] == ["block"]:
            if names[0] == "<module>":
                del names[0]
            found[";".join(names)] += int(amount) // MB * MB
    return found


@pytest.mark.parametrize("sampled", [(), ("--sample", "64K")])
@pytest.mark.parametrize("python", PYTHONS)
def test_a_block_has_the_python_calls_that_made_it(wick, python, sampled):
    found = large_blocks(wick, heap(wick, python, *sampled))
    if sampled:
        assert set(found) == set(BLOCKS)
    else:
        assert found == BLOCKS


# Waits until wick follows it, then runs the program.
RUNNING = "import os, runpy, sys; os.read(0, 1); runpy.run_path(sys.argv[1]); print('{}')"


@pytest.mark.root
@needs_ebpf
@pytest.mark.parametrize("python", PYTHONS)
def test_a_block_of_a_running_program_has_the_python_calls_that_made_it(wick, background, python):
    seen = Attached(wick, background, [python, "-c", RUNNING, PROGRAM]).run()
    assert " 0 lost" in seen.summary
    assert large_blocks(wick, seen.path) == BLOCKS


@pytest.mark.root
@needs_ebpf
def test_a_running_program_without_python_calls(wick, background):
    seen = Attached(wick, background, [PYTHONS[-1], "-c", RUNNING, PROGRAM], "--python", "off").run()
    assert not large_blocks(wick, seen.path)


def test_only_python_calls(wick):
    path = heap(wick, PYTHONS[-1], "--python", "only")
    text = wick.ok("export", path, "--format", "folded", "--event", "alloc_space").stdout
    stacks = [line.rpartition(" ")[0].split(";") for line in text.splitlines()]
    first = [stack[1:] for stack in stacks if stack[-2:] == ["first", "block"]]
    assert first == [["<module>", "main", "first", "block"]]


def test_without_python_calls_the_interpreter_is_shown(wick):
    path = heap(wick, PYTHONS[-1], "--python", "off")
    assert not large_blocks(wick, path)


def test_views_of_the_heap_show_the_lines_of_python_calls(wick, tmp_path):
    path = heap(wick, PYTHONS[-1])
    rows = wick.json("report", path, "--by", "site", "--format", "json")["rows"]
    assert (rows[0]["function_name"], rows[0]["file"], rows[0]["line"]) == ("block", str(PROGRAM), LINE)
    flame = tmp_path / "heap.svg"
    wick.ok("flame", path, "-o", flame)
    assert "second" in flame.read_text() and PROGRAM.name in flame.read_text()


LEAKING = """
import ctypes
library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
def leaking():
    library.malloc(12345)
def main():
    for _ in range(10):
        leaking()
main()
"""


def test_leaks_are_at_python_calls(wick, tmp_path):
    program = tmp_path / "leaking.py"
    program.write_text(LEAKING)
    path = wick.new_path()
    wick.ok("heap", "--leaks", "-o", path, "--", PYTHONS[-1], program)
    text = wick.ok("leaks", path).stdout
    definite = [line for line in text.splitlines() if line.split()[:1] == ["definite"] and "leaking" in line]
    assert definite and f"{program}:6" in definite[0]


def test_children_have_python_calls_from_their_start(wick, tmp_path):
    program = tmp_path / "forking.py"
    program.write_text("import os\n"
                       "def child():\n    return bytearray(7 << 20)\n"
                       "for _ in range(5):\n"
                       "    pid = os.fork()\n"
                       "    if pid == 0:\n        child()\n        os._exit(0)\n"
                       "    os.waitpid(pid, 0)\n")
    path = wick.new_path()
    wick.ok("heap", "-o", path, "--", PYTHONS[-1], program)
    text = wick.ok("export", path, "--format", "folded", "--event", "alloc_space").stdout
    assert sum(int(line.rpartition(" ")[2]) for line in text.splitlines() if ";child;" in line) >= 35 << 20

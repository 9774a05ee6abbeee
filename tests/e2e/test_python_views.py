# SPDX-License-Identifier: BSD-2-Clause
"""Python calls of running processes: wick sample, wick top and wick record with -p and -a."""
import json
import os
import pathlib
import re
import shutil
import sys

import pytest

from ebpf import needs_ebpf

PROGRAM = """
def work():
    return sum(range(300))
def key(number):
    return work() + number
def sorting():
    return sorted(range(10), key=key)
print("ready", flush=True)
while True:
    sorting()
"""
PYTHONS = sorted({os.path.realpath(shutil.which(path))
                  for path in ("/usr/bin/python3", "python3", sys.executable) if shutil.which(path)})
CALL = re.compile(r"  0x[0-9a-f]+  (\S+) \((\S+\.py):(\d+)\)")
ENGINES = [pytest.param("ebpf", False, marks=needs_ebpf, id="ebpf -p"),
           pytest.param("ebpf", True, marks=needs_ebpf, id="ebpf -a"), pytest.param("ptrace", False, id="ptrace -p")]
SORTED = ["<module>", "sorting", "key", "work"]


def started(background, path, text):
    path.write_text(text)
    process = background([PYTHONS[-1], str(path)])
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.fixture(name="sorting")
def fixture_sorting(background, tmp_path):
    """A process that sorts with a key function all the time."""
    return started(background, tmp_path / "sorting.py", PROGRAM)


def calls_of(text):
    """The Python calls of each sample that wick sample -v prints, root first."""
    return [[match[1] for match in reversed(list(CALL.finditer(part)))] for part in text.split("--- sample")[1:]]


def test_sample_shows_python_calls_and_native_frames(wick, sorting):
    text = wick.ok("sample", "-v", "-n", 20, sorting.pid, 20).stdout
    stacks = calls_of(text)
    assert SORTED in stacks
    assert all(stack == SORTED[:len(stack)] for stack in stacks)
    assert "_PyRun_SimpleFileObject" in text
    assert {match[3] for match in CALL.finditer(text) if match[1] == "key"} <= {"4", "5"}


def test_the_share_of_each_language(wick, sorting):
    recording = wick.attach("--engine", "ptrace", "-p", sorting.pid, "-F", 499, "-d", 0.5)
    found = wick.json("report", recording.path, "--by", "language", "--format", "json")
    rows = {row["name"]: row for row in found["rows"]}
    assert found["by"] == "language" and {"Python", "C"} <= set(rows)
    assert sum(row["self"] for row in rows.values()) == found["value"]["total"]
    # Every stack begins in C code; most of them are in Python calls.
    assert rows["C"]["total"] == found["value"]["total"] > rows["Python"]["total"] * 0.99 > rows["Python"]["self"] * 0.9
    text = wick.ok("report", recording.path, "--by", "language").stdout
    assert re.search(r"^ +self +total .* language$", text, re.MULTILINE)
    refused = wick.run("report", recording.path, "--by", "language", "--tree")
    assert refused.returncode == 2 and "--by language cannot be used with --tree" in refused.stderr


def test_sample_shows_python_calls_alone_or_not_at_all(wick, sorting):
    only = wick.ok("sample", "-v", "--python", "only", "-n", 20, sorting.pid, 20).stdout
    in_calls = [part for part in only.split("--- sample")[1:] if CALL.search(part)]
    assert in_calls and not any("Py_BytesMain" in part for part in in_calls)
    off = wick.ok("sample", "-v", "--python", "off", "-n", 5, sorting.pid, 20).stdout
    assert not CALL.search(off) and "_PyEval_EvalFrameDefault" in off
    assert not CALL.search(wick.ok("sample", "-n", 5, sorting.pid, 20).stdout)


def test_sample_shows_python_calls_of_all_threads(wick, background, tmp_path):
    process = started(background, tmp_path / "threads.py",
                      "import threading, time\n"
                      "def waiting():\n    time.sleep(60)\n"
                      "threading.Thread(target=waiting, daemon=True).start()\n"
                      "print('ready', flush=True)\n"
                      "waiting()\n")
    stacks = calls_of(wick.ok("sample", "-v", "--threads", "-n", 1, process.pid).stdout)
    assert sorted(stacks) == [["<module>", "waiting"],
                              ["Thread._bootstrap", "Thread._bootstrap_inner", "Thread.run", "waiting"]]


@pytest.mark.parametrize("engine,whole", ENGINES)
def test_recordings_of_running_processes_have_python_calls(wick, sorting, engine, whole):
    target = ("-a",) if whole else ("-p", sorting.pid)
    recording = wick.attach("--engine", engine, "-F", 499, "-d", 1, *target)
    lines = wick.ok("export", recording.path, "--format", "samples", "--pid", sorting.pid).stdout.splitlines()
    stacks = [[frame["function"] for frame in json.loads(line)["stack"] if frame["kind"] == "interpreted"]
              for line in lines]
    while stacks and not stacks[0]:  # with the engine ebpf, the interpreter is found after some samples
        del stacks[0]
    assert SORTED in stacks
    assert all(stack == SORTED[:len(stack)] and stack for stack in stacks), stacks


@pytest.mark.parametrize("engine,whole", ENGINES)
def test_top_shows_python_calls(wick, sorting, engine, whole):
    target = ("-a",) if whole else ("-p", sorting.pid)
    wanted = {name: "sorting.py" for name in SORTED[1:]}.items()
    for interval in ("1s", "2s", "4s"):  # on a busy machine the interpreter is found late
        rows = wick.json("top", "--once", "--interval", interval, "-F", 499, "--engine", engine, "--format",
                         "json", *target)["rows"]
        shown = {row["name"]: os.path.basename(row["file"]) for row in rows}
        if wanted <= shown.items():
            break
    assert wanted <= shown.items()


def test_the_table_of_top_has_the_files_of_python_calls(wick, sorting):
    shown = wick.ok("top", "--once", "--interval", "1s", "-F", 499, "--engine", "ptrace", "-p", sorting.pid).stdout
    assert re.search(r"% key +sorting\.py$", shown, re.M), shown

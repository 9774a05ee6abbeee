# SPDX-License-Identifier: BSD-2-Clause
"""The global lock of Python: who holds it, and who waits for it."""
import collections
import json
import os
import pathlib
import shutil
import sys

import pytest

from ebpf import needs_ebpf

PROGRAM = pathlib.Path(__file__).parent.parent / "workloads" / "python_gil.py"
PYTHONS = sorted({os.path.realpath(shutil.which(path))
                  for path in ("/usr/bin/python3", "python3", sys.executable) if shutil.which(path)})
ENGINES = [pytest.param("ebpf", marks=needs_ebpf), pytest.param("perf", marks=pytest.mark.perf), "signal", "ptrace"]
WAITING = "waiting for the GIL"


def weights(wick, recording):
    """{(function of the thread, state): time}; native functions that it calls count as its own."""
    found = collections.Counter()
    text = wick.ok("export", recording.path, "--format", "samples").stdout
    for sample in map(json.loads, text.splitlines()):
        names = [frame["function"] for frame in sample["stack"] if frame["kind"] == "interpreted"]
        kind = next((name for name in names if name in ("holding", "releasing", "sleeping")), None)
        found[kind, sample.get("labels", {}).get("state")] += sample["weight"]
    return found


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("engine", ENGINES)
def test_only_holders_of_the_lock(wick, engine, python):
    recording = wick.record([python, PROGRAM, 1], "--engine", engine, "-F", 499, "--gil", "--overhead", "off")
    found = collections.Counter()
    for (kind, _), weight in weights(wick, recording).items():
        found[kind] += weight
    assert found["holding"] > 0.02e9
    # They need it between two calls, for microseconds, or longer if they lose the CPU just then.
    assert found["releasing"] + found["sleeping"] < 0.4 * found["holding"]
    assert "without the GIL were left out" in recording.stderr


def test_without_the_option_all_threads_are_there(wick):
    recording = wick.record([PYTHONS[-1], PROGRAM, 0.5], "--engine", "ptrace", "-F", 499, "--overhead", "off")
    assert {"holding", "releasing", "sleeping"} <= {kind for kind, _ in weights(wick, recording)}
    assert "left out" not in recording.stderr


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("engine", [pytest.param("ebpf", marks=needs_ebpf), "ptrace"])
def test_waiting_for_the_lock_is_a_state(wick, engine, python):
    recording = wick.record([python, PROGRAM, 1], "--engine", engine, "--mode", "wall", "--overhead", "off")
    found = weights(wick, recording)
    # One of the two always waits for the other. To ptrace it is on a CPU while it waits for one to look again.
    assert found["holding", WAITING] > (0.2e9 if engine == "ebpf" else 0)
    # time.sleep() is no wait for the lock.
    assert found["sleeping", "sleeping"] > found["sleeping", WAITING]
    rows = wick.json("report", recording.path, "--by", "state", "--format", "json")["rows"]
    assert WAITING in {row["name"] for row in rows}


def test_a_program_without_the_lock_is_told_apart_from_an_idle_one(wick):
    recording = wick.record(["sleep", "0.2"], "--engine", "ptrace", "-F", 499, "--gil", "--overhead", "off")
    assert "no thread was seen with Python's global lock; record without --gil" in recording.stderr


def test_without_calls_the_holders_are_unknown(wick):
    done = wick.run("record", "--gil", "--python", "off", "--", "true")
    assert done.returncode == 2 and "--python off" in done.stderr

# SPDX-License-Identifier: BSD-2-Clause
"""Python calls with the perf engine: they are read after the sample, so they are right or they are left out."""
import collections
import os
import re
import subprocess
import sys

import pytest
from conftest import LONG, ROOT, wait_for

from test_python_frames import (HELPER, PROGRAM, PYTHONS, RUNS, SECONDS, check_lines, is_right, names_of,
                                python_calls, samples_of)
from test_python_truth import release

pytestmark = pytest.mark.perf
SWAP = ROOT / "tests/workloads/python_swap.py"
# Which native function shows that a caller of that program is there.
WITNESSES = {"min_max": "left", "list_sort": "right"}


def goes_first():
    """Whether the recorder may go before the program that it samples; else it may come too late."""
    code = "import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))"
    return subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL, check=False).returncode == 0


GOES_FIRST = goes_first()


def has_loop(sample):
    return any("_PyEval_EvalFrameDefault" in (frame["function"] or "") for frame in sample["stack"])


def judge(samples):
    """Counts samples with right, wrong and no calls, from the first scene to the last."""
    named = [(names_of(sample, True), sample) for sample in samples]
    times = [sample["time_ns"] for names, sample in named if names[:2] == ["<module>", "scene"]]
    found = collections.Counter()
    wrong = collections.Counter()
    for names, sample in named:
        if not times or not min(times) <= sample["time_ns"] <= max(times):
            continue
        if not names and (has_loop(sample) or sample["pid"] == sample["tid"]):
            found["none"] += 1
        elif (is_right(names, True) if sample["pid"] == sample["tid"]
              else not names or HELPER.fullmatch(";".join(names))):
            found["right"] += 1
        else:
            found["wrong"] += 1
            wrong[";".join(names)] += 1
    return found, wrong


@pytest.mark.parametrize("python,rate,scenes", [
    *((python, "999", ()) for python in PYTHONS), (PYTHONS[-1], "99", ("recursion", "generators"))])
def test_calls_are_right_or_left_out(wick, python, rate, scenes):
    found, wrong, best = collections.Counter(), collections.Counter(), 0
    for _ in range(RUNS):
        recording = wick.record([python, PROGRAM, 0.5 if scenes else SECONDS, *scenes], "--engine", "perf", "-F", rate,
                                "--overhead", "off")
        samples = samples_of(wick, recording)
        more, more_wrong = judge(samples)
        found += more
        wrong += more_wrong
        best = max(best, more["right"] / more.total())
        check_lines(samples)
        if found.total() > 100 and best >= 0.95:
            break
    assert found.total() > 100
    assert found["wrong"] <= found.total() / 1000, wrong.most_common(10)
    # A busy machine may move the program to another CPU while its calls are read, but not in every run.
    assert best >= 0.95 or not GOES_FIRST, found


MADE = """import sys
import time


def work():
    total = 0
    for i in range(2000):
        total += i * i
    return total


def level(left):
    return work() if left == 0 else max([left - 1], key=level)


end = time.process_time() + float(sys.argv[1])
while time.process_time() < end:
    level(6)
"""


@pytest.mark.root
@pytest.mark.skipif(not LONG, reason="fetches interpreters of other releases: set WICK_LONG=1")
@pytest.mark.parametrize("version", ["3.9", "3.13", "3.14"])
def test_other_versions_of_python(wick, tmp_path, version):
    program = tmp_path / "made.py"
    program.write_text(MADE, encoding="utf-8")
    found, best = collections.Counter(), 0
    for _ in range(RUNS):
        recording = wick.record([*release(version), "-S", str(program), "0.5"], "--engine", "perf", "-F", "999",
                                "--overhead", "off")
        stacks = [[frame["function"] for frame in python_calls(sample)] for sample in samples_of(wick, recording)]
        running = [i for i, names in enumerate(stacks) if "level" in names]
        more = collections.Counter(";".join(names) for names in stacks[running[0]:running[-1] + 1])
        best = max(best, 1 - more[""] / more.total())
        found += more
        if best >= 0.95:
            break
    wrong = {calls for calls in found if calls and not re.fullmatch(r"<module>((;level){1,7}(;work)?)?", calls)}
    assert found.total() > 100
    assert sum(found[calls] for calls in wrong) <= found.total() / 1000, wrong
    assert best >= 0.95 or not GOES_FIRST, found


def test_callers_that_take_turns_are_told_apart(wick):
    """The native part of a stack is the kernel's copy, and says which of two callers it was."""
    found = collections.Counter()
    for python in PYTHONS:
        recording = wick.record([python, SWAP, 0.5], "--engine", "perf", "-F", "999", "--overhead", "off")
        samples = samples_of(wick, recording)
        times = [sample["time_ns"] for sample in samples
                 if [frame["function"] for frame in python_calls(sample)][:2] == ["<module>", "turns"]]
        for sample in samples:
            names = [frame["function"] for frame in python_calls(sample)]
            native = {caller for frame in sample["stack"] for word, caller in WITNESSES.items()
                      if frame["kind"] != "interpreted" and word in (frame["function"] or "")}
            if names and len(native) == 1 and min(times) < sample["time_ns"] < max(times):
                found[names[2:3] == list(native)] += 1
    if found.total() == 0:
        pytest.skip("no interpreter here has names of its own functions")
    assert found.total() > 20
    assert found[False] <= found.total() / 100, found


def test_calls_that_could_not_be_read_are_counted(wick):
    recording = wick.record([PYTHONS[-1], PROGRAM, 0.3, "sorting", "recursion"], "--engine", "perf", "-F", "999",
                            "--overhead", "off")
    samples = samples_of(wick, recording)
    summary = re.search(r"python +([0-9.]+) % of samples have Python calls(?:, in ([0-9.]+) % they could not be "
                        r"read)?(?:, (\d+) were)?", recording.stderr)
    with_calls, unread, early = (float(part or 0) for part in summary.groups())
    shown = sum(map(bool, map(python_calls, samples)))
    assert with_calls / 100 * len(samples) == pytest.approx(shown, abs=2)
    # Others have none because the interpreter starts or ends.
    assert len(samples) - shown + 2 >= unread / 100 * len(samples) + early


def functions_of(samples, pid):
    return {frame["function"] for sample in samples if sample["pid"] == pid for frame in python_calls(sample)}


@pytest.mark.parametrize("options", [(), pytest.param(("-a",), marks=pytest.mark.root)])
def test_processes_that_run_already_have_calls(wick, background, options):
    process = background([PYTHONS[-1], str(PROGRAM), "60", "sorting"])
    wait_for(lambda: "python" in os.readlink(f"/proc/{process.pid}/exe"), what="the interpreter")
    target = options or ("-p", str(process.pid))
    seen = set()
    for _ in range(RUNS):  # on a busy machine, the process may get no CPU for a while
        recording = wick.attach("--engine", "perf", *target, "-d", "1", "-F", "499", "--overhead", "off")
        seen |= functions_of(samples_of(wick, recording), process.pid)
        if {"sorting", "key", "work"} <= seen:
            break
    assert {"sorting", "key", "work"} <= seen


def test_an_interpreter_that_starts_later_has_calls(wick):
    recording = wick.record(["sh", "-c", f"{PYTHONS[-1]} {PROGRAM} 2 sorting; true"], "--engine", "perf", "-F", "499",
                            "--overhead", "off")
    samples = samples_of(wick, recording)
    assert any({"sorting", "key", "work"} <= functions_of(samples, pid) for pid in {one["pid"] for one in samples})


FORKING = """
import os, time
def job():
    end = time.process_time() + 0.5
    while time.process_time() < end:
        sum(range(1000))
child = os.fork()
job()
if child:
    os.waitpid(child, 0)
"""


def test_forked_children_have_calls(wick, tmp_path):
    program = tmp_path / "forking.py"
    program.write_text(FORKING)
    recording = wick.record([PYTHONS[-1], program], "--engine", "perf", "-F", "499", "--overhead", "off")
    samples = samples_of(wick, recording)
    assert sum("job" in functions_of(samples, pid) for pid in {one["pid"] for one in samples}) == 2


@pytest.mark.parametrize("options,why", [
    (("--unwind", "fp"), "does not read interpreted calls with --unwind fp"),
    (("--on-overflow", "overwrite-old"), "does not read interpreted calls with --on-overflow overwrite-old"),
    (("-e", "page-faults"), "reads interpreted calls only at a rate")])
def test_what_it_cannot_read_is_said(wick, options, why):
    recording = wick.record([PYTHONS[-1], PROGRAM, 0.2, "sorting"], "--engine", "perf", *options)
    assert re.search(f"native only in .*: the perf engine {why}", recording.stderr)
    assert not any(python_calls(sample) for sample in samples_of(wick, recording))
    recording = wick.record([PYTHONS[-1], PROGRAM, 0.1, "sorting"], "--engine", "perf", "--python", "off", *options)
    assert "native only" not in recording.stderr

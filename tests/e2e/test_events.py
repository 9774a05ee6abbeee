# SPDX-License-Identifier: BSD-2-Clause
"""wick record -e: tracepoints, and functions of programs."""
import os
import pathlib
import re
import shutil
import subprocess

import contract
import pytest
from conftest import wait_for, workload
from ebpf import REFUSAL

UPROBES = "/sys/bus/event_source/devices/uprobe/type"


def needs_root():
    if os.geteuid() != 0:
        pytest.skip("needs root")


def test_a_function_is_sampled_each_time_it_is_called(wick):
    needs_root()
    if not os.path.exists(UPROBES):
        pytest.skip("this kernel has no uprobe events")
    program = workload("split", 50)
    for kind in ("uprobe", "uretprobe"):
        recording = wick.record(program, "-e", f"{kind}:{program[0]}:main")
        (stack, count), = recording.folded()
        assert count == 1
        assert "_start" in stack, stack  # whole, whatever names the C library has


def code_at(pid, name):
    """The first bytes of a function of a running program."""
    program = os.readlink(f"/proc/{pid}/exe")
    symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    vaddr = next(int(line.split()[0], 16) for line in symbols.splitlines()
                 if line.split()[-1] == name)
    maps = pathlib.Path(f"/proc/{pid}/maps").read_text(encoding="utf-8").splitlines()
    base = next(int(line.split("-")[0], 16) for line in maps if line.endswith(program))
    with open(f"/proc/{pid}/mem", "rb") as memory:
        memory.seek(base + vaddr)
        return memory.read(8)


def test_a_recorder_that_is_killed_leaves_no_breakpoint_behind(wick, background):
    needs_root()
    if not os.path.exists(UPROBES) or not shutil.which("nm"):
        pytest.skip("needs uprobe events and nm")
    target = background(workload("split", 20000))
    program = workload("split")[0]
    wait_for(lambda: os.readlink(f"/proc/{target.pid}/exe") == os.path.realpath(program),
             what="the program")
    before = code_at(target.pid, "hot_70")
    process = wick.start("record", "-e", f"uprobe:{program}:hot_70", "-p", target.pid, "-o",
                         wick.new_path())
    wait_for(lambda: code_at(target.pid, "hot_70") != before, what="a breakpoint")
    process.kill()
    process.communicate()
    wait_for(lambda: code_at(target.pid, "hot_70") == before, what="the end of the breakpoint")
    assert target.poll() is None


def test_a_function_that_is_not_there_is_named(wick):
    program = workload("split", 50)
    done = wick.run("record", "-e", f"uprobe:{program[0]}:no_such_function", "--", *program)
    assert done.returncode == contract.USAGE
    assert "no_such_function" in done.stderr


def test_a_tracepoint_is_sampled_with_its_stack(wick):
    """tracefs is mounted privately. At sched_process_exit, older kernels have
    already removed the stack, so the test uses the call before that."""
    needs_root()
    if not shutil.which("unshare"):
        pytest.skip("unshare is not installed")
    path = wick.new_path()
    script = ('mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing && '
              'exec "$@"')
    prefix = ["unshare", "-m", "sh", "-c", script, "sh"]
    command = workload("split", 200)
    done = wick.run("record", "-e", "syscalls:sys_enter_exit_group", "-o", path, "--",
                    *command, prefix=prefix)
    if "mount" in done.stderr:
        pytest.skip("tracefs cannot be mounted here")
    assert done.returncode == 0, done.stderr
    report = wick.json("report", path, "--format", "json")
    assert contract.total_percent(report, "_start") == pytest.approx(100)


def test_a_tracepoint_that_is_not_there_is_refused_with_a_remedy(wick):
    done = wick.run("record", "-e", "no_such:tracepoint", "--", "true")
    assert done.returncode in (contract.USAGE, contract.FAILED)
    assert "wick list events" in done.stderr or "mount -t tracefs" in done.stderr


LIBC = next((path for path in ("/lib/aarch64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libc.so.6")
             if os.path.exists(path)), None)


@pytest.mark.skipif(not LIBC, reason="libc is elsewhere")
def test_every_name_of_a_function_is_known(wick):
    """Two of them share an address."""
    needs_root()
    for name in ("nanosleep", "__nanosleep"):
        done = wick.run("record", "-e", f"uprobe:{LIBC}:{name}", "-o", wick.new_path(), "--", "true")
        assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not LIBC, reason="libc is elsewhere")
def test_a_function_that_is_chosen_at_run_time_is_refused(wick):
    done = wick.run("record", "-e", f"uprobe:{LIBC}:memcpy", "--", "true")
    assert done.returncode == contract.USAGE
    assert "resolved when a program starts" in done.stderr


def test_an_offset_past_the_end_of_a_file_is_refused(wick):
    done = wick.run("record", "-e", "uprobe:/bin/ls:0xfffffffff", "--", "true")
    assert done.returncode == contract.USAGE
    assert "past the end" in done.stderr


GROUP = "cpu-clock,page-faults,context-switches"


@pytest.fixture(scope="module", params=("ebpf", "perf"))
def touches(request, shared_wick):
    if request.param == "ebpf" and REFUSAL:
        pytest.skip(f"eBPF does not work here: {REFUSAL}")
    recording = shared_wick.record(workload("touches", 150), "-e", GROUP, "-F", 999,
                                   "--engine", request.param)
    if "begin later are left out" in recording.stderr:
        pytest.skip("groups of this kernel do not follow children")
    return recording


@pytest.mark.perf
@pytest.mark.parametrize("event, function", (
    ("page-faults", "touch_here"),
    ("context-switches", "yield_here"),
))
def test_what_is_counted_beside_the_samples_has_their_stacks(touches, event, function):
    report = touches.report("--event", event)
    steps = 2 * touches.truth["steps"]
    found = next(row["total"] for row in contract.rows(report) if row["name"] == function)
    # Others may take the CPU away anywhere: that is a switch too, and the program knows how many there were.
    by_others = touches.truth["preempted"] if event == "context-switches" else 0
    elsewhere = report["value"]["total"] - found
    assert elsewhere < 0.17 * found + by_others
    # What was counted after the last sample is missing, what starting takes is there too.
    assert 0.9 * steps < found < 1.1 * steps + by_others


@pytest.mark.perf
def test_the_event_that_leads_is_what_it_was(touches):
    report = touches.report()
    for function in ("burn_here", "touch_here", "yield_here"):
        assert contract.total_percent(report, function) == pytest.approx(33.3, abs=5)
    told = re.search(r"samples +(\d+) of", touches.stderr)
    assert contract.sample_count(touches.info()) == int(told.group(1))
    assert touches.info("--check")["quality"] in ("good", "fair")


@pytest.mark.perf
def test_merging_keeps_what_was_counted(wick, touches):
    both = wick.new_path()
    wick.ok("merge", touches.path, touches.path, "-o", both)
    one = touches.report("--event", "page-faults")
    two = wick.json("report", both, "--event", "page-faults", "--format", "json")
    assert sum(row["self"] for row in contract.rows(two)) == 2 * sum(
        row["self"] for row in contract.rows(one))


@pytest.mark.perf
def test_an_event_that_was_not_counted_is_refused_with_those_that_were(wick, touches):
    done = wick.run("report", touches.path, "--event", "cycles")
    assert done.returncode == contract.FAILED
    assert "has no event cycles" in done.stderr
    assert "cpu-clock, page-faults, context-switches" in done.stderr


def has(wick, event):
    return next(item["available"] for item in wick.json("list", "events", "--format", "json")["events"]
                if item["name"] == event)


@pytest.mark.perf
@pytest.mark.parametrize("engine", ("auto", "perf"))
def test_a_counter_that_is_not_there_is_left_out_with_a_line(wick, engine):
    if has(wick, "cycles"):
        pytest.skip("this machine counts cycles")
    recording = wick.record(workload("split", 100), "-e", "cpu-clock,cycles", "--engine", engine)
    lines = [line for line in recording.stderr.splitlines() if "cycles is left out" in line]
    assert len(lines) == 1 and "wick list events" in lines[0]
    assert contract.sample_count(recording.info()) > 50
    done = wick.run("record", "-e", "cycles,cpu-clock", "--engine", engine, "--", "true")
    assert done.returncode == contract.FAILED
    assert "cannot count" in done.stderr


@pytest.mark.parametrize("events, says", (
    ("cpu-clock,nonsense", "nonsense"),
    ("cpu-clock,cpu-clock", "twice"),
    ("cpu-clock,", "no event called"),
))
def test_a_group_that_makes_no_sense_is_refused(wick, events, says):
    done = wick.run("record", "-e", events, "--", "true")
    assert done.returncode == contract.USAGE
    assert says in done.stderr

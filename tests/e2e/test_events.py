# SPDX-License-Identifier: BSD-2-Clause
"""wick record -e: tracepoints, and functions of programs."""
import os
import shutil

import contract
import pytest
from conftest import workload

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


def test_a_function_that_is_not_there_is_named(wick):
    program = workload("split", 50)
    done = wick.run("record", "-e", f"uprobe:{program[0]}:no_such_function", "--", *program)
    assert done.returncode == contract.USAGE
    assert "no_such_function" in done.stderr


def test_a_tracepoint_is_sampled_with_its_stack(wick):
    """tracefs is mounted where nobody else sees it."""
    needs_root()
    if not shutil.which("unshare"):
        pytest.skip("unshare is not installed")
    path = wick.new_path()
    script = 'mount -t tracefs tracefs /sys/kernel/tracing && exec "$@"'
    prefix = ["unshare", "-m", "sh", "-c", script, "sh"]
    command = workload("split", 200)
    done = wick.run("record", "-e", "sched:sched_process_exit", "-o", path, "--", *command,
                    prefix=prefix)
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
    assert "chosen when a program starts" in done.stderr


def test_an_offset_past_the_end_of_a_file_is_refused(wick):
    done = wick.run("record", "-e", "uprobe:/bin/ls:0xfffffffff", "--", "true")
    assert done.returncode == contract.USAGE
    assert "past the end" in done.stderr

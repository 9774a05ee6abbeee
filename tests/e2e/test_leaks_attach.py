# SPDX-License-Identifier: BSD-2-Clause
"""Leak scans of processes that wick did not start: finds what they lost since then, and nothing else."""
import os
import signal
import subprocess

import pytest
from conftest import PATIENCE, children_of, state_of, wait_for, workload
from ebpf import needs_ebpf

pytestmark = [pytest.mark.root, needs_ebpf]
TIMEOUT = 60 * PATIENCE


class Late:
    """late_leaks, which has allocated before: each line makes it lose ten blocks and keep eleven."""

    def __init__(self, wick, background, *options):
        self.wick, self.path = wick, wick.new_path()
        self.target = background(workload("late_leaks"), stdin=subprocess.PIPE)
        assert self.target.stdout.readline() == "ready\n"
        self.recorder = wick.start("heap", "-p", self.target.pid, "-o", self.path, *options)
        self.said = self.recorder.stderr.readline()
        assert "probing" in self.said, self.said + self.recorder.communicate(timeout=TIMEOUT)[1]

    def lose(self):
        self.target.stdin.write("x\n")
        self.target.stdin.flush()
        assert self.target.stdout.readline() == "done\n"

    def stop(self):
        self.recorder.send_signal(signal.SIGINT)
        self.said = self.recorder.communicate(timeout=TIMEOUT)[1]
        return self.recorder.returncode

    def assert_unharmed(self):
        with open(f"/proc/{self.target.pid}/status", encoding="ascii") as file:
            assert "TracerPid:\t0\n" in file.read()
        wait_for(lambda: not children_of(self.target.pid), what="an end of the copy")
        self.lose()
        self.target.stdin.close()
        assert self.target.wait(TIMEOUT) == 0

    def classes(self):
        told = self.wick.json("leaks", self.path, "--all", "--format", "json")
        assert told["scanned"]
        return told, {name: (amount["bytes"], amount["blocks"]) for name, amount in told["sums"].items()
                      if isinstance(amount, dict) and amount.get("blocks") and name != "lifetime"}


def test_what_is_lost_after_the_attach_is_found(wick, background):
    late = Late(wick, background, "--leaks")
    late.lose()
    assert late.stop() == 0, late.said
    assert "definite   1010 B in 10 blocks" in late.said
    told, classes = late.classes()
    # What only an older block leads to, and what a thread has on its stack, is in use.
    assert classes == {"definite": (1010, 10), "reachable": (2110 + 307, 11)}
    assert [row["function_name"] for row in told["leaks"] if row["class"] == "definite"] == ["lose"]
    late.assert_unharmed()


def test_it_is_scanned_while_it_is_followed(wick, background):
    late = Late(wick, background, "--leaks")
    late.lose()
    wick.ok("heap", "--scan", "-p", late.target.pid)
    late.lose()
    assert late.stop() == 0, late.said
    told, classes = late.classes()
    assert [scan["live_blocks"] for scan in told["scans"]] == [21, 31]
    assert classes["definite"] == (2020, 20)
    late.assert_unharmed()


@pytest.mark.parametrize("loses, status", ((True, 3), (False, 0)))
def test_gates_judge_it(wick, background, loses, status):
    late = Late(wick, background, "--fail-on", "definite")
    if loses:
        late.lose()
    assert late.stop() == status, late.said
    late.assert_unharmed()


def test_one_that_ends_first_was_not_scanned(wick, background):
    late = Late(wick, background, "--fail-on", "definite")
    late.lose()
    late.target.stdin.close()
    assert late.target.wait(TIMEOUT) == 0
    late.said = late.recorder.communicate(timeout=TIMEOUT)[1]
    assert late.recorder.returncode == 1 and "cannot tell whether there are leaks" in late.said


def test_one_that_is_stopped_is_not_copied_and_goes_on(wick, background):
    late = Late(wick, background, "--leaks")
    os.kill(late.target.pid, signal.SIGSTOP)
    wait_for(lambda: state_of(late.target.pid) == "T", what="the stop")
    late.stop()
    assert "is stopped" in late.said, late.said
    os.kill(late.target.pid, signal.SIGCONT)
    late.assert_unharmed()

# SPDX-License-Identifier: BSD-2-Clause
"""wick report --by lock: which locks threads wait for, how long, how often, and who holds them."""
import re
import subprocess

import pytest

import contract
from conftest import state_of, wait_for, workload
from ebpf import needs_ebpf

pytestmark = [pytest.mark.perf, needs_ebpf]

ROUNDS = 25
LOCKS = ("first", "second", "heap")


def by_lock(recording, *options):
    """{name: row} of the locks of the workload."""
    found = {}
    for row in contract.rows(recording.report("--by", "lock", *options)):
        is_heap = row["lock"].startswith("[heap] 0x")
        found["heap" if is_heap else row["name"] or row["lock"]] = row
    return found


def assert_right(recording, rounds):
    """All are taken at one place of the program: only the lock distinguishes them."""
    locks = by_lock(recording)
    for name in LOCKS:
        row, truth = locks[name], recording.truth[name]
        # Each sleep is in one wait and has in it one time that the lock was held.
        assert truth["held_ns"] * 0.99 <= row["total"] <= truth["waited_ns"] * 1.01, (name, truth, row)
        assert row["waits"] == pytest.approx(rounds, rel=0.03), (name, row)
        assert row["mean"] == pytest.approx(row["total"] / row["waits"], abs=1)
        longest = (truth["longest_held_ns"] * 0.99, truth["longest_waited_ns"] * 1.01)
        assert longest[0] <= row["longest"] <= longest[1], (name, truth, row)
        waiter = row["waiters"][0]
        assert waiter["function"] == "take_here" and "mutex_lock" in waiter["call"], row
        assert waiter["thread"] == "locks"
        assert waiter["total"] > 0.95 * row["total"], row


@pytest.fixture(scope="module")
def waits(shared_wick):
    return shared_wick.record(workload("locks", ROUNDS, 2000), "--mode", "offcpu", "--waker")


def test_locks_have_their_times_and_their_number(waits):
    assert_right(waits, ROUNDS)


def test_who_held_a_lock_is_who_wakes_who_waits_for_it(waits):
    for name, row in by_lock(waits).items():
        if name in LOCKS:
            assert row["wakers"][0]["function"] == "give_here", row
            assert row["wakers"][0]["total"] > 0.9 * row["total"], row


def test_globals_have_names_and_all_have_a_place(waits):
    locks = by_lock(waits)
    program = workload("locks")[0]
    for name in ("first", "second"):
        assert locks[name]["lock"].startswith(program + "+0x"), locks[name]
    symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    for name in ("first", "second"):
        address = next(line.split()[0] for line in symbols.splitlines() if line.endswith(f" {name}"))
        assert int(locks[name]["lock"].rpartition("+")[2], 16) == int(address, 16)


def test_a_lock_can_be_chosen_by_its_label(waits):
    row = by_lock(waits)["second"]
    chosen = by_lock(waits, "--label", f"lock={row['lock']}")
    assert list(chosen) == ["second"]
    assert chosen["second"]["total"] == row["total"]


def test_the_text_names_what_json_does(waits):
    text = waits.wick.ok("report", "--by", "lock", waits.path).stdout
    assert "waits for locks: " in text
    for word in ("first  ", "second  ", "[heap] 0x", "take_here, ", "woken by", "give_here, "):
        assert word in text
    assert "--waker" not in text


def test_short_waits_that_are_added_up_are_exact_by_lock(wick):
    """They occur too often for a stack each: the kernel keeps sums."""
    rounds = 1500
    recording = wick.record(workload("locks", rounds, 30), "--mode", "offcpu")
    assert int(re.search(r"summed +(\d+) waits", recording.stderr).group(1)) > rounds
    assert_right(recording, rounds)
    # The summary and the report count alike.
    samples = recording.report()["samples"]
    assert f"samples    {samples}" in recording.stderr


def test_wall_time_has_locks_too(wick):
    assert_right(wick.record(workload("locks", ROUNDS, 1000), "--mode", "wall"), ROUNDS)


def test_a_wait_that_has_begun_before_has_its_lock(wick, background):
    """The waiter sleeps in the first lock when the recording begins, and when it ends."""
    program = background(workload("locks", 1, 60_000_000), stdout=subprocess.DEVNULL)
    waiter = wait_for(lambda: sleeping_waiter(program.pid), what="the waiter")
    assert waiter
    recording = wick.attach("-p", program.pid, "--mode", "offcpu", "-d", 1)
    locks = by_lock(recording)
    assert locks["first"]["total"] == pytest.approx(recording.info()["duration_ns"], rel=0.2)
    assert locks["first"]["waits"] == 1
    assert locks["first"]["waiters"][0]["function"] == "take_here"


def sleeping_waiter(pid):
    """The id of the second thread, once both threads sleep."""
    done = subprocess.run(["ls", f"/proc/{pid}/task"], capture_output=True, text=True, check=False)
    others = [int(tid) for tid in done.stdout.split() if int(tid) != pid]
    return others[0] if others and state_of(others[0]) == "S" and state_of(pid) == "S" else None


def test_a_recording_of_cpu_time_says_what_to_record(wick):
    recording = wick.record(workload("fib", 20))
    done = wick.run("report", "--by", "lock", recording.path)
    assert done.returncode == contract.FAILED
    assert "has no lock waits" in done.stderr
    assert "--mode offcpu --waker" in done.stderr
    assert done.stdout == ""


def test_locks_have_no_tree(wick, waits):
    done = wick.run("report", "--by", "lock", "--tree", waits.path)
    assert done.returncode == contract.USAGE
    assert "--by lock cannot be used with --tree" in done.stderr


def test_a_program_without_locks_says_so(wick):
    recording = wick.record(["sleep", "0.2"], "--mode", "offcpu")
    assert "no thread waited for a lock" in wick.ok("report", "--by", "lock", recording.path).stdout
    assert recording.report("--by", "lock")["rows"] == []

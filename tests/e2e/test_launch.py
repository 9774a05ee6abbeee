# SPDX-License-Identifier: BSD-2-Clause
"""wick record -- CMD: the command runs as if wick were not there."""
import json
import os
import pathlib
import signal
import subprocess
import time

import contract
import pytest
from conftest import LONG, WICK, Recording, children_of, state_of, wait_for, wait_for_samples, workload

pytestmark = pytest.mark.perf


@pytest.mark.parametrize("status", (0, 1, 3, 77, 255))
def test_the_exit_status_of_the_command_is_passed_on(wick, status):
    wick.record(workload("signals", "exit", status), status=status)


@pytest.mark.parametrize("number", (signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM))
def test_a_command_killed_by_a_signal_gives_128_and_its_number(wick, number):
    wick.record(workload("signals", "die", int(number)), status=128 + number)


def test_of_what_was_killed_at_once_is_said_that_it_was(wick):
    recording = wick.record(["sh", "-c", "kill -9 $$"], "-F", "10", status=137)
    assert "no samples: signal 9 (Killed) killed the program" in recording.stderr


def test_arguments_pass_through_unchanged(wick):
    words = ["", "two words", "--help", "-F", "quo'te", "ünïcode", "*"]
    recording = wick.record(["printf", "%s|", *words])
    assert recording.stdout == "".join(f"{word}|" for word in words)


def test_stdin_passes_through(wick):
    recording = wick.record(["cat"], input="first\nsecond\n")
    assert recording.stdout == "first\nsecond\n"


def test_stderr_of_the_command_passes_through(wick):
    recording = wick.record(["sh", "-c", "echo from the command >&2"])
    assert "from the command" in recording.stderr


def test_environment_and_folder_are_the_callers(wick):
    recording = wick.record(["sh", "-c", "echo $WICK_TEST_VALUE; pwd"],
                            env={**os.environ, "WICK_TEST_VALUE": "kept"})
    assert recording.stdout.splitlines() == ["kept", str(wick.folder)]


def test_the_command_inherits_no_descriptor_of_the_profiler(wick):
    plain = subprocess.run(["ls", "/proc/self/fd"], capture_output=True, text=True, check=True,
                           stdin=subprocess.DEVNULL)
    assert wick.record(["ls", "/proc/self/fd"]).stdout == plain.stdout


def test_a_command_that_is_not_there_gives_127(wick):
    recording = wick.record(["no-such-command-here"], status=contract.NOT_FOUND)
    assert "no-such-command-here" in recording.stderr
    assert "not found" in recording.stderr.lower() or "no such file" in recording.stderr.lower()


def test_a_file_that_is_not_executable_gives_126(wick):
    plain = wick.folder / "plain.txt"
    plain.write_text("not a program\n")
    recording = wick.record([str(plain)], status=contract.NOT_EXECUTABLE)
    assert "plain.txt" in recording.stderr


def test_the_summary_says_counts_and_the_next_command(wick):
    recording = wick.record(workload("spin", 300))
    text = recording.stderr.lower()
    for word in ("samples", "lost", "hz", str(recording.path), "wick report"):
        assert word in text, f"{word} is missing in:\n{recording.stderr}"
    assert recording.stdout.startswith("{"), "stdout belongs to the command"


def test_the_file_has_a_default_name_with_the_command_in_it(wick):
    wick.ok("record", "--", *workload("spin", 50))
    names = [path.name for path in wick.folder.glob("wick-*.wick")]
    assert len(names) == 1 and names[0].endswith("-spin.wick")


def test_flame_option_writes_the_graph_right_away(wick):
    wick.record(workload("spin", 200), "--flame", wick.folder / "now.svg")
    assert "spin_here" in (wick.folder / "now.svg").read_text()


def test_a_program_that_ends_at_once_is_recorded(wick):
    recording = wick.record(workload("short"))
    assert contract.sample_count(recording.info()) >= 0
    wick.ok("report", recording.path)
    wick.ok("info", "--check", recording.path)


def test_an_exec_chain_is_followed(wick):
    recording = wick.record(workload("execs", 200, 3), "-F", 999)
    report = recording.report()
    assert contract.total_percent(report, "before_exec") == pytest.approx(75, abs=4)
    assert contract.total_percent(report, "spin_here") == pytest.approx(25, abs=4)


def held_by(pid):
    """(open descriptors, kilobytes of its own: rings and tables are shared with the kernel)"""
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        resident = next(int(line.split()[1]) for line in status if line.startswith("RssAnon:"))
    return len(os.listdir(f"/proc/{pid}/fd")), resident


@pytest.fixture(scope="module", name="many")
def many_children(shared_wick):
    """(recording, ((descriptors, kilobytes) at first, the most of each)) of thousands of children"""
    path = shared_wick.new_path()
    # Quiet: summing up loads symbols.
    process = shared_wick.start("record", "-q", "-F", 999, "-o", path, "--",
                                *workload("forks", 20000 if LONG else 2500, 1))
    wait_for_samples(shared_wick, process.pid, 500)
    first = worst = held_by(process.pid)
    while process.poll() is None:
        try:
            now = held_by(process.pid)
        except (OSError, StopIteration):
            break  # it has just ended
        if not children_of(process.pid):
            break  # finishing a recording takes memory of its own
        worst = tuple(map(max, worst, now))
        time.sleep(0.1)
    process.stdout, process.stderr = process.communicate(timeout=120)
    assert process.returncode == 0, process.stderr
    return Recording(shared_wick, path, process), first, worst


def test_thousands_of_children_are_followed_into_one_file(many):
    recording = many[0]
    assert recording.truth["failed"] == 0
    report = recording.report()
    forked = contract.total_percent(report, "forked_burn")
    executed = contract.total_percent(report, "executed_burn")
    # Three of four children burn without an exec; forking itself takes time too.
    assert forked / (forked + executed) == pytest.approx(0.75, abs=0.04)
    assert sum(row["self_percent"] for row in contract.rows(report)
               if row["name"].startswith(contract.INVALID)) <= 1


def test_children_that_come_and_go_leak_no_descriptor_and_no_memory(many):
    _, first, worst = many
    assert worst[0] <= first[0] + 4
    # Each child is a process to remember: two kilobytes for one are plenty.
    assert worst[1] - first[1] < (40000 if LONG else 6000)


def test_children_are_left_out_when_told(wick):
    recording = wick.record(workload("forks", 100, 2), "--no-children")
    report = recording.report()
    assert contract.total_percent(report, "forked_burn") == 0
    assert contract.total_percent(report, "executed_burn") == 0


def test_a_program_that_stops_itself_is_recorded_when_it_goes_on(wick):
    path = wick.new_path()
    process = wick.start("record", "-o", path, "--", *workload("stopped", 300))
    child = wait_for(lambda: [pid for pid in children_of(process.pid) if state_of(pid) == "T"],
                     what="the stop")[0]
    time.sleep(0.3)
    assert state_of(process.pid) != "T"
    os.kill(child, signal.SIGCONT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert '"after_stop"' in out
    process.stdout, process.stderr = out, err
    report = Recording(wick, path, process).report()
    assert contract.total_percent(report, "after_stop") > 90


def test_ctrl_c_reaches_the_command_and_keeps_the_data(wick):
    path = wick.new_path()
    process = wick.start("record", "-o", path, "--", *workload("signals", "catch", 20000))
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)  # what a terminal does
    _, err = process.communicate(timeout=10)
    assert process.returncode in (43, 0), err
    report = wick.json("report", path, "--format", "json")
    assert contract.total_percent(report, "wait_for_signal") > 90


def test_sigint_to_wick_alone_ends_the_recording_and_keeps_the_data(wick):
    path = wick.new_path()
    process = wick.start("record", "-o", path, "--", *workload("spin", 20000))
    seen = wait_for_samples(wick, process.pid)["samples"]
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=10)
    finally:
        kill_group(process)
    info = wick.json("info", path, "--format", "json")
    assert contract.sample_count(info) >= seen
    wick.ok("info", "--check", path)


def test_a_second_sigint_ends_at_once(wick):
    path = wick.new_path()
    # A command that ignores the signal keeps a polite recorder waiting.
    process = wick.start("record", "-o", path, "--", "sh", "-c",
                         "trap '' INT; echo ready; sleep 30")
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    try:
        os.killpg(process.pid, signal.SIGINT)
        # Until the file is whole, another one would ask for what is under way.
        assert process.stderr.readline().startswith("wick: recorded")
        time.sleep(0.3)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
        process.wait(timeout=3)
    finally:
        kill_group(process)
    assert process.returncode != 0
    wick.ok("info", path)


def test_sigterm_keeps_the_data_too(wick):
    path = wick.new_path()
    process = wick.start("record", "-o", path, "--", *workload("spin", 20000))
    seen = wait_for_samples(wick, process.pid)["samples"]
    process.send_signal(signal.SIGTERM)
    try:
        process.communicate(timeout=10)
    finally:
        kill_group(process)
    assert contract.sample_count(wick.json("info", path, "--format", "json")) >= seen


def test_a_killed_recorder_leaves_a_readable_file(wick):
    path = wick.new_path()
    process = wick.start("record", "-o", path, "--", *workload("spin", 20000))

    def flushed():
        done = wick.run("info", path, "--format", "json")
        return done.returncode == 0 and contract.sample_count(json.loads(done.stdout)) > 0

    wait_for(flushed, what="the first second in the file")
    process.kill()
    process.wait()
    kill_group(process)
    assert contract.sample_count(wick.json("info", path, "--format", "json")) > 0
    wick.ok("report", path)


def test_duration_ends_the_recording_and_leaves_the_command_alone(wick):
    recording = wick.record(workload("spin", 1500), "-d", "0.5", timeout=30)
    assert recording.info()["duration_ns"] == pytest.approx(0.5e9, rel=0.3)
    # It ran to its end, undisturbed, and told its truth.
    assert recording.truth["cpu_ns"] >= 1.4e9


def kill_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.stdout.close()
    process.stderr.close()


def processes_of(program):
    """Ids of the processes that run a program, among those that these tests have started."""
    found, mark = set(), f"WICK_TESTS={os.getpid()}".encode()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.path.samefile(f"/proc/{pid}/exe", program) and \
                    mark in pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                found.add(int(pid))
        except OSError:
            continue
    return found


def test_many_short_programs_in_a_row_leave_nothing_behind(wick):
    runs = 1000 if LONG else 25
    path = wick.folder / "one.wick"
    before = processes_of(WICK)
    for i in range(runs):
        done = subprocess.run([str(WICK), "record", "-o", str(path), "--",
                               *workload("short", i % 100)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=20, check=False)
        assert done.returncode == i % 100, f"run {i}: {done.stderr}"
        wick.ok("info", "--check", path)
    assert processes_of(WICK) <= before
    assert os.listdir(wick.folder) == ["one.wick"]

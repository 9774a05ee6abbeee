# SPDX-License-Identifier: BSD-2-Clause
"""wick record -p, -t, -a: recording processes that are already running."""
import os
import re
import shlex
import shutil
import signal
import subprocess
import time

import contract
import pytest
from conftest import (PATIENCE, WICK, assert_short_message, children_of, thread_names, wait_for, wait_for_samples,
                      workload)

pytestmark = pytest.mark.perf


def test_attaching_records_the_process_and_lets_it_go_on(wick, background):
    target = background(workload("split", 20000))
    recording = wick.attach("-p", target.pid, "-F", 999, "-d", 1.5)
    report = recording.report()
    assert contract.total_percent(report, "hot_70") == pytest.approx(70, abs=4)
    assert contract.thread_ids(recording.report("--by", "thread")) == {target.pid}
    assert target.poll() is None


def test_attaching_ends_when_the_process_ends(wick, background):
    target = background(workload("spin", 700))
    start = time.monotonic()
    recording = wick.attach("-p", target.pid, timeout=20)
    assert time.monotonic() - start < 10
    assert contract.total_percent(recording.report(), "spin_here") > 90


def test_attaching_sees_threads_that_start_later(wick, background):
    target = background(workload("threads", 1500, 700))
    recording = wick.attach("-p", target.pid, "-F", 999)
    shares = contract.threads(recording.report("--by", "thread"))
    assert {"w0", "w1", "w2", "w3"} <= set(shares)
    assert shares["w3"] == pytest.approx(40, abs=4)


def test_attaching_to_two_processes_records_both(wick, background):
    first = background(workload("spin", 20000))
    second = background(workload("spin", 20000))
    recording = wick.attach("-p", f"{first.pid},{second.pid}", "-d", 1)
    assert contract.thread_ids(recording.report("--by", "thread")) == {first.pid, second.pid}


def test_p_may_be_given_more_than_once(wick, background):
    first, second = (background(workload("spin", 20000)) for _ in range(2))
    recording = wick.attach("-p", first.pid, "-p", second.pid, "-d", 1)
    assert contract.thread_ids(recording.report("--by", "thread")) == {first.pid, second.pid}


@pytest.fixture
def family():
    """Starts a shell whose children burn; ends all of them after the test."""
    started = []

    def start(script, count):
        spin = shlex.join(workload("spin", 60000))
        process = subprocess.Popen(["sh", "-c", script.replace("SPIN", spin)], stdout=subprocess.DEVNULL,
                                   start_new_session=True)
        started.append(process)
        wait_for(lambda: len(children_of(process.pid)) == count, what="the children")
        for child in children_of(process.pid):
            wait_for(lambda: name_of(child) == "spin", what="their program")  # pylint: disable=W0640
        return process

    yield start
    for process in started:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def name_of(pid):
    with open(f"/proc/{pid}/comm", encoding="utf-8") as comm:
        return comm.read().strip()


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
        return set(map(int, children.read().split()))


WORKERS = "SPIN & SPIN & wait"  # a master that sleeps
BUSY = "SPIN & exec SPIN"  # one that does not


def test_with_the_tree_children_that_run_already_are_recorded(wick, family):
    master = family(WORKERS, 2)
    recording = wick.attach("-p", master.pid, "--tree", "-d", 1)
    assert contract.thread_ids(recording.report("--by", "thread")) == children_of(master.pid)


def test_a_master_that_sleeps_while_its_workers_run_has_them_with_it(wick, family):
    master = family(WORKERS, 2)
    recording = wick.attach("-p", master.pid, "-d", 1)
    assert contract.thread_ids(recording.report("--by", "thread")) == children_of(master.pid)
    assert re.search(rf"process {master.pid} sleeps while (2 of its child processes use|1 of its child processes uses) "
                     "CPU time: child processes are included; --no-tree leaves them out", recording.stderr), recording.stderr
    alone = wick.attach("-p", master.pid, "--no-tree", "-d", 0.5)
    assert contract.sample_count(alone.info()) == 0
    assert "of its child processes" not in alone.stderr


def test_one_that_runs_itself_is_recorded_alone_and_a_line_tells_of_the_others(wick, family):
    parent = family(BUSY, 1)
    wait_for(lambda: name_of(parent.pid) == "spin", what="the program of the parent")
    recording = wick.attach("-p", parent.pid, "-d", 1)
    assert "1 of its child processes uses CPU time; add --tree to include child processes" in recording.stderr
    assert contract.thread_ids(recording.report("--by", "thread")) == {parent.pid}
    both = wick.attach("-p", parent.pid, "--tree", "-d", 1)
    assert contract.thread_ids(both.report("--by", "thread")) == {parent.pid} | children_of(parent.pid)


def test_only_those_that_use_cpu_time_are_counted_wherever_they_are_below(wick, background):
    spin = shlex.join(workload("spin", 60000))
    inner = shlex.join(["sh", "-c", f"{spin} & wait"])
    parent = background(["sh", "-c", f"sleep 1000 & {inner} & exec {spin}"], start_new_session=True)

    def below(pid):
        return [name for child in children_of(pid) for name in (name_of(child), *below(child))]
    try:
        wait_for(lambda: name_of(parent.pid) == "spin" and sorted(below(parent.pid)) == ["sh", "sleep", "spin"],
                 what="the programs")

        def tells():  # one that waits for a CPU does not use it
            said = wick.attach("-p", parent.pid, "-d", 0.2).stderr
            assert not re.search(r"\b[23] of its child processes use", said), said
            return "1 of its child processes uses CPU time" in said
        wait_for(tells, 30 * PATIENCE, "the line about the one that runs")
    finally:
        os.killpg(parent.pid, signal.SIGKILL)


def test_processes_are_found_by_their_name(wick, background, tmp_path):
    program = tmp_path / "wick-by-name-of-a-file"  # longer than what the kernel keeps of a name
    shutil.copy(workload("spin")[0], program)
    targets = {background([str(program), "20000"]).pid for _ in range(2)}
    recording = wick.attach("--name", program.name, "-d", 1)
    assert contract.thread_ids(recording.report("--by", "thread")) == targets


def test_a_name_that_nobody_has_is_told(wick):
    failed = wick.run("record", "--name", "nobody-is-called-that", "-o", wick.new_path())
    assert failed.returncode == 1
    assert "no process is named nobody-is-called-that" in failed.stderr
    assert len(failed.stderr.splitlines()) == 2, failed.stderr  # what, and the remedy


def test_a_name_without_letters_is_wrong_usage(wick):
    for command in ("record", "top"):
        refused = wick.run(command, "--name", "")
        assert refused.returncode == 2
        assert "--name needs the name of a process" in refused.stderr


def test_top_watches_a_tree_too(wick, family):
    master = family(WORKERS, 2)
    shown = wick.ok("top", "-p", master.pid, "--tree", "--once", "--format", "json").stdout
    assert "spin_here" in shown


def test_the_tree_is_about_what_runs_already(wick):
    for command in ("record", "top"):
        failed = wick.run(command, "--tree", "--", "true")
        assert failed.returncode == 2
        assert "--tree needs running processes" in failed.stderr


def test_one_thread_alone(wick, background):
    target = background(workload("threads", 20000))
    tasks = f"/proc/{target.pid}/task"
    wait_for(lambda: "w2" in thread_names(target.pid), what="the thread")
    wanted = next(int(tid) for tid in os.listdir(tasks)
                  if open(f"{tasks}/{tid}/comm", encoding="utf-8").read() == "w2\n")
    recording = wick.attach("-t", wanted, "-d", 1)
    assert contract.thread_ids(recording.report("--by", "thread")) == {wanted}


def test_ctrl_c_ends_attaching_and_leaves_the_process_alone(wick, background):
    target = background(workload("spin", 20000))
    path = wick.new_path()
    process = wick.start("record", "-p", target.pid, "-o", path)
    seen = wait_for_samples(wick, process.pid)["samples"]
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=10)
    assert process.returncode == contract.DONE, err
    assert target.poll() is None
    assert contract.sample_count(wick.json("info", path, "--format", "json")) >= seen


def test_a_stopped_process_yields_no_samples_and_no_failure(wick, background):
    target = background(workload("spin", 20000))
    time.sleep(0.1)
    target.send_signal(signal.SIGSTOP)
    recording = wick.attach("-p", target.pid, "-d", 0.5)
    assert contract.sample_count(recording.info()) <= 5
    if contract.sample_count(recording.info()) == 0:
        assert "kill -CONT" in recording.stderr


def test_a_library_that_another_thread_loads_is_known(wick, background):
    target = background(workload("dlthread", 20000))
    time.sleep(0.1)
    recording = wick.attach("-t", target.pid, "-d", 2)
    assert contract.total_percent(recording.report(), "plugin_a_burn") > 20


@pytest.mark.root
def test_the_whole_machine_holds_what_runs(wick, background):
    target = background(workload("split", 20000))
    recording = wick.attach("-a", "-F", 997, "-d", 2)
    report = recording.report("--comm", "split")
    hot = contract.total_percent(report, "hot_70")
    cool = contract.total_percent(report, "cool_30")
    assert 100 * hot / (hot + cool) == pytest.approx(70, abs=5)
    assert target.pid in contract.thread_ids(recording.report("--by", "thread"))


def test_a_process_that_is_not_there_is_named(wick):
    done = wick.run("record", "-p", 2 ** 22 - 1, "-d", 1, "-o", wick.new_path())
    assert done.returncode == contract.FAILED
    assert str(2 ** 22 - 1) in done.stderr
    assert_short_message(done, "no_such_pid")


def test_a_process_of_another_user_is_refused_with_a_remedy(wick, as_nobody):
    done = wick.run("record", "-p", 1, "-d", 1, "-o", wick.new_path(), prefix=as_nobody)
    assert done.returncode == contract.FAILED
    assert_short_message(done, "other_user")


def test_an_own_process_is_recorded_without_privilege(wick, as_nobody):
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
        if int(file.read()) > 2:
            pytest.skip("kernel.perf_event_paranoid keeps perf events for root")
    path = wick.folder / "own.wick"
    done = wick.run("record", "-F", 999, "-o", path, "--", *workload("split", 800),
                    prefix=as_nobody)
    assert done.returncode == 0, done.stderr
    report = wick.json("report", path, "--format", "json")
    assert contract.total_percent(report, "hot_70") == pytest.approx(70, abs=4)
    assert "kernel" in done.stderr.lower(), "it says what was left out"


@pytest.mark.parametrize("replaced", (False, True), ids=("deleted", "replaced"))
def test_a_program_whose_file_is_gone_keeps_its_names(wick, background, tmp_path, monkeypatch,
                                                      replaced):
    """Mapped files are kept when the recording ends, so that it can be viewed later."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    program = tmp_path / "gone"
    shutil.copy(workload("split")[0], program)
    target = background([str(program), "20000"])
    program.unlink()
    if replaced:
        shutil.copy(workload("spin")[0], program)
    recording = wick.attach("-p", target.pid, "-d", 0.5, "-F", 999)
    target.kill()
    target.wait()
    assert contract.total_percent(recording.report("--no-inline"), "hot_70") > 20


def test_the_one_who_attaches_is_no_child(wick):
    """A shell that attaches to itself: its only child is wick."""
    path = wick.new_path()
    done = subprocess.run(["sh", "-c", f'"{WICK}" record -d 0.3 -p $$ -o "{path}"; true'], capture_output=True,
                          text=True, check=False)
    assert "child process" not in done.stderr, done.stderr


def test_children_that_end_are_no_work(wick, background):
    """Some threads come and go, one sleeps for ever: none runs."""
    parent = background(["sh", "-c", "sleep 100 & while :; do sleep 0.04; done"])
    wait_for(lambda: children_of(parent.pid), what="children")
    for _ in range(4):
        recording = wick.attach("-p", parent.pid, "-d", 0.1)
        assert "recorded too" not in recording.stderr, recording.stderr
    subprocess.run(["kill", *map(str, children_of(parent.pid))], check=False)

# SPDX-License-Identifier: BSD-2-Clause
"""wick record --mode offcpu and wall: where threads are when they do not run."""
import json
import os
import re
import signal
import subprocess
import time

import pytest

import contract
from conftest import Recording, state_of, state_of_recorder, wait_for, workload
from ebpf import needs_ebpf, share_of

pytestmark = [pytest.mark.perf, needs_ebpf]

# Of a thread's own time; starting and ending are outside what it measures itself.
TOLERANCE = 0.02
EDGE_NS = 25e6


def totals(report):
    """{name: nanoseconds} of a report; threads without their ids."""
    found = {}
    for row in contract.rows(report):
        name = row["name"].rpartition("/")[0] or row["name"]
        found[name] = found.get(name, 0) + row["total"]
    return found


def by_state(recording, *options):
    return totals(recording.report("--by", "state", *options))


@pytest.fixture(scope="module")
def waits(shared_wick):
    return shared_wick.record(workload("waits", 600), "--mode", "offcpu")


@pytest.mark.parametrize("thread", ("sleeper", "locker", "runner_a", "runner_b"))
def test_time_off_the_cpus_is_wall_time_without_cpu_time(waits, thread):
    truth = waits.truth[thread]
    away_ns = totals(waits.report("--by", "thread"))[thread]
    assert contract.is_near(away_ns, truth["wall_ns"] - truth["cpu_ns"], TOLERANCE * truth["wall_ns"] + EDGE_NS,
                            less=waits.outside_ns), (away_ns, truth, waits.outside_ns)


def test_the_sum_over_threads_is_wall_time_without_cpu_time(waits):
    truth = [waits.truth[thread] for thread in ("sleeper", "locker", "runner_a", "runner_b")]
    expected = sum(thread["wall_ns"] - thread["cpu_ns"] for thread in truth)
    shares = totals(waits.report("--by", "thread"))
    away_ns = sum(ns for thread, ns in shares.items() if thread != "waits")
    slack_ns = max(TOLERANCE * expected, 4 * EDGE_NS / 5)
    assert contract.is_near(away_ns, expected, slack_ns, less=waits.outside_ns), (away_ns, expected, waits.outside_ns)


@pytest.mark.parametrize("thread, state, function", (
    ("sleeper", "sleeping", "sleep_here"),
    ("locker", "sleeping", "lock_here"),
    ("runner_a", "preempted", "run_here"),
    ("runner_b", "preempted", "run_here"),
))
def test_each_reason_has_its_state_and_its_place(waits, thread, state, function):
    states = by_state(waits, "--comm", thread)
    assert states[state] > 0.9 * sum(states.values()), states
    assert contract.total_percent(waits.report("--comm", thread), function) > 90


def test_waiting_for_a_vfork_is_uninterruptible(waits):
    states = by_state(waits, "--only", "vfork_here")
    truth = waits.truth["waits"]
    assert states["uninterruptible"] == pytest.approx(truth["wall_ns"], rel=TOLERANCE, abs=EDGE_NS)


def test_stacks_go_from_the_program_into_the_scheduler(waits):
    stacks = waits.folded("--comm", "sleeper")
    assert any("sleep_here" in frames for frames, _ in stacks), stacks
    # What the programs themselves do in the kernel is no part of it.
    assert all(frames[-1] == "__schedule" for frames, _ in stacks), stacks[:3]


def test_without_the_kernel_the_place_is_the_call(wick):
    recording = wick.record(workload("waits", 200), "--mode", "offcpu", "--no-kernel")
    report = recording.report("--comm", "sleeper")
    assert "[kernel]" not in contract.modules(recording.report("--by", "module"))
    assert contract.total_percent(report, "sleep_here") > 90


def test_waiting_for_a_cpu_after_a_sleep_is_told_apart(wick):
    """Three threads that sleep and burn share one CPU: one that wakes up may have to wait."""
    script = ("import os, time\n"
              "os.sched_setaffinity(0, {0})\n"
              "for _ in range(2): os.fork()\n"
              "end = time.monotonic() + 1\n"
              "while time.monotonic() < end:\n"
              "    time.sleep(0.002)\n"
              "    until = time.process_time() + 0.004\n"
              "    while time.process_time() < until: pass\n")
    recording = wick.record(["/usr/bin/python3", "-c", script], "--mode", "offcpu")
    states = by_state(recording)
    assert states["waiting for a CPU"] > 50e6, states
    assert states["sleeping"] > 5e6, states  # the less, the busier the machine


def test_short_times_are_left_out_and_counted(wick):
    program = workload("io", 500)
    recording = wick.record(program, "--mode", "offcpu", "--min-block", "100s")
    assert contract.sample_count(recording.info()) == 0
    left_out = re.search(r"(\d+) waits off the CPU were shorter than --min-block", recording.stderr)
    assert left_out and int(left_out.group(1)) > 5
    recording = wick.record(["sh", "-c", "sleep 0.3; sleep 0.01"], "--mode", "offcpu",
                            "--min-block", "100ms")
    assert by_state(recording)["sleeping"] > 500e6  # both sh and sleep


def test_a_thread_that_sleeps_already_counts_from_the_start(wick, background):
    target = background(["sleep", "100"])
    time.sleep(0.2)
    recording = wick.attach("-p", target.pid, "--mode", "offcpu", "-d", 1)
    assert by_state(recording)["sleeping"] == pytest.approx(recording.info()["duration_ns"], rel=0.05)
    # It stands still: where can be seen, from the program into the kernel.
    stack, = [frames for frames, _ in recording.folded()]
    assert "clock_nanosleep" in stack and "[truncated]" not in stack
    assert "hrtimer_nanosleep" in stack


@pytest.fixture
def crowd(background):
    """Threads that all sleep in one function, until they are killed."""
    process = background(workload("crowd", 20))
    wait_for(lambda: len(os.listdir(f"/proc/{process.pid}/task")) == 21, what="the threads")
    wait_for(lambda: state_of(process.pid) == "S", what="the sleep")
    return process


def assert_all_slept(recording, pid):
    """The sum over threads is their wall time: none ran."""
    options = ("--pid", pid)
    rows = contract.rows(recording.report("--by", "thread", *options))
    assert len(rows) == 21
    wall_ns = 21 * recording.info()["duration_ns"]
    assert sum(row["total"] for row in rows) == pytest.approx(wall_ns, rel=TOLERANCE)
    assert share_of(recording.folded(*options), lambda frames: "sleep_on" in frames) == 1


def test_attaching_counts_who_sleeps_all_the_time(wick, crowd):
    assert_all_slept(wick.attach("-p", crowd.pid, "--mode", "offcpu", "-d", 2), crowd.pid)


def test_in_wall_time_they_count_too(wick, crowd):
    assert_all_slept(wick.attach("-p", crowd.pid, "--mode", "wall", "-d", 2), crowd.pid)


@pytest.mark.root
def test_the_whole_machine_counts_who_sleeps_all_the_time(wick, crowd):
    assert_all_slept(wick.attach("-a", "--mode", "offcpu", "-d", 2), crowd.pid)


@pytest.mark.root
def test_a_control_group_counts_who_sleeps_all_the_time(wick, crowd, cgroup):
    below = cgroup / "below"
    below.mkdir()
    (below / "cgroup.procs").write_text(str(crowd.pid), encoding="ascii")
    try:
        recording = wick.attach("--cgroup", cgroup, "--mode", "offcpu", "-d", 2)
    finally:
        crowd.kill()
        crowd.wait()
        wait_for(lambda: not (below / "cgroup.procs").read_text(), what="the end")
        below.rmdir()
    assert_all_slept(recording, crowd.pid)
    assert len(contract.thread_ids(recording.report("--by", "thread"))) == 21  # and no others


def test_one_thread_that_sleeps_all_the_time(wick, crowd):
    tid = max(int(name) for name in os.listdir(f"/proc/{crowd.pid}/task"))
    recording = wick.attach("-t", tid, "--mode", "offcpu", "-d", 1)
    assert contract.thread_ids(recording.report("--by", "thread")) == {tid}
    assert by_state(recording)["sleeping"] == pytest.approx(recording.info()["duration_ns"], rel=0.05)


def test_a_stopped_process_is_off_its_cpu(wick, background):
    target = background(["sleep", "30"])
    target.send_signal(signal.SIGSTOP)
    wait_for(lambda: state_of(target.pid) == "T", what="the stop")
    recording = wick.attach("--mode", "offcpu", "-p", target.pid, "-d", 1)
    assert sum(totals(recording.report()).values()) >= 0.9e9


def test_short_is_short_at_the_end_too(wick, background):
    target = background(["sleep", "30"])
    recording = wick.attach("--mode", "offcpu", "--min-block", "60s", "-p", target.pid, "-d", 1)
    assert contract.sample_count(recording.info()) == 0


def test_a_least_time_needs_a_mode_that_has_it(wick):
    done = wick.run("record", "--min-block", "1ms", "--", "true")
    assert done.returncode == contract.USAGE
    assert "--mode offcpu" in done.stderr


def test_one_thread_alone_without_its_children(wick, background):
    target = background(["sh", "-c", "while :; do sleep 0.05; done"])
    time.sleep(0.2)
    recording = wick.attach("-t", target.pid, "--mode", "offcpu", "-d", 1)
    assert contract.thread_ids(recording.report("--by", "thread")) == {target.pid}


def test_children_are_left_out_when_told(wick):
    command = ["sh", "-c", "sleep 0.3; true"]
    recording = wick.record(command, "--mode", "offcpu", "--no-children")
    assert set(totals(recording.report("--by", "thread"))) == {"sh"}
    recording = wick.record(command, "--mode", "offcpu")
    assert "sleep" in totals(recording.report("--by", "thread"))


def test_threads_that_come_and_go_keep_their_time(wick):
    """More of them, one after the other, than can be tracked at once."""
    script = ("import threading, time\n"
              "for _ in range(1200):\n"
              "    thread = threading.Thread(target=time.sleep, args=(0.001,))\n"
              "    thread.start(); thread.join()\n")
    recording = wick.record(["/usr/bin/python3", "-c", script], "--mode", "offcpu")
    assert "are missing" not in recording.stderr
    assert by_state(recording)["sleeping"] > 1200 * 1e6


def test_children_that_come_and_go_keep_their_time(wick):
    script = ("import os, time\n"
              "for _ in range(700):\n"
              "    pid = os.fork()\n"
              "    if pid == 0:\n"
              "        time.sleep(0.001); os._exit(0)\n"
              "    os.waitpid(pid, 0)\n")
    recording = wick.record(["/usr/bin/python3", "-c", script], "--mode", "offcpu")
    assert "are missing" not in recording.stderr
    rows = contract.rows(recording.report("--by", "thread"))
    assert len(rows) == 701


def test_more_threads_than_are_kept_in_mind_are_counted(wick):
    script = ("import threading, time\n"
              "threading.stack_size(262144)\n"
              "go = threading.Event()\n"
              "threads = [threading.Thread(target=go.wait) for _ in range(2600)]\n"
              "for thread in threads: thread.start()\n"
              "time.sleep(0.5)\n"
              "go.set()\n"
              "for thread in threads: thread.join()\n")
    recording = wick.record(["/usr/bin/python3", "-c", script], "--mode", "offcpu")
    missing = re.search(r"(\d+) waits off the CPU are missing", recording.stderr)
    assert missing and int(missing.group(1)) >= 500, recording.stderr
    assert by_state(recording)["sleeping"] > 2000 * 0.5e9


def test_wall_time_is_all_time(wick):
    recording = wick.record(workload("waits", 600), "--mode", "wall", "-F", 999)
    shares = totals(recording.report("--by", "thread"))
    for thread in ("sleeper", "locker", "runner_a", "runner_b"):
        wall_ns = recording.truth[thread]["wall_ns"]
        assert shares[thread] == pytest.approx(wall_ns, abs=TOLERANCE * wall_ns + EDGE_NS)
    states = by_state(recording, "--comm", "runner_a")
    cpu_ns = recording.truth["runner_a"]["cpu_ns"]
    assert contract.is_near(states["on CPU"], cpu_ns, 0.05 * cpu_ns, more=recording.outside_ns), (states, cpu_ns)


def test_a_recording_that_ends_first_counts_who_is_away_still(wick):
    path = wick.new_path()
    process = wick.start("record", "--mode", "offcpu", "-d", 1, "-o", path, "--", "sleep", 2)
    process.communicate(timeout=20)
    duration_ns = wick.json("info", path, "--format", "json")["duration_ns"]
    report = wick.json("report", path, "--format", "json", "--by", "state")
    # On a busy machine it begins later, and waits for a CPU until then.
    states = totals(report)
    assert sum(states.values()) == pytest.approx(duration_ns, rel=0.05)
    assert states["sleeping"] > 0.5 * duration_ns
    assert report["truncated"] == 0


@pytest.mark.root
def test_the_whole_machine_is_seen(wick, background):
    target = background(["sh", "-c", "while :; do sleep 0.05; done"])
    recording = wick.attach("-a", "--mode", "offcpu", "-d", 1, "--min-block", "1ms")
    states = by_state(recording, "--pid", target.pid)
    assert states["sleeping"] > 500e6


@pytest.mark.root
def test_a_control_group_is_seen_alone(wick, cgroup):
    inside = subprocess.Popen(["sh", "-c", "while :; do sleep 0.05; done"], preexec_fn=lambda: (
        cgroup / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii"))
    try:
        recording = wick.attach("--cgroup", cgroup, "--mode", "offcpu", "-d", 1)
        # One that ends while the recording begins may be seen once and have no name any more.
        names = {name for name, weight in totals(recording.report("--by", "thread")).items()
                 if not name.startswith("/") or weight > 10e6}
        assert names <= {"sh", "sleep"}
        assert by_state(recording)["sleeping"] > 1e9
    finally:
        inside.kill()
        inside.wait()


def test_an_event_beside_a_mode_is_refused(wick):
    done = wick.run("record", "--mode", "offcpu", "-e", "page-faults", "--", "true")
    assert done.returncode == contract.USAGE
    assert "remove -e" in done.stderr


@pytest.mark.parametrize("engine", ("perf", "ptrace"))
def test_an_engine_that_cannot_see_it_says_so(wick, engine):
    done = wick.run("record", "--mode", "offcpu", "--engine", engine, "--", "true")
    assert done.returncode == contract.USAGE
    assert f"the {engine} engine" in done.stderr
    assert len(done.stderr.splitlines()) == 2


def test_json_has_the_states(waits):
    report = waits.report("--by", "state")
    assert report["by"] == "state"
    assert contract.ROW_KEYS - {"module"} <= set(report["rows"][0])
    assert json.dumps(report)


@pytest.fixture(scope="module")
def relay(shared_wick):
    """Two threads that leave their CPU tens of thousands of times per second."""
    return shared_wick.record(workload("relay", 1500), "--mode", "offcpu")


def switches_of(recording):
    return recording.truth["relay"]["switches"] + recording.truth["echo"]["switches"]


def facts_of(recording):
    return recording.info()["session"]


def test_times_that_come_too_often_for_a_stack_each_are_in_the_sums(relay):
    truth = [relay.truth[thread] for thread in ("relay", "echo")]
    expected = sum(thread["wall_ns"] - thread["cpu_ns"] for thread in truth)
    away_ns = sum(totals(relay.report("--by", "thread")).values())
    slack_ns = max(TOLERANCE * expected, 4 * EDGE_NS / 5)
    assert contract.is_near(away_ns, expected, slack_ns, less=relay.outside_ns), (away_ns, expected, relay.outside_ns)
    assert "waits off the CPU were too frequent to record a stack for each" in relay.stderr
    assert contract.sample_count(relay.info()) < switches_of(relay) / 4


def test_callers_of_one_place_are_told_apart(relay):
    report = relay.report("--comm", "echo")
    took = {name: contract.total_percent(report, name) for name in ("wait_short", "wait_long")}
    # What it runs in these functions is not away: less than that it cannot be.
    least = relay.truth["long_ns"] / (relay.truth["long_ns"] + relay.truth["short_ns"])
    assert took["wait_long"] / sum(took.values()) > least - 0.05, (took, relay.truth)


def price_of(recording):
    """The cost of observing one switch, in nanoseconds."""
    facts = facts_of(recording)
    return float(facts["switch_cost_ns"]) / float(facts["switches"])


def price_of_others(recording):
    facts = facts_of(recording)
    return float(facts["other_switch_cost_ns"]) / float(facts["other_switches"])


@pytest.fixture(scope="module")
def each_time(shared_wick):
    return shared_wick.record(workload("relay", 700), "--mode", "offcpu", "--overhead", "off")


def test_without_a_budget_each_time_has_its_stack(relay, each_time):
    assert "too frequent" not in each_time.stderr
    seen = contract.sample_count(each_time.info()) + each_time.info()["lost"]
    assert seen > 0.9 * switches_of(each_time)
    assert price_of(relay) < 0.6 * price_of(each_time)


def test_switches_do_not_take_the_rate_of_cpu_samples(wick):
    recording = wick.record(workload("relay", 1500), "--mode", "wall")
    assert "the rate dropped" not in recording.stderr
    assert re.search(r"overhead .* us for each of \d+ context switches", recording.stderr)


def test_a_pause_takes_no_stacks(wick):
    paused = wick.record(workload("relay", 700), "--mode", "offcpu", "--delay", "100s")
    assert contract.sample_count(paused.info()) == 0
    assert float(facts_of(paused)["switches"]) == 0  # they are among the others


def test_a_pause_costs_less_than_recording(wick):
    """In one run, because the cost of a switch differs by half between two runs."""
    recording = wick.record(workload("relay", 1600), "--mode", "offcpu", "--delay", "800ms")
    assert float(facts_of(recording)["other_switches"]) > 0.2 * float(facts_of(recording)["switches"])
    assert price_of_others(recording) < price_of(recording)


class Paused:
    """A recording of a process that is told to pause; `moments` are before and after each step."""

    def __init__(self, wick, pid):
        self.wick, self.pid, self.path = wick, pid, wick.new_path()
        self.moments = []
        self.do(self.begin)

    def do(self, step):
        before = time.monotonic()
        step()
        self.moments.append((before, time.monotonic()))

    def begin(self):
        self.recorder = self.wick.start("record", "-p", self.pid, "--mode", "offcpu", "-o",
                                        self.path)
        wait_for(lambda: (state_of_recorder(self.wick, self.pid) or {}).get("state") == "recording",
                 30, "the recorder")

    def tell(self, option):
        self.do(lambda: self.wick.ok("status", self.pid, option))

    def stop(self):
        self.recorder.send_signal(signal.SIGINT)
        self.recorder.communicate(timeout=60)

    def end(self):
        self.do(self.stop)
        assert self.recorder.returncode == 0
        return Recording(self.wick, self.path, self.recorder)


# One thread sleeps from before the pause on, the other begins to in it.
ACROSS_A_PAUSE = """
import select, sys, threading, time
threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
print("ready", flush=True)
sys.stdin.readline()
print("woken", flush=True)
select.select([], [], [], 1000)
"""


def seconds_in(recording, function):
    """How long stacks with a function were off the CPU; all reach their roots."""
    found = [(frames, weight) for frames, weight in recording.folded() if function in frames]
    assert not any("[truncated]" in frames for frames, _ in found), found
    return sum(weight for _, weight in found) / 1e6  # of microseconds


def test_who_sleeps_across_a_pause_has_its_time_and_its_stack(wick):
    with subprocess.Popen(["/usr/bin/python3", "-c", ACROSS_A_PAUSE], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as target:
        try:
            assert target.stdout.readline() == "ready\n"
            steps = Paused(wick, target.pid)
            steps.tell("--pause")
            target.stdin.write("go\n")
            target.stdin.flush()
            assert target.stdout.readline() == "woken\n"
            time.sleep(0.5)
            steps.tell("--resume")
            time.sleep(0.5)
            recording = steps.end()
        finally:
            target.kill()
    began, pause, resume, end = steps.moments
    since = seconds_in(recording, "hrtimer_nanosleep")
    after = seconds_in(recording, "do_select")
    assert end[0] - resume[1] - 0.01 < after < end[1] - resume[0] + 0.01, (after, steps.moments)
    assert since > after + pause[0] - began[1] - 0.01, (since, steps.moments)
    assert since < end[1] - began[0] - (resume[0] - pause[1]) + 0.01, (since, steps.moments)


def test_long_times_among_many_short_ones_have_their_stacks(wick, each_time):
    recording = wick.record(workload("relay", 1500), "--mode", "offcpu", "--min-block", "1ms")
    stacks = recording.folded()
    cut = sum(weight for frames, weight in stacks if "[truncated]" in frames)
    assert any("wait_long" in frames or "wait_short" in frames for frames, _ in stacks)
    assert cut < 0.1 * sum(weight for _, weight in stacks), stacks
    assert price_of(recording) < 0.7 * price_of(each_time)
    # What is told of stacks is that of those in the recording, not of all that were taken.
    frames, truncated = map(float, re.search(r"stacks +([\d.]+) frames .*?([\d.]+) % truncated",
                                             recording.stderr).groups())
    assert frames <= max(len(stack) for stack, _ in stacks)
    root = float(re.search(r"([\d.]+) % reached the root", recording.stderr).group(1))
    assert truncated == pytest.approx(100 - root, abs=0.1)


# Says how often it left its CPU itself.
QUIET = """
import resource, time
for _ in range(100):
    time.sleep(0.01)
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_nvcsw + used.ru_nivcsw)
"""


def test_switches_of_others_are_not_the_targets(wick, background):
    neighbour = background(workload("relay", 60000))
    recording = wick.record(["/usr/bin/python3", "-c", QUIET], "--mode", "offcpu")
    neighbour.kill()
    facts = {key: float(value) for key, value in facts_of(recording).items()
             if "switch" in key or key == "target_run_ns"}
    own = int(recording.stdout)
    # It leaves some more times after it has looked.
    assert 0.9 * own < facts["switches"] < own + 50, facts
    assert facts["other_switches"] > 4 * own, facts
    told = re.search(r"overhead   ([\d.]+) % .*?([\d.]+) us for each of (\d+) context switches",
                     recording.stderr)
    assert int(told.group(3)) == facts["switches"]
    most = 100 * facts["switch_cost_ns"] / (facts["target_run_ns"] - facts["switch_cost_ns"])
    assert float(told.group(1)) == pytest.approx(most, rel=0.02, abs=0.01)
    assert re.search(r"[\d.]+ % of the machine's time to check \d+ other", recording.stderr)

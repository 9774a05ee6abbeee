# SPDX-License-Identifier: BSD-2-Clause
"""What the store answers is what wick record -a says about the same time, and what the kernel counted.

Programs begin and end while an agent and a recorder sample the whole machine, each with a clock of its own. So what
they took is known exactly: the kernel's own count of their CPU time, and the share of each function from the programs
themselves. All bounds follow from the number of samples, and hold on a machine of any load.

A clock that ticks once in a period counts a stretch of CPU time with an error of less than a period, whose variance is
at most a quarter of a period squared; many short stretches are hit like independent events, one for each sample. The
smaller of the two bounds holds.
"""
import json
import math
import os
import re
import signal
import subprocess
import time

import pytest

import test_agent
from conftest import PATIENCE, has_events, wait_for, wait_for_samples, workload
from stolen_time import nobodys_ns
from test_server import LIBRARY, Server, make_window

pytestmark = [pytest.mark.perf, pytest.mark.root,
              pytest.mark.skipif(LIBRARY is None, reason="libduckdb.so is not there: make fetches it")]
SIGMAS = 5  # one failure in two million comparisons
AGENT_HZ, RECORDER_HZ = 499, 541  # two clocks that do not run in step
# At first, and then in bursts, or less where that costs too much. All are lower: what is wrong does not cancel out.
FIRST_HZ, BURSTS_HZ = 997, (401, 601, 307, 503, 353)
MOST_PROGRAMS = 60


class Program:
    """A program that spends its CPU time in two functions, as a service of its own."""

    def __init__(self, service, cpu_ms, percent):
        self.service = service
        self.process = subprocess.Popen(workload("split", cpu_ms, percent), stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "WICK_SERVICE": service})
        # Before most of what runs here: its stretches of time are few and long.
        os.setpriority(os.PRIO_PROCESS, self.process.pid, -10)

    def finish(self):
        """Waits for its end, and keeps what the kernel counted."""
        said = json.loads(self.process.stdout.read())
        self.process.stdout.close()
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        assert self.process.returncode == 0
        self.cpu_ns = (usage.ru_utime + usage.ru_stime) * 1e9
        self.stretches = usage.ru_nvcsw + usage.ru_nivcsw + 1
        self.hot_share = said["functions"]["hot_70"] / said["cpu_ns"]


class Counted:
    """What one of the two clocks says about a program."""

    def __init__(self, stacks, period_ns, program):
        self.total_ns = sum(stacks.values())
        self.hot_ns, cool_ns = (sum(value for stack, value in stacks.items() if name in stack.split(";"))
                                for name in ("hot_70", "cool_30"))
        self.split_ns = self.hot_ns + cool_ns
        samples = program.cpu_ns / period_ns
        self.deviation_ns = period_ns * math.sqrt(min(samples, program.stretches / 4))
        self.share = self.hot_ns / self.split_ns
        self.share_deviation = math.sqrt(program.hot_share * (1 - program.hot_share) / samples)


def assert_same(what, one, other, deviation, allowed=0.0):
    print(f"{what}: {one:.4g} and {other:.4g}, {SIGMAS} deviations are {SIGMAS * deviation:.4g}, and {allowed:.4g}")
    assert abs(one - other) <= SIGMAS * deviation + allowed, what


def assert_true(program, counted, missing_ns):
    """Compared with the kernel and with the program. What was lost may be missing."""
    assert_same(f"{program.service}: CPU time", counted.total_ns, program.cpu_ns, counted.deviation_ns, missing_ns)
    assert_same(f"{program.service}: share", counted.share, program.hot_share, counted.share_deviation,
                missing_ns / program.cpu_ns)


def start(wick, *words, **options):
    """Starts wick, which goes before all that runs here, so that its buffers are emptied in time."""
    process = wick.start(*words, **options)
    os.setpriority(os.PRIO_PROCESS, process.pid, -15)
    return process


def start_agent(wick, url, *options):
    agent = start(wick, "agent", "--server", url, "--spool", wick.folder / "spool", "--breaker", "off", "--overhead", "off",
                       "--max-memory", "off", *options, env={**os.environ, "WICK_LOG": "info"})
    wait_for(lambda: has_events(agent.pid), 60 * PATIENCE, "events of the agent")
    time.sleep(0.5)  # whether that was enough is checked with the times of its windows
    return agent


def stop_agent(agent):
    """Ends it, and returns what it logged."""
    agent.send_signal(signal.SIGTERM)
    _, err = agent.communicate(timeout=120 * PATIENCE)
    assert agent.returncode == 0, err
    return err


def stacks_of(wick, path, *filters):
    """Time by stack, of the samples of a recording."""
    stacks = {}
    for line in wick.ok("export", path, "--format", "samples", *filters).stdout.splitlines():
        sample = json.loads(line)
        stack = ";".join(frame["function"] for frame in sample["stack"])
        stacks[stack] = stacks.get(stack, 0) + sample["weight"]
    return stacks


def added(many):
    """The sum of several dictionaries."""
    sums = {}
    for one in many:
        for key, value in one.items():
            sums[key] = sums.get(key, 0) + value
    return sums


def facts_of(wick, windows):
    return [wick.json("info", path, "--format", "json")["session"] for path in windows]


def assert_covered(facts, start_ns, end_ns):
    """The windows follow each other, and hold all of the time."""
    times = sorted((int(fact["start_monotonic_ns"]), int(fact["end_monotonic_ns"])) for fact in facts)
    assert times[0][0] <= start_ns and end_ns <= times[-1][1]
    for (_, end), (begin, _) in zip(times, times[1:]):
        assert begin == end
    assert not any("gap" in fact for fact in facts)


def stored(tmp_path, windows, services):
    """{service: {stack: time}} of a server that was sent the windows."""
    server = Server(tmp_path / "data")
    try:
        for number, path in enumerate(windows):
            assert server.push(path.read_bytes(), f"sender-{number}")[0] == 200
        return {service: server.folded(query=service, type="cpu", **{"from": "-2h"}) for service in services}
    finally:
        assert server.stop() == 0


def test_the_store_answers_what_a_recording_and_the_kernel_say_of_the_same_time(wick, tmp_path):
    recording = tmp_path / "all.wick"
    recorder = start(wick, "record", "-a", "-F", RECORDER_HZ, "--overhead", "off", "-o", recording)
    wait_for_samples(wick, recorder.pid)
    agent = start_agent(wick, "http://127.0.0.1:9", "-F", AGENT_HZ)
    nobodys, start_ns = nobodys_ns(), time.monotonic_ns()
    programs = [Program("truth-a", 2500, 70), Program("truth-b", 1500, 40), Program("truth-c", 1000, 90)]
    for program in programs:
        program.finish()
    end_ns, nobodys = time.monotonic_ns(), nobodys_ns() - nobodys
    stop_agent(agent)
    recorder.send_signal(signal.SIGINT)
    recorder.communicate(timeout=60 * PATIENCE)

    windows = sorted((wick.folder / "spool").glob("*.wick"))
    facts = facts_of(wick, windows)
    assert_covered(facts, start_ns, end_ns)
    whole = wick.json("info", recording, "--format", "json")
    assert whole["start_ns"] <= start_ns and end_ns <= whole["start_ns"] + whole["duration_ns"]
    agent_ns, recorder_ns = 1e9 / AGENT_HZ, 1e9 / RECORDER_HZ
    lost_ns = sum(int(fact["window.lost"]) for fact in facts) * agent_ns
    answers = stored(tmp_path, windows, [program.service for program in programs])
    for program in programs:
        answer = answers[program.service]
        # Of the windows nothing is lost and nothing is rounded.
        assert answer == added(stacks_of(wick, path, "--label", f"service={program.service}") for path in windows)
        ours = Counted(answer, agent_ns, program)
        theirs = Counted(stacks_of(wick, recording, "--pid", program.process.pid), recorder_ns, program)
        assert_true(program, ours, nobodys + lost_ns)
        assert_true(program, theirs, nobodys + whole["lost"] * recorder_ns)
        missing_ns = lost_ns + whole["lost"] * recorder_ns
        assert_same(f"{program.service}: store and recording", ours.total_ns, theirs.total_ns,
                    math.hypot(ours.deviation_ns, theirs.deviation_ns), missing_ns)
        assert_same(f"{program.service}: shares of both", ours.share, theirs.share,
                    math.hypot(ours.share_deviation, theirs.share_deviation), missing_ns / program.cpu_ns)


def test_weights_add_up_to_the_cpu_time_while_the_rate_changes(wick, tmp_path):
    """A server asks for one burst after another, in its answers to windows that waited."""
    spool = wick.folder / "spool"
    spool.mkdir(mode=0o700)
    for number in range(len(BURSTS_HZ)):
        (spool / f"{number + 1:016x}-host-1-{number}.wick").write_bytes(make_window(tmp_path, "other;main 1\n"))
    receiver = test_agent.Server()
    try:
        receiver.plan = [429] * 1000  # not yet
        agent = start_agent(wick, receiver.url, "-F", FIRST_HZ)
        nobodys, start_ns = nobodys_ns(), time.monotonic_ns()
        receiver.answers = [json.dumps({"burst": {"rate": hz, "seconds": 600, "service": "", "id": f"b{hz}"}}).encode()
                            for hz in BURSTS_HZ]
        receiver.plan = [200, 429] * len(BURSTS_HZ)  # each is asked again after a second
        programs = []
        while receiver.answers and len(programs) < MOST_PROGRAMS:
            programs += [Program(f"truth-{len(programs)}", 3000, 70), Program(f"truth-{len(programs) + 1}", 2500, 35)]
            for program in programs[-2:]:
                program.finish()
        end_ns, nobodys = time.monotonic_ns(), nobodys_ns() - nobodys
        log = stop_agent(agent)
    finally:
        receiver.end()

    for identity, body in receiver.windows.items():
        (spool / f"sent-{identity}.wick").write_bytes(body)
    windows = [path for path in sorted(spool.glob("*.wick")) if "-host-1-" not in path.name]
    facts = facts_of(wick, windows)
    assert_covered(facts, start_ns, end_ns)
    changes = [int(hz) for hz in re.findall(r"rate: (\d+) Hz, was", log)]
    print("rates:", changes)
    assert len(set(changes)) >= len(BURSTS_HZ) - 1, log  # the last may have come after the programs
    period_ns = 1e9 / min([FIRST_HZ, *changes])
    lost_ns = sum(int(fact["window.lost"]) for fact in facts) * period_ns
    # A change begins a new period on each CPU.
    begun_ns = len(changes) * os.cpu_count() * period_ns
    answers = stored(tmp_path, windows, [program.service for program in programs])
    for program in programs:
        assert_true(program, Counted(answers[program.service], period_ns, program), nobodys + lost_ns + begun_ns)

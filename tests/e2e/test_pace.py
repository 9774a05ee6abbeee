# SPDX-License-Identifier: BSD-2-Clause
"""The sampling rate during a recording: delay, pauses, the budget, the breaker."""
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

import pytest
from conftest import PATIENCE, WICK, state_of, state_of_recorder, wait_for, wait_for_samples, workload

ENGINES = ["ebpf", "perf", "signal", "ptrace"]
CPU_ENGINES = ["ebpf", "perf", "signal"]


def samples_of(recording):
    lines = recording.wick.ok("export", recording.path, "--format", "samples").stdout.splitlines()
    return [json.loads(line) for line in lines]


def weight_ms(samples):
    return sum(sample["weight"] for sample in samples) / 1e6


def needs(wick, engine):
    for row in wick.json("list", "engines", "--format", "json")["engines"]:
        if row["name"] == engine and not row["available"]:
            pytest.skip(f"{engine}: {row['reason']}")


class Watched:
    """A program that burns CPU time under a recorder that runs in the background."""

    def __init__(self, wick, engine, *options):
        self.wick = wick
        self.path = wick.new_path()
        self.recorder = wick.start("record", "--engine", engine, *options, "-o", self.path, "--",
                                   *workload("spin", 60000))
        wait_for_samples(wick, self.recorder.pid)

    def tell(self, option):
        self.wick.ok("status", self.recorder.pid, option)

    def end(self):
        """Ends the recording, and the program with it."""
        self.recorder.send_signal(signal.SIGTERM)
        _, text = self.recorder.communicate(timeout=60)
        self.stderr = text
        return samples_of(self)


@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_is_sampled_before_the_delay_is_over(wick, engine):
    needs(wick, engine)
    recording = wick.record(workload("spin", 700 * PATIENCE), "--engine", engine, "--delay", "300ms")
    samples = samples_of(recording)
    assert samples
    # An engine that ticks by CPU time finds out at its next tick.
    assert min(sample["since_start_ns"] for sample in samples) > 290e6
    assert "paused" in recording.stderr


@pytest.mark.parametrize("engine", ENGINES)
def test_a_pause_has_no_samples_and_no_weight(wick, engine):
    needs(wick, engine)
    watched = Watched(wick, engine)
    watched.tell("--pause")
    assert state_of_recorder(wick, watched.recorder.pid)["state"] == "paused"
    begin_ns = time.monotonic_ns()
    time.sleep(0.5)
    end_ns = time.monotonic_ns()
    before = state_of_recorder(wick, watched.recorder.pid)["samples"]
    watched.tell("--resume")
    wait_for_samples(wick, watched.recorder.pid, before + 5)
    samples = watched.end()
    inside = [s for s in samples if begin_ns + 20e6 < s["time_ns"] < end_ns]
    assert not inside
    after = [s for s in samples if s["time_ns"] > end_ns]
    assert after and len(samples) > before
    # What the pause took is nobody's: no sample stands for it.
    assert max(s["weight"] for s in after) < 250e6, watched.stderr


def switches_of(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        return sum(int(line.split()[1]) for line in status if "ctxt_switches" in line)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_paused_recorder_sleeps(wick, engine):
    needs(wick, engine)
    watched = Watched(wick, engine)
    watched.tell("--pause")
    before = switches_of(watched.recorder.pid)
    time.sleep(1)
    assert switches_of(watched.recorder.pid) - before < 100
    watched.end()


def test_signals_pause_and_resume(wick, background):
    target = background(workload("spin", 60000))
    path = wick.new_path()
    recorder = wick.start("record", "-p", target.pid, "-o", path)
    wait_for_samples(wick, target.pid)
    for number, state in ((signal.SIGUSR2, "paused"), (signal.SIGUSR1, "recording")):
        recorder.send_signal(number)
        end = time.monotonic() + 10
        while state_of_recorder(wick, target.pid)["state"] != state:
            assert time.monotonic() < end
            time.sleep(0.02)
    recorder.send_signal(signal.SIGINT)
    _, text = recorder.communicate(timeout=60)
    assert recorder.returncode == 0, text
    assert "paused" in text


def test_a_program_that_wants_the_signals_gets_them(wick, tmp_path):
    script = ("import signal, sys, time\n"
              "signal.signal(signal.SIGUSR2, lambda *_: sys.exit(7))\n"
              "print('ready', flush=True)\n"
              # Python calls its handler after a system call: one that came just before a long one would wait.
              "for _ in range(600):\n    time.sleep(0.1)\n")
    recorder = wick.start("record", "-o", wick.new_path(), "--", sys.executable, "-c", script)
    assert recorder.stdout.readline() == "ready\n"
    recorder.send_signal(signal.SIGUSR2)
    recorder.communicate(timeout=60)
    assert recorder.returncode == 7


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_a_budget_lowers_the_rate_and_weights_make_up_for_it(wick, engine):
    needs(wick, engine)
    recording = wick.record(workload("split", 2000), "--engine", engine, "-F", 5000, "--overhead",
                            "1")
    assert "budget" in recording.stderr, recording.stderr
    samples = samples_of(recording)
    assert len(samples) < 0.5 * 2 * 5000
    assert weight_ms(samples) == pytest.approx(2000, rel=0.12)
    hot = [s for s in samples if any(f["function"] == "hot_70" for f in s["stack"])]
    assert weight_ms(hot) / weight_ms(samples) == pytest.approx(0.7, abs=0.12)


def test_a_rate_that_was_given_is_kept(wick):
    recording = wick.record(workload("split", 1200), "-F", 5000, "--overhead", "off")
    assert "budget" not in recording.stderr
    assert len(samples_of(recording)) > 0.8 * 1.2 * 5000 or "lost" in recording.stderr


@pytest.mark.root
def test_a_busy_host_opens_the_breaker(wick, background):
    for _ in range(os.cpu_count()):
        background(workload("spin", 60000))
    target = background(workload("spin", 60000))
    recording = wick.attach("-p", target.pid, "-d", "4", "--breaker", "50")
    assert "--breaker allows 50 %" in recording.stderr, recording.stderr
    assert "paused" in recording.stderr


def socket_of(pid):
    """The socket of a recorder, wherever that is."""
    places = [pathlib.Path("/run/wick"), *pathlib.Path("/run/user").glob("*/wick"),
              *pathlib.Path("/tmp").glob("wick-[0-9]*")]
    if os.environ.get("XDG_RUNTIME_DIR"):
        places.append(pathlib.Path(os.environ["XDG_RUNTIME_DIR"]) / "wick")
    found = [place / str(pid) for place in places if (place / str(pid)).is_socket()]
    return found[0] if found else None


def test_a_recorder_is_asked_for_itself_alone(wick, background):
    """wick would wait for another one, which does not answer."""
    target = background(workload("spin", 60000))
    recorder = wick.start("record", "-p", target.pid, "-o", wick.new_path())
    wait_for_samples(wick, recorder.pid)
    path = socket_of(recorder.pid).with_name(str(os.getpid()))
    with socket.socket(socket.AF_UNIX) as busy:
        busy.bind(str(path))
        busy.listen()
        busy.setblocking(False)
        assert state_of_recorder(wick, recorder.pid)
        with pytest.raises(BlockingIOError):
            busy.accept()
    path.unlink()
    recorder.send_signal(signal.SIGINT)
    recorder.communicate(timeout=60)


def test_status_tells_of_nobody(wick):
    done = wick.run("status", os.getpid())
    assert done.returncode == 1
    assert f"process {os.getpid()} is not being recorded" in done.stderr
    assert wick.run("status", "0").returncode == 2
    assert wick.run("status", "1", "--pause", "--resume").returncode == 2
    assert wick.run("status", "--pause").returncode == 2


def test_other_users_are_not_answered(wick, as_nobody, background):
    target = background(workload("spin", 60000))
    recorder = wick.start("record", "-p", target.pid, "-o", wick.new_path())
    wait_for_samples(wick, recorder.pid)
    done = wick.run("status", target.pid, "--pause", prefix=as_nobody)
    assert done.returncode == 1
    assert "root" in done.stderr
    assert state_of_recorder(wick, target.pid)["state"] == "recording"
    recorder.send_signal(signal.SIGINT)
    recorder.communicate(timeout=60)


def test_the_socket_of_a_recorder_is_its_users_alone(wick, background):
    target = background(workload("spin", 60000))
    recorder = wick.start("record", "-p", target.pid, "-o", wick.new_path())
    wait_for_samples(wick, recorder.pid)
    folder = socket_of(recorder.pid).parent
    assert folder.stat().st_mode & 0o777 == 0o700
    assert folder.stat().st_uid == os.geteuid()
    recorder.send_signal(signal.SIGINT)
    recorder.communicate(timeout=60)
    assert socket_of(recorder.pid) is None


def test_the_socket_of_a_killed_recorder_goes_when_somebody_asks(wick, background):
    target = background(workload("spin", 60000))
    recorder = wick.start("record", "-p", target.pid, "-o", wick.new_path())
    wait_for_samples(wick, recorder.pid)
    recorder.kill()
    recorder.communicate(timeout=60)
    assert socket_of(recorder.pid)
    assert wick.run("status", recorder.pid).returncode == 1
    assert socket_of(recorder.pid) is None


SQUATTER = """
import os, resource, socket, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (900, 900))
os.makedirs(f"/tmp/wick-{sys.argv[1]}", exist_ok=True)
kept = []
for pid in range(os.getpid(), os.getpid() + 850):
    kept.append(socket.socket(socket.AF_UNIX))
    kept[-1].bind(f"\\0wick/recorder/{pid}")
print(os.getpid() + 1, os.getpid() + 850, flush=True)
sys.stdin.read()
"""


@pytest.mark.root
def test_another_user_cannot_hide_a_recorder_of_root(wick, as_nobody, background):
    target = background(workload("spin", 60000))
    squatter = background([*as_nobody, sys.executable, "-c", SQUATTER, "0"], stdin=subprocess.PIPE)
    first, last = map(int, squatter.stdout.readline().split())
    recorder = wick.start("record", "-p", target.pid, "-o", wick.new_path())
    try:
        assert first <= recorder.pid <= last
        wait_for_samples(wick, recorder.pid)
    finally:
        os.rmdir("/tmp/wick-0")
    recorder.send_signal(signal.SIGINT)
    recorder.communicate(timeout=60)


@pytest.mark.root
def test_root_sees_the_recorders_of_all_users(wick, as_nobody, background):
    """Also for a recorder whose folder name another user has taken."""
    target = background([*as_nobody, *workload("spin", 60000)])
    taken = pathlib.Path("/tmp/wick-65534")
    taken.mkdir()
    os.chown(taken, 1, 1)
    try:
        recorder = background(
            [*as_nobody, WICK, "record", "--engine", "ptrace", "-p", str(target.pid), "-o", wick.new_path()],
            stderr=subprocess.PIPE)
        wait_for(lambda: socket_of(recorder.pid), what="a socket")
        own = wick.run("status", target.pid, "--format", "json", prefix=as_nobody)
        roots = wick.run("status", target.pid, "--format", "json")
        recorder.send_signal(signal.SIGINT)
        assert recorder.wait(60) == 0, recorder.stderr.read()
        recorder.stderr.close()
    finally:
        taken.rmdir()
    for done in (own, roots):
        assert json.loads(done.stdout)[0]["recorder"] == recorder.pid, done.stderr
    assert not list(pathlib.Path("/tmp").glob("wick-65534*"))


def test_what_was_recorded_can_be_written_at_any_time(wick, background):
    target = background(workload("spin", 60000))
    path = wick.new_path()
    recorder = wick.start("record", "-p", target.pid, "-o", path)
    state = wait_for_samples(wick, target.pid)
    wick.ok("status", target.pid, "--write")
    info = wick.json("info", path, "--format", "json")
    assert info["samples"] >= state["samples"], subprocess.list2cmdline(info)
    # One that is stopped is shown as that, and not waited for.
    recorder.send_signal(signal.SIGSTOP)
    wait_for(lambda: state_of(recorder.pid) == "T")
    shown = wick.run("status", recorder.pid, "--format", "json")
    asked = wick.run("status", target.pid)
    recorder.send_signal(signal.SIGCONT)
    (stopped,) = json.loads(shown.stdout)
    assert stopped["state"] == "silent" and "stopped (state T)" in stopped["why"]
    assert f"kill -CONT {recorder.pid}" in asked.stderr, asked.stderr
    recorder.send_signal(signal.SIGINT)
    recorder.communicate(timeout=60)

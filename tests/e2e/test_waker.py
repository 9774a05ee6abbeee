# SPDX-License-Identifier: BSD-2-Clause
"""wick record --waker: who wakes sleeping threads."""
import os
import signal
import subprocess
import time

import pytest

import contract
from conftest import state_of, wait_for, workload
from ebpf import needs_ebpf, share_of

pytestmark = [pytest.mark.perf, needs_ebpf]

MARK = "[woken by]"
ROUNDS = 60


def parts(frames):
    """The stack of the sleeper, the name of the waker, and its stack."""
    at = frames.index(MARK)
    return frames[:at], frames[at + 1], frames[at + 2:]


def woken(stacks, sleeper):
    """[(waker, stack of the waker, count)] of the threads that slept in a function."""
    found = []
    for frames, count in stacks:
        if MARK in frames and sleeper in frames[:frames.index(MARK)]:
            found.append((*parts(frames)[1:], count))
    return found


@pytest.fixture(scope="module")
def wakes(shared_wick):
    return shared_wick.record(workload("wakes", ROUNDS), "--mode", "offcpu", "--waker")


@pytest.mark.parametrize("thread, sleeper, waker", (
    ("reader", "read_here", "wake_reader"),
    ("waiter", "wait_here", "wake_waiter"),
    ("child", "read_here", "wake_child"),
))
def test_who_wakes_stands_above_who_sleeps(wakes, thread, sleeper, waker):
    found = woken(wakes.folded("--comm", thread), sleeper)
    right = [(name, frames, count) for name, frames, count in found if waker in frames]
    # On a busy machine it may be woken again before it sleeps.
    assert sum(count for *_, count in right) > 0.2 * ROUNDS, found
    assert sum(count for *_, count in right) > 0.8 * sum(count for *_, count in found), found
    for name, frames, _ in right:
        assert name.startswith("wakes/")
        # From the root on, and without what the programs themselves do in the kernel.
        assert frames.index("main") < frames.index(waker)
        assert frames[-1] == "try_to_wake_up", frames


def test_what_a_timer_wakes_has_no_waker(wakes):
    found = woken(wakes.folded("--comm", "wakes"), "sleep_here")
    timers = sum(count for name, _, count in found if name == "[timer]")
    assert timers > 0.8 * sum(count for *_, count in found) > 0, found
    # What the timer interrupted is no part of it.
    assert all("main" not in frames for name, frames, _ in found if name == "[timer]")


def test_a_thread_that_sleeps_all_its_life_has_all_that_time(wakes):
    rows = contract.rows(wakes.report("--by", "state", "--comm", "reader"))
    total = sum(row["total"] for row in rows)
    assert total == pytest.approx(wakes.info()["duration_ns"], rel=0.3)


def test_without_the_kernel_both_are_functions_of_programs(wick):
    recording = wick.record(workload("wakes", 30), "--mode", "offcpu", "--waker", "--no-kernel")
    stacks = recording.folded()
    assert "try_to_wake_up" not in {name for frames, _ in stacks for name in frames}
    assert any("wake_reader" in frames for _, frames, _ in woken(stacks, "read_here"))
    assert any(name == "[timer]" for name, _, _ in woken(stacks, "sleep_here"))


def test_who_is_not_watched_is_named_as_waker(wick, background, tmp_path):
    """The reader at the end of a pipe is watched, the writer is not."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    background(["sh", "-c", f"while :; do echo; sleep 0.01; done > '{pipe}'"])
    reader = background(["cat", pipe], stdout=subprocess.DEVNULL)
    wait_for(lambda: state_of(reader.pid) == "S", what="the reader")
    recording = wick.attach("-p", reader.pid, "--mode", "offcpu", "--waker", "-d", 1)
    found = [parts(frames) for frames, _ in recording.folded() if MARK in frames]
    assert any(name.startswith("sh/") and "write" in frames for _, name, frames in found), found


def test_a_waker_that_becomes_another_program_has_its_functions(wick, background, tmp_path):
    """It is not watched: its exec shows only in its new address space."""
    pipe = tmp_path / "pipe"
    flag = tmp_path / "flag"
    begun = tmp_path / "begun"
    os.mkfifo(pipe)
    script = ("import os, time\n"
              f"while not os.path.exists('{flag}'): os.write(1, b'x'); time.sleep(0.01)\n"
              f"os.execv('/bin/sh', ['sh', '-c', 'while :; do echo; : > {begun}; sleep 0.01; done'])\n")
    with open(pipe, "r+b", buffering=0) as end:
        background(["/usr/bin/python3", "-c", script], stdout=end)
        reader = background(["cat", pipe], stdout=subprocess.DEVNULL)
        path = wick.new_path()
        recorder = wick.start("record", "-p", reader.pid, "--mode", "offcpu", "--waker", "-o", path)
        wait_for(lambda: path.exists() and path.stat().st_size > 1000, what="the recording")
        flag.touch()
        wait_for(begun.exists, what="the other program")
        time.sleep(1)
        recorder.send_signal(signal.SIGINT)
        recorder.communicate(timeout=20)
    folded = wick.ok("export", "--format", "folded", path).stdout
    wakers = [line.rpartition(" ")[0].split(";") for line in folded.splitlines() if MARK in line]
    wakers = [parts(frames)[2] for frames in wakers]
    pythons = [frames for frames in wakers if any("Py" in name for name in frames)]
    others = [frames for frames in wakers if frames not in pythons and "write" in frames]
    assert pythons and others
    assert not any(name.startswith("dash+") for frames in pythons for name in frames), pythons


def test_a_message_over_the_network_to_oneself_has_a_waker(wick):
    script = ("import socket, threading, time\n"
              "server = socket.create_server(('127.0.0.1', 0))\n"
              "def answer():\n"
              "    peer, _ = server.accept()\n"
              "    while peer.recv(1): pass\n"
              "thread = threading.Thread(target=answer)\n"
              "thread.start()\n"
              "client = socket.create_connection(server.getsockname())\n"
              "for _ in range(50): time.sleep(0.005); client.send(b'x')\n"
              "client.close(); thread.join()\n")
    recording = wick.record(["/usr/bin/python3", "-c", script], "--mode", "offcpu", "--waker")
    found = [parts(frames) + (count,) for frames, count in recording.folded() if MARK in frames]
    sent = sum(count for slept, name, frames, count in found
               if "tcp_recvmsg" in slept and name.startswith("python3/")
               and any("send" in frame for frame in frames))
    assert sent > 30, found


def test_in_wall_time_too(wick):
    recording = wick.record(workload("wakes", 30), "--mode", "wall", "--waker", "-F", 999)
    assert share_of(recording.folded("--comm", "waiter"), lambda frames: MARK in frames) > 0.3


@pytest.mark.parametrize("engine", ("perf", "signal", "ptrace"))
def test_an_engine_that_sees_no_wakers_refuses_them(wick, engine):
    path = wick.new_path()
    done = wick.run("record", "--mode", "wall", "--waker", "--engine", engine, "-o", path, "--", "true")
    assert done.returncode == contract.USAGE
    assert f"the {engine} engine does not see which thread wakes another" in done.stderr
    assert "leave out --waker" in done.stderr and not path.exists()


@pytest.mark.root
@pytest.mark.parametrize("mode", ("wall", "offcpu"))
def test_without_ebpf_wakers_are_refused_in_every_mode(wick, as_nobody, mode):
    done = wick.run("record", "--mode", mode, "--waker", "-o", "/dev/null", "--", "true", prefix=as_nobody)
    assert done.returncode == contract.FAILED
    assert "--waker needs eBPF" in done.stderr and "--engine perf" not in done.stderr


def test_doctor_tries_wakers(wick):
    checks = {check["name"]: check for check in wick.json("doctor", "--format", "json")["checks"]}
    assert checks["waker"]["status"] in ("ok", "limited"), checks["waker"]
    assert "sleeps of a test program with their wakers" in checks["waker"]["text"]


def test_a_waker_needs_a_mode_that_has_one(wick):
    done = wick.run("record", "--waker", "--", "true")
    assert done.returncode == contract.USAGE
    assert "--mode offcpu" in done.stderr

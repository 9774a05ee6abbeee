# SPDX-License-Identifier: BSD-2-Clause
"""Failures are reported and do no harm: full disks, no descriptors left, peers that are killed or do not answer.

Each run has a mount namespace of its own with small file systems as /tmp, /dev/shm and /run. However
it fails, wick ends with a failure status and one message, the program prints what it would have printed
without wick, and nothing is left in the namespace. WICK may be a build with sanitizers: their reports are
failures too.

WICK_SEED sets the seed of the long part; a failure names it.
"""
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

import pytest
from conftest import BUILD, PATIENCE, WICK, children_of, state_of, wait_for

pytestmark = pytest.mark.root

ENGINES = ("ebpf", "perf", "signal", "ptrace")
LAUNCHES = {**{engine: ("record", "--engine", engine) for engine in ENGINES},
            "heap": ("heap",), "leaks": ("heap", "--leaks")}
ATTACHES = {**{f"{engine} -p": ("record", "--engine", engine) for engine in ("ebpf", "perf", "ptrace")},
            "heap -p": ("heap",)}
SEED = int(os.environ.get("WICK_SEED") or 1)
TIMEOUT = 60 * PATIENCE
# What is said beside a failure: what goes on, and what was not granted.
NOTES = ("the recording is complete; waiting for the program to end", "engine samples", "samples go through files",
         "the machine is short of CPU time", "are being lost", "a buffer is", "buffers use", "sampling costs")
SET_UP = """
set -e
mount -t tmpfs -o mode=755 none /mnt
mkdir /mnt/build /mnt/wick /mnt/out
mount --bind "$1" /mnt/build
mount --bind "$2" /mnt/wick
mount -t tmpfs -o size=$3 none /mnt/out
mount -t tmpfs -o mode=755 none /run
mount -t tmpfs -o mode=1777,size=$4 none /dev/shm
mount -t tmpfs -o mode=1777,size=$4 none /tmp
cd /mnt/out
echo ready
exec cat
"""
LEAKED = re.compile("Sanitizer|runtime error:")


class World:
    """The namespace in which wick runs. Nothing in it is visible outside."""

    def __init__(self, disk="16m", shared="64m"):
        self.wick = f"/mnt/wick/{WICK.resolve().name}"
        self.holder = subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", SET_UP, "sh", str(BUILD),
             str(WICK.resolve().parent), disk, shared],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self.holder.stdout.readline() != "ready\n":
            reason = self.holder.communicate()[1].strip()
            pytest.skip(f"no mount namespace of its own: {reason}")
        self.started = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.communicate()
        self.holder.communicate()

    def path(self, name):
        """A file of this namespace, seen from outside."""
        return pathlib.Path(f"/proc/{self.holder.pid}/root{name}")

    def start(self, *command, files=None, **options):
        """Starts a command that may open this many files."""
        limit = ["prlimit", f"--nofile={files}:{files}"] if files else []
        options.setdefault("stdin", subprocess.DEVNULL)
        process = subprocess.Popen(
            ["nsenter", f"--mount=/proc/{self.holder.pid}/ns/mnt", *limit, *map(str, command)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "XDG_CACHE_HOME": "/mnt/build/test-cache", "TMPDIR": ""}, **options)
        self.started.append(process)
        return process

    def record(self, options, target, **limits):
        """Starts wick on a command, or on a process."""
        what = ["-p", target] if isinstance(target, int) else ["--", *target]
        return self.start(self.wick, *options, "-q", "-o", "/mnt/out/x.wick", *what, **limits)

    def resize(self, name, size):
        subprocess.run(["nsenter", f"--mount=/proc/{self.holder.pid}/ns/mnt", "mount", "-o",
                        f"remount,size={size}", name], check=True)

    def left(self):
        """What was left behind, except recordings. /run/mount belongs to mount(8)."""
        return [str(path) for folder in ("/run", "/dev/shm", "/tmp") for path in self.path(folder).rglob("*")
                if "/run/mount" not in str(path)]

    def clean(self):
        for path in self.path("/mnt/out").iterdir():
            path.unlink()

    def recording_is_readable(self):
        """What was written of a recording can be read as far as it goes; an empty file is not a recording."""
        path = self.path("/mnt/out/x.wick")
        if not path.exists() or path.stat().st_size == 0:
            return True
        done = self.start(self.wick, "info", "/mnt/out/x.wick")
        done.communicate(timeout=TIMEOUT)
        return done.returncode in (0, 1)


def workload(name, *args):
    if not (BUILD / "tests/workloads" / name).exists():
        pytest.skip(f"workload {name} was not built")
    return [f"/mnt/build/tests/workloads/{name}", *map(str, args)]


def quick(kind):
    """A program that does something for the recorder, and ends soon."""
    return workload("blocks", "paths", 20) if kind in ("heap", "leaks") else workload("spin", 20)


def complaints(stderr):
    """The messages of wick that are not notes."""
    return [line for line in stderr.splitlines() if line.startswith("wick: ") and not any(note in line for note in NOTES)]


def end(process, what):
    """Waits for the end. Returns what it printed."""
    try:
        out, err = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        pytest.fail(f"{what}: it hangs, state {state_of(process.pid)}")
    assert not LEAKED.search(err), f"{what}:\n{err}"
    return out, err


def check_failure(status, err, what, others=()):
    """Either everything succeeded, or one message says what failed."""
    assert status in (0, 1, *others), f"{what}: status {status}\n{err}"
    told = complaints(err)
    if status == 1:
        assert len(told) == 1, f"{what}: one message:\n{err}"


def check_launch(world, kind, what, **limits):
    """Runs wick on a program and checks the result of both. Returns the status."""
    process = world.record(LAUNCHES[kind], quick(kind), **limits)
    out, err = end(process, what)
    check_failure(process.returncode, err, what)
    # An engine that could not be set up starts no program; then there is no recording either.
    if out or process.returncode == 0 or world.path("/mnt/out/x.wick").exists():
        assert out.strip().endswith("}"), f"{what}: the program was harmed:\n{out}{err}"
    assert world.left() == [], what
    assert world.recording_is_readable(), what
    return process.returncode


def check_disks(kind, pages):
    with World() as world:
        for count in pages:
            world.clean()
            world.resize("/mnt/out", f"{4 * count}k")
            status = check_launch(world, kind, f"{kind}, a disk of {count} pages")
        assert status == 0, "the last one has room for all"


@pytest.mark.parametrize("kind", LAUNCHES)
def test_a_disk_of_few_pages(kind):
    check_disks(kind, (1, 2, 3, 4, 6, 10, 4096))


@pytest.mark.long
@pytest.mark.parametrize("kind", LAUNCHES)
def test_a_disk_of_any_size(kind):
    """From no space at all to enough, page by page."""
    check_disks(kind, (*range(1, 129), 4096))


def check_shared_memory(kind, pages):
    for count in pages:
        with World(shared=f"{4 * count}k") as world:
            check_launch(world, kind, f"{kind}, {count} pages of shared memory")


@pytest.mark.parametrize("kind", ("signal", "heap", "leaks"))
def test_shared_memory_of_few_pages(kind):
    check_shared_memory(kind, (1, 2, 4, 16, 64, 512))


@pytest.mark.long
@pytest.mark.parametrize("kind", ("signal", "heap", "leaks"))
def test_shared_memory_of_any_size(kind):
    check_shared_memory(kind, (*range(1, 65), *range(64, 1024, 32)))


def least_files(world):
    """This many files are needed to start at all: the loader opens libraries."""
    for count in range(4, 16):
        process = world.start(world.wick, "--version", files=count)
        process.communicate(timeout=TIMEOUT)
        if process.returncode == 0:
            return count
    return pytest.fail("wick does not begin with 15 files")


def check_files(kind, counts):
    with World() as world:
        least = least_files(world)
        for count in counts:
            world.clean()
            status = check_launch(world, kind, f"{kind}, {least + count} files", files=least + count)
        assert status == 0, "the last one has files for all"


@pytest.mark.parametrize("kind", LAUNCHES)
def test_few_files(kind):
    check_files(kind, (*range(0, 12, 2), 17, 300))


@pytest.mark.long
@pytest.mark.parametrize("kind", LAUNCHES)
def test_any_number_of_files(kind):
    check_files(kind, (*range(0, 100), 300))


def is_unharmed(pid):
    """Whether a process continues, and nobody traces or stops it."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return state_of(pid) in "RS" and re.search(r"TracerPid:\s*0\n", status)


def check_attach(world, kind, what, **limits):
    target = world.start(*workload("spin", 600000))
    wait_for(lambda: "spin" in pathlib.Path(f"/proc/{target.pid}/comm").read_text(encoding="utf-8"))
    process = world.record([*ATTACHES[kind], "-d", "0.05"], target.pid, **limits)
    _, err = end(process, what)
    check_failure(process.returncode, err, what)
    wait_for(lambda: is_unharmed(target.pid), what=f"{what}: a target that goes on")
    assert world.left() == [], what
    target.kill()
    target.wait()
    return process.returncode


@pytest.mark.parametrize("kind", ATTACHES)
def test_few_files_and_a_process_that_runs(kind):
    with World() as world:
        least = least_files(world)
        for count in (0, 1, 3, 6, 12, 24):
            world.clean()
            check_attach(world, kind, f"{kind}, {least + count} files", files=least + count)


@pytest.mark.long
@pytest.mark.parametrize("kind", ATTACHES)
def test_any_number_of_files_and_a_process_that_runs(kind):
    with World() as world:
        least = least_files(world)
        for count in range(100):
            world.clean()
            check_attach(world, kind, f"{kind}, {least + count} files", files=least + count)


@pytest.mark.parametrize("kind", ATTACHES)
def test_a_disk_of_few_pages_and_a_process_that_runs(kind):
    with World() as world:
        for count in (1, 3, 4096):
            world.clean()
            world.resize("/mnt/out", f"{4 * count}k")
            check_attach(world, kind, f"{kind}, a disk of {count} pages")


# A peer that is killed at some moment. The moments of a recording are counted in parts of its length.

LENGTH_MS = 300


def slow(kind):
    """A program that runs for a while, with two processes, and prints a line at its end."""
    one = workload("blocks", "storm") if kind in ("heap", "leaks") else workload("spin", LENGTH_MS)
    script = ('"$@" >/dev/null & child=$!; sleep 0.3; kill $child; wait $child; echo "{done}"' if "storm" in one
              else '"$@" >/dev/null & wait; echo "{done}"')
    return ["sh", "-c", script, "sh", *one]


def descendants(pid):
    found = children_of(pid)
    for child in list(found):
        found += descendants(child)
    return found


def kill_some(world, kind, victim, moment_ms):
    """Records and kills one of the peers. Returns the recorder, and whether the program was the victim."""
    process = world.record(LAUNCHES[kind], slow(kind))
    time.sleep(moment_ms / 1000)
    below = descendants(process.pid)
    if victim == "recorder":
        process.kill()
    elif victim == "program" and below:
        os.kill(below[0], signal.SIGKILL)
    elif victim == "child" and len(below) > 1:
        os.kill(below[-1], signal.SIGKILL)
    return process, below


def check_killed(world, kind, victim, moment_ms):
    what = f"{kind}, {victim} killed after {moment_ms} ms"
    world.clean()
    process, below = kill_some(world, kind, victim, moment_ms)
    out, err = end(process, what)
    if victim == "recorder":
        assert process.returncode in (-signal.SIGKILL, 0), f"{what}: {process.returncode}\n{err}"
        # The program goes on to its end, or had not begun.
        for pid in below:
            wait_for(lambda pid=pid: state_of(pid) in ("", "Z"), TIMEOUT, f"{what}: the end of {pid}")
        assert "{done}" in out or not out, f"{what}:\n{out}{err}"
        # What it could not remove the next one does.
        check_launch(world, kind, f"after {what}")
        check_status_of_nobody(world)
    elif victim == "program":
        assert process.returncode in (0, 137), f"{what}: {process.returncode}\n{err}"
        for pid in below:  # a child that outlives it ends later, and what it needs goes with the next
            wait_for(lambda pid=pid: state_of(pid) in ("", "Z"), TIMEOUT, f"{what}: the end of {pid}")
        check_launch(world, kind, f"after {what}")
    else:
        assert process.returncode == 0 and "{done}" in out, f"{what}: {process.returncode}\n{out}{err}"
    if victim != "recorder":
        assert complaints(err) == [] or process.returncode == 137, f"{what}:\n{err}"
    assert world.left() == [], what
    assert world.recording_is_readable(), what


def check_status_of_nobody(world):
    status = world.start(world.wick, "status")
    _, err = end(status, "status")
    assert status.returncode == 1 and len(complaints(err)) == 1, err


VICTIMS = ("program", "child", "recorder")


@pytest.mark.parametrize("kind", LAUNCHES)
def test_a_peer_is_killed(kind):
    with World() as world:
        for victim, moment_ms in zip(VICTIMS, (60, 120, 180)):
            check_killed(world, kind, victim, moment_ms)


@pytest.mark.long
@pytest.mark.parametrize("kind", LAUNCHES)
def test_a_peer_is_killed_at_any_moment(kind):
    moments = random.Random(f"{SEED} {kind}")
    with World() as world:
        for _ in range(40):
            for victim in VICTIMS:
                check_killed(world, kind, victim, moments.randrange(LENGTH_MS + 200))


@pytest.mark.long
@pytest.mark.parametrize("kind", ATTACHES)
def test_a_peer_is_killed_while_a_process_is_recorded(kind):
    moments = random.Random(f"{SEED} {kind}")
    with World() as world:
        for number in range(40):
            moment_ms = moments.randrange(LENGTH_MS + 100)
            what = f"{kind}, killed after {moment_ms} ms"
            target = world.start(*workload("spin", 600000))
            process = world.record([*ATTACHES[kind], "-d", f"{LENGTH_MS / 1000}"], target.pid)
            time.sleep(moment_ms / 1000)
            (process if number % 2 else target).kill()
            _, err = end(process, what)
            if number % 2 == 0:
                check_failure(process.returncode, err, what)
            else:
                wait_for(lambda: is_unharmed(target.pid), what=f"{what}: a target that goes on")
                check_status_of_nobody(world)
            target.kill()
            target.wait()
            assert world.left() == [], what


# Those who ask a recorder.

CLIENT = """
import socket, sys, time
kept = []
def come(*words):
    peer = socket.socket(socket.AF_UNIX)
    peer.settimeout(5)
    try:
        peer.connect(sys.argv[1])
        for word in words:
            peer.send(word)
            time.sleep(0.001)
    except OSError:
        pass
    kept.append(peer)
for _ in range(20):
    come()
for words in ((b"",), (b"sta", b"tus"), (b"status" * 1000,), (b"\\0" * 40,), (b"pause", b"pause"), (b"resume",)):
    come(*words)
print("came", flush=True)
sys.stdin.read()
for peer in kept:
    try:
        peer.send(b"status")
    except OSError:
        pass
"""


def check_clients(world, kind, moment_ms):
    """Clients that send nothing, nonsense, or something only after the recording has ended."""
    what = f"{kind}, clients after {moment_ms} ms"
    world.clean()
    recorder = world.record(LAUNCHES[kind], ["sh", "-c", 'trap "" INT; read line; echo "{done}"'],
                            stdin=subprocess.PIPE)
    path = f"/run/wick/{recorder.pid}"
    wait_for(lambda: world.path(path).exists(), TIMEOUT, f"{what}: a socket")
    crowd = world.start(sys.executable, "-c", CLIENT, path, stdin=subprocess.PIPE)
    asked = world.start(world.wick, "status", recorder.pid, "--format", "json")
    killed = world.start(world.wick, "status", recorder.pid)
    time.sleep(moment_ms / 1000)
    killed.kill()
    out, err = end(asked, what)
    assert asked.returncode == 0 and f'"recorder": {recorder.pid}' in out, f"{what}:\n{out}{err}"
    assert crowd.stdout.readline() == "came\n", what
    recorder.send_signal(signal.SIGINT)
    wait_for(lambda: not world.path(path).exists(), TIMEOUT, f"{what}: the end of the recording")
    crowd.communicate("", timeout=TIMEOUT)
    out, err = recorder.communicate("\n", timeout=TIMEOUT)
    assert recorder.returncode == 0 and "{done}" in out, f"{what}: {recorder.returncode}\n{out}{err}"
    assert complaints(err) == [] and not LEAKED.search(err), f"{what}:\n{err}"
    assert world.left() == [], what


@pytest.mark.parametrize("kind", LAUNCHES)
def test_clients_that_say_nothing_or_come_late(kind):
    with World() as world:
        check_clients(world, kind, 20)


@pytest.mark.long
@pytest.mark.parametrize("kind", LAUNCHES)
def test_clients_that_come_at_any_moment(kind):
    moments = random.Random(f"{SEED} {kind}")
    with World() as world:
        for _ in range(20):
            check_clients(world, kind, moments.randrange(100))

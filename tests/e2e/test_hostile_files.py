# SPDX-License-Identifier: BSD-2-Clause
"""Files that were made to exhaust memory or time, or to reach files of the reader."""
import contextlib
import ctypes
import gzip
import json
import os
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading

import pytest
from conftest import ROOT, WICK, state_of_recorder, wait_for, workload

sys.path.insert(0, str(ROOT / "tests/fuzz"))
import make_perf_data as perf  # noqa: E402

MB = 1 << 20
# A dictionary whose sections all begin with number 8,388,608: as many entries seem to be lost.
HOLES = bytes.fromhex(
    "895749434b0d0a1a0100040000000000"
    "5743494b0200d2c8000000000000000040000000400000007c45c8b659e89652"
    "0180808004000002808080040000038080800400000480808004000008808080040000"
    "05808080040001000780808004000006808080040007ffffff03000000")


def run_within(limit_bytes, *args):
    """Runs wick with that memory limit."""
    return subprocess.run([str(WICK), *map(str, args)], capture_output=True, text=True, timeout=60, check=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit_bytes, limit_bytes)))


def test_lost_entries_of_a_recording_take_no_memory(tmp_path):
    path = tmp_path / "holes.wick"
    path.write_bytes(HOLES)
    done = run_within(150 * MB, "info", path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("content", (b"\0", b"main;work 1\n"))
def test_a_gzip_file_inflates_to_no_more_than_is_said(tmp_path, content):
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb", compresslevel=9) as out:
        for _ in range(300):
            out.write(content * (MB // len(content)))
    assert path.stat().st_size < 2 * MB
    done = run_within(400 * MB, "report", path)
    assert done.returncode == 1 and "it decompresses to more than" in done.stderr, done.stderr
    assert "gunzip" in done.stderr


def test_a_gzip_file_of_a_usual_ratio_is_read(tmp_path):
    path = tmp_path / "usual.gz"
    path.write_bytes(gzip.compress(b"".join(b"main;work%d;leaf %d\n" % (i % 50, i) for i in range(1000))))
    done = subprocess.run([str(WICK), "report", str(path)], capture_output=True, text=True, timeout=60, check=True)
    assert "leaf" in done.stdout


def perf_data_with_ids(events, ids):
    """perf.data whose events all have the same list of ids."""
    attrs_at = 104
    ids_at = attrs_at + 144 * events
    data_at = ids_at + 8 * len(ids)
    table = (perf.attr(perf.BASE) + perf.u64(ids_at, 8 * len(ids))) * events
    data = perf.world() + perf.sample(50, ids[0])
    header = b"PERFILE2" + perf.u64(104, 144) + perf.u64(attrs_at, len(table)) + perf.u64(data_at, len(data))
    return header + perf.u64(0, 0) + perf.u64(0, 0, 0, 0) + table + perf.u64(*ids) + data


def cpu_seconds(*args):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(WICK), *map(str, args)], capture_output=True, text=True, timeout=100, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done


def test_equal_event_ids_cost_no_more_than_different_ones(tmp_path):
    equal, different = tmp_path / "equal.data", tmp_path / "different.data"
    count = 200_000
    equal.write_bytes(perf_data_with_ids(1, [5] * count))
    different.write_bytes(perf_data_with_ids(1, list(range(5, 5 + count))))
    slow, done = cpu_seconds("info", equal)
    assert done.returncode == 0, done.stderr
    fast, done = cpu_seconds("info", different)
    assert done.returncode == 0, done.stderr
    assert slow < 10 * fast + 0.1


def test_events_that_share_their_ids_are_refused(tmp_path):
    path = tmp_path / "shared.data"
    path.write_bytes(perf_data_with_ids(200, list(range(5, 8000))))
    done = subprocess.run([str(WICK), "info", str(path)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "two of its events have the same id 5" in done.stderr, done.stderr


def varint(value):
    out = b""
    while value >= 0x80:
        out, value = out + bytes([value & 0x7f | 0x80]), value >> 7
    return out + bytes([value])


def message(field, body):
    return varint(field << 3 | 2) + varint(len(body)) + body


def number(field, value):
    return varint(field << 3) + varint(value)


def pprof_with(locations, references):
    """A profile of one sample whose frames are these locations (bodies without their ids)."""
    texts = b"".join(message(6, text) for text in (b"", b"cpu", b"nanoseconds", b"work"))
    items = b"".join(message(4, number(1, i + 1) + body) for i, body in enumerate(locations))
    return (message(1, number(1, 1) + number(2, 2)) + texts + message(5, number(1, 1) + number(2, 3)) + items +
            message(2, message(1, bytes(references)) + message(2, varint(5))))


def test_a_location_is_read_once_however_often_it_is_named(tmp_path):
    line = message(4, number(1, 1) + number(2, 7))
    junk = number(15, 1) * 30_000
    slow_path, fast_path = tmp_path / "slow.pb", tmp_path / "fast.pb"
    slow_path.write_bytes(pprof_with([line + junk, line], [1] * 60_000))
    fast_path.write_bytes(pprof_with([line, line + junk], [1] * 60_000))
    slow, done = cpu_seconds("info", slow_path)
    assert done.returncode == 0, done.stderr
    fast, done = cpu_seconds("info", fast_path)
    assert done.returncode == 0, done.stderr
    assert slow < 10 * fast + 0.1


def test_inlined_calls_count_as_frames_of_a_stack(tmp_path):
    lines = b"".join(message(4, number(1, 1) + number(2, i)) for i in range(256))
    path = tmp_path / "deep.pb"
    path.write_bytes(pprof_with([lines], [1] * 60_000))
    done = run_within(300 * MB, "report", path)
    assert done.returncode == 1 and "deep.pb" in done.stderr, done.stderr
    path.write_bytes(pprof_with([lines], [1] * 200))
    done = run_within(300 * MB, "report", path)
    assert done.returncode == 0, done.stderr


class Opened:
    """Whether a file was opened, according to inotify: O_PATH does not count."""

    def __init__(self, path):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.fd = self.libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        assert self.libc.inotify_add_watch(self.fd, os.fsencode(path), 0x20) >= 0  # IN_OPEN

    def look(self):
        try:
            return len(os.read(self.fd, 4096)) > 0
        except BlockingIOError:
            return False


@pytest.mark.parametrize("command", (("report",), ("annotate", "main"), ("import", "-o", "x.wick")))
def test_a_path_in_a_profile_opens_no_fifo_and_no_device(tmp_path, command):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    end = perf.trailer(10, 5)
    maps = b"".join((
        perf.record(3, perf.u32(7, 7) + perf.text("prog") + end, 1 << 13),
        perf.record(1, perf.u32(7, 7) + perf.u64(0x400000, 0x10000, 0) + perf.text(str(fifo)) + end, 2),
        perf.record(10, perf.u32(7, 7) + perf.u64(0x500000, 0x10000, 0) + bytes([20, 0, 0, 0]) + bytes(range(50, 70)) +
                    perf.u32(5, 2) + perf.text(str(fifo)) + end, 2 | 1 << 14)))
    chain = [perf.USER, 0x401010, 0x501020]
    data = perf.file([perf.attr(perf.BASE | perf.CHAIN)], maps + perf.sample(50, 5, chain))
    path = tmp_path / "perf.data"
    path.write_bytes(data)
    opened = Opened(fifo)
    subprocess.run([str(WICK), command[0], str(path), *command[1:]], capture_output=True, timeout=60, check=False,
                   cwd=tmp_path)
    assert not opened.look()
    os.close(os.open(fifo, os.O_RDONLY | os.O_NONBLOCK))
    assert opened.look()  # it would have been seen


def test_a_module_of_a_live_look_that_is_a_fifo_is_not_opened(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    opened = Opened(fifo)
    done = subprocess.run([str(WICK), "symbolize", "-e", str(fifo), "0x10"], capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == 1 and "not a regular file" in done.stderr
    assert not opened.look()


def test_names_of_other_processes_stay_escaped_in_the_json_of_status(wick, tmp_path):
    program = tmp_path / "sp\x7f\x9b\u202ein"
    command = workload("spin", 60000)
    shutil.copy(command[0], program)
    recorder = wick.start("record", "-o", wick.new_path(), "--", str(program), *command[1:])
    state = wait_for(lambda: state_of_recorder(wick, recorder.pid), 30, "a recorder that answers")
    assert "\x7f\x9b" in state["target"]
    raw = subprocess.run([str(WICK), "status", str(recorder.pid), "--format", "json"], capture_output=True, timeout=60,
                         check=True).stdout.decode()
    assert [c for c in raw if (ord(c) < 0x20 and c != "\n") or 0x7f <= ord(c) < 0xa0 or ord(c) == 0x202e] == []
    assert "\\u007f\\u009b\\u202e" in raw
    assert {"recorder", "target", "pids", "engine", "state", "samples", "lost", "output"} <= set(json.loads(raw)[0])
    os.killpg(recorder.pid, signal.SIGINT)
    recorder.communicate(timeout=60)


@contextlib.contextmanager
def recorder_that_answers(folder, answer):
    """This process, as one: the variables of an environment where wick finds it."""
    place = folder / "run" / "wick"
    place.mkdir(parents=True, mode=0o700)
    (folder / "run").chmod(0o700)
    directory = os.open(place, os.O_RDONLY)

    def serve(listener):
        with contextlib.suppress(OSError):
            while True:
                peer = listener.accept()[0]
                with peer:
                    peer.recv(100)
                    peer.sendall(json.dumps(answer).encode())

    with socket.socket(socket.AF_UNIX) as listener:
        # By its descriptor: paths of sockets are short.
        listener.bind(f"/proc/self/fd/{directory}/{os.getpid()}")
        listener.listen()
        server = threading.Thread(target=serve, args=(listener,))
        server.start()
        try:
            yield {**os.environ, "XDG_RUNTIME_DIR": str(folder / "run")}
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            server.join()
            os.close(directory)


def test_numbers_below_zero_stay_that_in_what_status_says(wick, tmp_path):
    answer = {"target": "x", "pids": [-1], "engine": "perf", "state": "recording", "elapsed_ns": -5, "samples": -7,
              "lost": -(1 << 63), "rate_hz": -1, "asked_hz": 1, "kept_bytes": -1000, "output": "y", "overhead_percent": -1}
    with recorder_that_answers(tmp_path, answer) as env:
        told = json.loads(wick.ok("status", os.getpid(), "--format", "json", env=env).stdout)
        text = wick.ok("status", os.getpid(), env=env).stdout
    assert told == [{"recorder": os.getpid(), **answer}]
    assert f"-7, {-(1 << 63)} lost" in text and "-1 Hz of 1 Hz" in text


def test_a_recorder_that_calls_itself_silent_has_its_words_escaped(wick, tmp_path):
    answer = {"state": "silent", "why": "\x1b[2Jgone", "remedy": "\x1b]0;title\x07"}
    with recorder_that_answers(tmp_path, answer) as env:
        text = wick.ok("status", os.getpid(), env=env).stdout
    assert "gone" in text and "\x1b" not in text and "\x07" not in text


def test_names_that_look_like_formulas_are_texts_in_csv(wick, tmp_path):
    folded = tmp_path / "x.folded"
    folded.write_text("app;=cmd|'/c calc'!A1 5\napp;+x;-y;@z 5\n")
    rows = wick.ok("diff", folded, folded, "--format", "csv").stdout
    for name in ("=cmd", "+x", "-y", "@z"):
        assert f'"\'{name}' in rows and f'"{name}' not in rows

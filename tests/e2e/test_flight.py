# SPDX-License-Identifier: BSD-2-Clause
"""wick record --last: keeps only the last seconds, and writes them on demand."""
import pathlib
import signal
import sys
import time

import contract
import pytest
from conftest import children_of, wait_for, workload


def mask_has(pid, name, number):
    """Whether a mask of /proc/PID/status (SigBlk, SigCgt ...) contains the signal."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return False
    mask = next((int(line.split()[1], 16) for line in lines if line.startswith(name)), 0)
    return bool(mask >> (number - 1) & 1)


def start(wick, *args):
    """Starts the recorder; returns when it handles signals and has had time to look at the processes."""
    process = wick.start("record", "--last", 1, *args)
    wait_for(lambda: mask_has(process.pid, "SigBlk", signal.SIGUSR2), what="its signals")
    time.sleep(0.5)
    return process


def ask(process, path):
    """Asks for the last seconds and returns when they are written."""
    process.send_signal(signal.SIGUSR2)
    return wait_for(path.exists, what=path.name)


def judge(wick, path):
    """The faults of a file, except that a second has few samples on a busy machine."""
    info = wick.json("info", path, "--check", "--format", "json")
    assert info["complete"] and 0 < info["duration_ns"] <= 1e9, info
    return [text for text in map(str, info["problems"]) if "percentages are rough" not in text]


@pytest.fixture(scope="module", name="engines")
def all_engines(shared_wick):
    """{engine: a recording of the phases that keeps the last second}, made at the same time."""
    return shared_wick.record_together({
        engine: (workload("phases", 1100), "--engine", engine, "--last", 1, "--flame", f"{engine}.svg")
        for engine in ("auto", "perf", "signal", "ptrace")})


@pytest.mark.perf
@pytest.mark.parametrize("engine", ["auto", "perf", "signal", "ptrace"])
def test_what_is_older_is_not_in_the_file(engines, engine):
    recording = engines[engine]
    assert recording.status == 0 and "wrote the last 1.0 s (" in recording.stderr
    names = {name for frames, _ in recording.folded() for name in frames}
    assert "phase_b" in names and "phase_a" not in names
    assert judge(recording.wick, recording.path) == []
    info = recording.info()
    assert info["start_ns"] >= recording.truth["boundary_ns"]
    assert info["start_ns"] + info["duration_ns"] >= recording.truth["end_ns"]


@pytest.mark.perf
def test_a_part_of_a_recording_is_looked_at_like_a_whole(engines):
    wick, path = engines["auto"].wick, engines["auto"].path
    assert "phase_b" in wick.ok("report", path).stdout
    assert "phases" in wick.ok("timeline", path).stdout
    assert "phase_b" in (wick.folder / "auto.svg").read_text(encoding="utf-8")


def kept_bytes(pid):
    """(memory, all that was ever written) of a recorder's last seconds."""
    for link in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        if "wick-flight" in str(link.readlink()):
            status = link.stat()
            return status.st_blocks * 512, status.st_size
    return 0, 0


@pytest.mark.perf
def test_every_engine_gives_the_memory_of_old_samples_back(wick):
    # A program with many mappings, which every stretch tells anew.
    program = [sys.executable, "-c", "import ctypes, json, ssl, sqlite3\nwhile True: pass"]
    started = [start(wick, "--engine", engine, "-o", f"{engine}.wick", "--", *program)
               for engine in ("auto", "signal", "ptrace")]
    for process in started:
        wait_for(lambda: kept_bytes(process.pid)[1] > 32000, 30, "some windows")
        memory, written = kept_bytes(process.pid)
        assert memory < written * 3 / 4
        process.send_signal(signal.SIGINT)
    for process in started:
        process.communicate(timeout=20)


@pytest.mark.perf
def test_each_wish_makes_a_file_of_its_own(wick, background):
    target = background(workload("spin", 20000))
    process = start(wick, "-p", target.pid, "-o", "x.wick")
    ask(process, wick.folder / "x.wick")
    ask(process, wick.folder / "x-2.wick")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == contract.DONE and target.poll() is None, err
    assert err.count("wrote the last") == 3
    for name in ("x.wick", "x-2.wick", "x-3.wick"):
        assert judge(wick, name) == []
        report = wick.json("report", name, "--format", "json")
        assert contract.total_percent(report, "spin_here") > 90


@pytest.mark.perf
def test_a_crash_leaves_what_came_before_it(wick):
    command = ["sh", "-c", f"'{workload('spin')[0]}' 400 >&2; kill -SEGV $$"]
    recording = wick.record(command, "--last", 1, status=139)
    assert contract.total_percent(recording.report(), "spin_here") > 50
    assert judge(wick, recording.path) == []


@pytest.mark.perf
def test_a_wish_does_not_reach_a_program_that_would_die_of_it(wick):
    process = start(wick, "-o", "x.wick", "--", *workload("spin", 20000))
    ask(process, wick.folder / "x.wick")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 128 + signal.SIGINT, err
    assert judge(wick, "x-2.wick") == []


@pytest.mark.perf
def test_a_program_with_a_handler_gets_its_signal(wick):
    process = start(wick, "-o", "x.wick", "--", "sh", "-c", "trap 'exit 9' USR2; while :; do :; done")
    child = wait_for(lambda: children_of(process.pid), what="the program")[0]
    wait_for(lambda: mask_has(child, "SigCgt", signal.SIGUSR2), what="its handler")
    process.send_signal(signal.SIGUSR2)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 9 and err.count("wrote the last") == 1, err


@pytest.mark.perf
def test_a_file_that_cannot_be_written_ends_nothing_but_the_end(wick, background):
    target = background(workload("spin", 20000))
    folder = wick.folder / "there"
    folder.mkdir()
    process = start(wick, "-p", target.pid, "-o", "there/x.wick")
    folder.rmdir()
    process.send_signal(signal.SIGUSR2)
    line = process.stderr.readline()
    while line and "cannot write" not in line:
        line = process.stderr.readline()
    assert "there/x.wick" in line
    folder.mkdir()
    ask(process, folder / "x.wick")
    (folder / "x.wick").unlink()
    folder.rmdir()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == contract.FAILED


@pytest.mark.parametrize("options, status, key", [
    (("--last", 1, "-o", "nowhere/x.wick"), 1, "nowhere/x.wick"),
    (("--last", 1, "-o", "-"), 2, "--last"),
    (("--last", 0.5), 2, "1s to 1h"),
])
def test_what_cannot_be_is_refused_before_the_program_runs(wick, options, status, key):
    done = wick.run("record", *options, "--", "touch", "ran")
    assert done.returncode == status and key in done.stderr, done.stderr
    assert len(done.stderr.splitlines()) <= 3
    assert list(wick.folder.iterdir()) == []

# SPDX-License-Identifier: BSD-2-Clause
"""WICK_LOG: how much wick prints besides results."""
import errno
import fcntl
import os
import stat

from conftest import WICK, workload


def list_formats(wick, level, **variables):
    done = wick.ok("list", "formats", env={**os.environ, "WICK_LOG": level, **variables})
    return done.stdout, done.stderr


def test_the_level_decides_what_is_told_and_never_the_result(wick, tmp_path):
    broken = tmp_path / "broken plug-in.so"
    broken.write_text("not an object")
    log = tmp_path / "a log"
    plugins = {"WICK_PLUGINS": str(broken)}
    results, warning = list_formats(wick, "", **plugins)
    assert warning.startswith("wick: ") and broken.name in warning
    assert list_formats(wick, "error", **plugins) == (results, "")
    assert list_formats(wick, "warn", **plugins) == (results, warning)
    good = WICK.parent / "examples/insight.so"  # no formats
    assert list_formats(wick, f"debug:{log}", WICK_PLUGINS=str(good)) == (results, "")
    assert log.read_text() == f"wick: info: loaded plug-in {good}\n"
    same, told = list_formats(wick, "loud")
    assert same == results and len(told.splitlines()) == 2
    assert "WICK_LOG=loud" in told and "error, warn, info, debug or trace" in told
    failed = wick.run("report", "/not/there", env={**os.environ, "WICK_LOG": "error"})
    assert failed.returncode == 1 and failed.stderr.startswith("wick: cannot open /not/there")


def test_the_file_of_a_log_is_made_and_refused_as_results_are(wick, tmp_path):
    good = {"WICK_PLUGINS": str(WICK.parent / "examples/insight.so")}
    results, _ = list_formats(wick, "", **good)
    log, fifo, link = (tmp_path / name for name in ("log", "fifo", "link"))
    before = os.umask(0)
    try:
        assert list_formats(wick, f"debug:{log}", **good) == (results, "")
    finally:
        os.umask(before)
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    os.mkfifo(fifo)
    link.symlink_to(log)
    for path, why in ((fifo, "nobody reads"), (link, "it is a link")):
        tmp_path.chmod(0o700 if path == fifo else 0o1777)
        same, told = list_formats(wick, f"debug:{path}", **good)
        assert same == results and f"WICK_LOG: cannot write {path}" in told and why in told
        assert "standard error" in told and "-o FILE" not in told


def test_a_pipe_that_is_full_holds_nobody(wick, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
        done = wick.run("record", "-q", "-o", wick.new_path(), "--", "true", timeout=30,
                        env={**os.environ, "WICK_LOG": f"trace:{fifo}"})
        assert done.returncode == 0, done.stderr
        assert len(os.read(reader, 65536)) > 1000
    finally:
        os.close(reader)


def test_it_is_told_why_an_engine_was_left(wick):
    done = wick.run("record", "-q", "-o", wick.new_path(), "--", "true",
                    prefix=workload("forbid", errno.EPERM, "all"),
                    env={**os.environ, "WICK_LOG": "info"})
    lines = done.stderr.splitlines()
    left = [line for line in lines if line.startswith("wick: info: engine ebpf skipped: ")]
    taken = [line for line in lines if line.endswith(" chosen")]
    assert len(left) == len(taken) == 1 and lines.index(left[0]) < lines.index(taken[0])

# SPDX-License-Identifier: BSD-2-Clause
"""dump() and files of snapshots: every format has the blocks that the tracer has."""
import functools
import gzip
import json
import re
import shutil
import subprocess

import pytest

from interpreters import BUILD

WICK = BUILD / "wick"

START = """
import os, sys
import wick.tracemalloc as tracemalloc

class Parser:
    def parse(self, n):
        return [bytes(100 + i % 3) for i in range(n)]

def total(snapshot):
    found = snapshot.statistics("traceback")
    return sum(one.size for one in found), sum(one.count for one in found)

"""


# What an interpreter of another release has of its own.
OF_LIBC = ("ld-linux", "libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "linux-vdso")


@functools.lru_cache(None)
def library(python):
    """The environment in which an interpreter finds this build of libwick; skips where it cannot load it."""
    env = {"WICK_LIBRARY": str(BUILD / "libwick.so.0")}
    if hasattr(python, "release"):
        # It runs in a root of its own, and sees only the folder of its packages: all goes there.
        folder = python.folder / "libwick"
        folder.mkdir(exist_ok=True)
        listed = subprocess.run(["ldd", BUILD / "libwick.so.0"], capture_output=True, text=True, check=True)
        needs = re.findall(r"=> (\S+)", listed.stdout)
        for path in [BUILD / "libwick.so.0", *(path for path in needs if not any(name in path for name in OF_LIBC))]:
            shutil.copy(path, folder)
        inside = f"{python.release.site_inside}/libwick"
        env = {"WICK_LIBRARY": f"{inside}/libwick.so.0", "LD_LIBRARY_PATH": inside}
    done = python.run("-c", "from wick import _library; _library.load()", env=env)
    return env if done.returncode == 0 else done.stderr.splitlines()[-1]


@pytest.fixture
def libwick(python):
    env = library(python)
    if isinstance(env, str):
        pytest.skip(f"libwick cannot be loaded here: {env}")
    return env


@pytest.fixture
def run(check, libwick):
    """Runs lines after the ones above."""
    env = libwick
    return lambda text, *words, **more: check(START + text, *words, env={**env, **more})


def wick(*words):
    done = subprocess.run([WICK, *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def live(path):
    """(bytes, blocks) that are live at the end of a recording."""
    at_end = json.loads(wick("report", "--by", "site", "--format", "json", path))["totals"]["live"]
    return at_end["bytes"], at_end["blocks"]


@pytest.mark.parametrize("extension, begins", [
    ("wick", b"\x89WICK"), ("pprof", b"\x1f\x8b"), ("pb.gz", b"\x1f\x8b"), ("speedscope.json", b"{"),
    ("perfetto", b"\x0a"), ("json", b"{"), ("html", b"<!DOCTYPE html>")])
def test_the_name_chooses_the_format(run, tmp_path, extension, begins):
    path = tmp_path / f"memory.{extension}"
    run("tracemalloc.start(5)\nkept = Parser().parse(1000)\ntracemalloc.dump(sys.argv[1])", path)
    data = path.read_bytes()
    text = gzip.decompress(data) if begins == b"\x1f\x8b" else data
    assert data.startswith(begins)
    # The names in recordings and pages are compressed.
    assert b"Parser.parse" in text or extension in ("wick", "html")
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_dump_has_the_blocks_of_a_snapshot(run, tmp_path):
    path = tmp_path / "memory.wick"
    sums = run("tracemalloc.start(5)\nkept = Parser().parse(1000)\nsnapshot = tracemalloc.take_snapshot()\n"
               "tracemalloc.dump(sys.argv[1])\nprint(*total(snapshot))", path)
    size, count = map(int, sums.split())
    found = live(path)
    # Between snapshot and dump the program makes a few more.
    assert size <= found[0] <= size + 10_000 and count <= found[1] <= count + 50
    assert "Parser.parse" in wick("report", "--by", "site", path)


@pytest.mark.parametrize("start", ["start(5)", "start(5, sampling=0.25)", "start(5, sampling=1000)"])
def test_snapshots_come_back_from_files(run, tmp_path, start):
    """Sizes, numbers, standard errors and threads are those of the snapshot; wick agrees."""
    path = tmp_path / "snapshot.wick"
    sums = run(f"tracemalloc.{start}\n" + """
kept = Parser().parse(5000)
snapshot = tracemalloc.take_snapshot()
snapshot.dump(sys.argv[1])
loaded = tracemalloc.Snapshot.load(sys.argv[1])
for key in "traceback", "lineno", "filename", "thread", "domain":
    want, have = snapshot.statistics(key), loaded.statistics(key)
    assert list(map(str, want)) == list(map(str, have)), (key, want[:3], have[:3])
assert not any(one.size_diff or one.count_diff for one in loaded.compare_to(snapshot, "lineno"))
assert sorted(trace.size for trace in loaded.traces) == sorted(trace.size for trace in snapshot.traces)
assert loaded.traces[0].traceback.total_nframe >= len(loaded.traces[0].traceback)
print(*total(snapshot))
""", path)
    size, count = map(float, sums.split())
    assert live(path) == (pytest.approx(size, abs=50), pytest.approx(count, abs=50))


def test_snapshots_of_pickles_can_be_exported(run, tmp_path):
    run("""
tracemalloc.start(5)
kept = Parser().parse(100)
snapshot = tracemalloc.take_snapshot()
snapshot.dump(sys.argv[1])
tracemalloc.stop()
again = tracemalloc.Snapshot.load(sys.argv[1])
again.dump(sys.argv[2])
assert total(tracemalloc.Snapshot.load(sys.argv[2])) == total(snapshot)
""", tmp_path / "snapshot.pickle", tmp_path / "snapshot.wick")


def test_a_format_is_named_where_the_name_says_nothing(run, tmp_path):
    run("""
tracemalloc.start(export="speedscope")
tracemalloc.dump(sys.argv[1])
tracemalloc.dump(sys.argv[2], format="html")
""", tmp_path / "one", tmp_path / "two.json")
    assert b"speedscope" in (tmp_path / "one").read_bytes()
    assert (tmp_path / "two.json").read_bytes().startswith(b"<!DOCTYPE html>")


def test_wrong_calls_say_what_is_right(run, tmp_path):
    run("""
def refused(kind, function, *words):
    try:
        function(*words)
    except kind as error:
        return str(error)
    raise AssertionError(words)

message = refused(RuntimeError, tracemalloc.dump, "x.wick")
assert message == "the tracemalloc module must be tracing memory allocations to dump them", message
tracemalloc.start()
for words in (("x.txt",), ("x.wick", "nonsense")):
    message = refused(ValueError, tracemalloc.dump, *words)
    assert "wick, pprof, speedscope, perfetto, json, html" in message and ".pb.gz" in message, message
refused(FileNotFoundError, tracemalloc.dump, "/nonexistent/x.wick")
refused(FileNotFoundError, tracemalloc.dump, "/nonexistent/x.html")
refused(TypeError, tracemalloc.dump, 5)
assert not os.path.exists("x.txt")
""")


def test_hidden_stacks_are_left_out(run, tmp_path):
    path = tmp_path / "memory.wick"
    run("""
tracemalloc.start(5)
kept = Parser().parse(1000)
tracemalloc.set_filter(lambda frame: not frame.function.startswith("Parser."))
other = [bytes(1000) for i in range(10)]
tracemalloc.dump(sys.argv[1])
""", path)
    report = wick("report", "--by", "site", path)
    assert "Parser.parse" not in report and "check.py" in report


def test_dumping_changes_nothing_that_is_traced(run, tmp_path):
    run("""
tracemalloc.start(5)
kept = Parser().parse(1000)
tracemalloc.dump(sys.argv[1])
before = tracemalloc.get_traced_memory()[0]
for i in range(3):
    tracemalloc.dump(sys.argv[1])
assert abs(tracemalloc.get_traced_memory()[0] - before) < 1000
""", tmp_path / "memory.pprof")

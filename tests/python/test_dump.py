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


TAGS = """
import ctypes, json, sys, threading
import wick.tracemalloc as t
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    interpreters = None
track = ctypes.pythonapi.PyTraceMalloc_Track
track.argtypes = ctypes.c_uint, ctypes.c_size_t, ctypes.c_size_t
held, ends = [], threading.Event()
def work():
    held.append(bytearray(300000))
    ends.wait()
t.start(10)
thread = threading.Thread(target=work, name="the worker")
thread.start()
held.append(json.loads("[" + "1.5," * 5000 + "2]"))
track(77, 0x5000, 1000)
if interpreters:
    interpreters.run_string(interpreters.create(), "kept = bytearray(70000); import __main__; __main__.x = kept")
while len(held) < 2:
    pass
snapshot = t.take_snapshot()
t.stop()
def tags(one):
    return {kind: sorted((str(row.traceback), row.size, row.count) for row in one.statistics(kind))
            for kind in ("thread", "module", "domain", "interpreter")}
def functions(one):
    return sorted((str(trace), [frame.function for frame in trace.traceback]) for trace in one.traces)
expected = tags(snapshot)
assert any("(the worker)" in row[0] for row in expected["thread"]) and len(expected["domain"]) == 2
assert len(expected["interpreter"]) == (2 if interpreters else 1), expected["interpreter"]
assert {"__main__", "json.decoder"} <= {row[0] for row in expected["module"]}, expected["module"]
for name in ("held", "held.wick"):
    snapshot.dump(name)
ends.set()
thread.join()
if sys.argv[1:]:
    print(json.dumps(expected))
    sys.exit()
for name in ("held", "held.wick"):
    loaded = t.Snapshot.load(name)
    for kind in expected:
        assert tags(loaded)[kind] == expected[kind], (name, kind, tags(loaded)[kind], expected[kind])
    assert functions(loaded) == functions(snapshot), name
    some = loaded.filter_traces([t.Filter(True, "*decoder*")])
    assert [str(row.traceback) for row in some.statistics("module")] == ["json.decoder"]
    loaded.dump(name + ".again.wick")
    loaded.dump(name + ".again")
    for again in (name + ".again", name + ".again.wick"):
        assert tags(t.Snapshot.load(again)) == expected, again
import tracemalloc
plain = tracemalloc.Snapshot.load("held")
assert [str(row) for row in plain.statistics("lineno")] == [str(row) for row in t.Snapshot.load("held").statistics("lineno")]
"""


def test_files_keep_threads_modules_domains_interpreters_and_functions(check, libwick):
    check(TAGS, env=libwick)


def test_another_process_gets_the_same_groups(check, python, tmp_path, libwick):
    """Its own modules and threads have other names."""
    expected = json.loads(check(TAGS, "only dump", env=libwick))
    done = python.run("-c", """
import json, wick.tracemalloc as t
for name in ("held", "held.wick"):
    loaded = t.Snapshot.load(name)
    print(json.dumps({kind: sorted((str(row.traceback), row.size, row.count) for row in loaded.statistics(kind))
                      for kind in ("thread", "module", "domain", "interpreter")}))
""", cwd=tmp_path, env=libwick)
    assert done.returncode == 0, done.stderr
    assert [json.loads(line) for line in done.stdout.splitlines()] == [expected, expected]


def test_a_file_that_is_not_a_snapshot_is_refused_with_words(check, libwick):
    check("""
import pickle, wick.tracemalloc as t
t.start()
t.take_snapshot().dump("held.json")
t.stop()
open("empty", "w").close()
try:
    t.Snapshot.load("held.json")
except pickle.UnpicklingError as error:
    assert "held.json is not a snapshot" in str(error), error
else:
    raise AssertionError("it was loaded")
try:
    t.Snapshot.load("empty")
except EOFError as error:
    assert str(error) == "Ran out of input"
""", env=libwick)


def test_the_standard_module_loads_results_that_a_snapshot_carries(check):
    check("""
import tracemalloc, wick.tracemalloc as t
t.start(3, sampling=2)
kept = [bytearray(1000) for _ in range(100)]
snapshot = t.take_snapshot()
snapshot.lines = snapshot.statistics("lineno")
snapshot.stacks = snapshot.compare_to(snapshot, "traceback")
snapshot.trace = snapshot.traces[0]
snapshot.frame = snapshot.trace.traceback[0]
t.stop()
snapshot.dump("held")
plain = tracemalloc.Snapshot.load("held")
assert [str(row) for row in plain.lines] == [str(row) for row in snapshot.lines]
assert isinstance(plain.frame, tracemalloc.Frame) and str(plain.trace) == str(snapshot.trace)
""")


def test_native_frames_are_kept_in_files(check, libwick):
    check("""
import wick.tracemalloc as t
t.start(5, native=True)
kept = [bytearray(1000) for _ in range(10)]
snapshot = t.take_snapshot()
t.stop()
def natives(one):
    return sorted((trace.size, [(frame.function, frame.filename) for frame in trace.traceback.native])
                  for trace in one.traces if trace.domain == 0 and trace.size > 1000)
assert len(natives(snapshot)) == 10 and all(found for _, found in natives(snapshot))
for name in ("held", "held.wick"):
    snapshot.dump(name)
    loaded = natives(t.Snapshot.load(name))
    assert len(loaded) == 10
    for (_, one), (_, other) in zip(loaded, natives(snapshot)):
        assert [file for _, file in one] == [file for _, file in other]
        assert all(a == b for (a, _), (b, _) in zip(one, other) if b), (one, other)
""", env=libwick)

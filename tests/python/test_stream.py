# SPDX-License-Identifier: BSD-2-Clause
"""stream(): a file that grows while the program runs, and survives whatever ends the program."""
import json
import os
import shutil
import subprocess

import pytest

from interpreters import ROOT
from test_dump import WICK, libwick, live, wick  # noqa: F401

START = """
import os, signal, shutil, sys, threading, time, warnings
import wick.tracemalloc as tracemalloc
path = sys.argv[1]
kept = []

def fill(n):
    for i in range(n):
        kept.append([i] * 10)

def traced():
    return tracemalloc.get_traced_memory()[0]

"""
# What the lines between two measurements allocate.
SLACK = 20_000


@pytest.fixture
def run(python, tmp_path, libwick):
    """Runs a program and returns (status, standard output, standard error)."""
    def start(text, *words, **options):
        script = tmp_path / "program.py"
        script.write_text(START + text, encoding="utf-8")
        done = python.run("-X", "faulthandler", script, *words, env=libwick, cwd=tmp_path, timeout=120, **options)
        return done.returncode, done.stdout, done.stderr
    return start


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.wick"


def info(path):
    return json.loads(wick("info", "--format", "json", path))


def assert_live(path, size):
    assert live(path)[0] == pytest.approx(int(size), abs=SLACK)


def test_it_is_readable_at_every_flush(run, path):
    status, out, err = run("""
tracemalloc.start(5)
fill(5000)
stream = tracemalloc.stream(path, every=60)
for name in "one", "two":
    fill(3000)
    del kept[:2000]
    print(traced())
    stream.flush()
    shutil.copy(path, f"{path}.{name}.wick")
stream.close()
print(traced())
""", path)
    assert (status, err) == (0, "")
    sizes = out.split()
    for part, size in zip((f"{path}.one.wick", f"{path}.two.wick", path), sizes):
        assert_live(part, size)
    assert not info(f"{path}.one.wick")["complete"] and info(path)["complete"]
    totals = json.loads(wick("report", "--by", "site", "--format", "json", path))["totals"]
    assert totals["freed"]["blocks"] >= 4000  # later parts are changes, not the whole again


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), signal.SIGKILL)", "os._exit(0)", "os.abort()"])
def test_a_sudden_end_keeps_what_was_flushed(run, path, end):
    _, out, _ = run(f"""
tracemalloc.start(5)
stream = tracemalloc.stream(path, every=60)
fill(5000)
stream.flush()
print(traced(), flush=True)
fill(5000)
{end}
""", path)
    assert_live(path, out)
    assert not info(path)["complete"]
    assert "fill" in wick("report", "--by", "site", path)


def test_it_writes_by_itself(run, path):
    """Without flush(): the file has it after a while, and then the program is killed."""
    status, out, _ = run("""
tracemalloc.start(5)
stream = tracemalloc.stream(path, every=0.05)
fill(5000)
size = traced()
before = os.path.getsize(path)
while os.path.getsize(path) == before:
    time.sleep(0.01)
time.sleep(0.2)
while stream._position < stream._tracer.event_position() - 1000:
    time.sleep(0.01)
print(size, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
""", path)
    assert status == -9
    assert_live(path, out)


@pytest.mark.parametrize("end", ["", "sys.exit(3)", "raise SystemExit", "1 / 0"])
def test_the_end_of_the_program_completes_it(run, path, end):
    _, out, _ = run(f"""
tracemalloc.start(5)
stream = tracemalloc.stream(path, every=60)
fill(5000)
print(traced())
{end}
""", path)
    assert info(path)["complete"]
    assert_live(path, out)


def test_threads_that_exit_or_go_on_do_no_harm(run, path):
    status, _, err = run("""
tracemalloc.start(5)
stream = tracemalloc.stream(path, every=0.05)

def endless():
    while True:
        [bytes(50) for i in range(100)]

threading.Thread(target=endless, daemon=True).start()
leaving = threading.Thread(target=sys.exit)
leaving.start()
leaving.join()
fill(5000)
""", path)
    assert (status, err) == (0, "")
    assert info(path)["complete"]


def test_a_forked_child_leaves_the_file_alone(run, path):
    status, out, err = run("""
warnings.simplefilter("ignore", DeprecationWarning)
tracemalloc.start(5)
stream = tracemalloc.stream(path, every=0.05)
fill(2000)
child = os.fork()
if child == 0:
    assert stream.closed
    try:
        stream.flush()
    except ValueError:
        pass
    fill(50000)
    stream.close()
    other = tracemalloc.stream(path + ".child", every=60)  # its own is possible
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
fill(1000)
stream.close()
print(traced())
""", path)
    assert (status, err) == (0, "")
    assert_live(path, out)
    assert info(path)["complete"] and info(f"{path}.child")["complete"]
    assert live(f"{path}.child")[0] > live(path)[0] * 5


def test_it_is_not_opened_twice(run, path):
    status, _, err = run("""
tracemalloc.start()
stream = tracemalloc.stream(path)
os.symlink(path, path + ".link")
for name in path, path + ".link":
    try:
        tracemalloc.stream(name)
    except OSError as error:
        assert "being written by another" in str(error), error
    else:
        raise AssertionError(name)
stream.close()
stream.close()
with tracemalloc.stream(path) as again:
    assert "open" in repr(again)
assert again.closed and "closed" in repr(again)
try:
    again.flush()
except ValueError:
    pass
else:
    raise AssertionError
""", path)
    assert (status, err) == (0, "")
    assert info(path)["complete"]


def test_wrong_arguments_are_refused(run, path):
    status, _, err = run("""
def refused(kind, *words):
    try:
        tracemalloc.stream(*words)
    except kind as error:
        return str(error)
    raise AssertionError(words)

refused(RuntimeError, path)
tracemalloc.start()
refused(ValueError, path, 0)
refused(ValueError, path, float("nan"))
refused(TypeError, path, "often")
refused(FileNotFoundError, "/nonexistent/x.wick")
assert not os.path.exists(path)
""", path)
    assert (status, err) == (0, "")


FULL_DISK = """
tracemalloc.start(5)
stream = tracemalloc.stream(path, every=0.05)
fill(2000)
stream.flush()
print(traced())
import random
{limit}
while not stream.closed:
    kept.append(bytes(random.randrange(5000)))
    del kept[:random.randrange(2)]
assert isinstance(stream.error, OSError), stream.error
fill(1000)
stream.close()
print("alive")
"""


def test_a_full_disk_ends_only_the_stream(run, path):
    status, out, err = run(FULL_DISK.format(limit="""
import resource
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(path) + 5000,) * 2)
"""), path)
    size, alive = out.split()
    assert status == 0 and alive == "alive"
    assert err.count("RuntimeWarning: the stream to") == 1 and "has ended: " in err
    assert live(path)[1] > 2000 and int(size) > 0
    assert not info(path)["complete"] and info(path)["damaged_chunks"] == 0


def test_a_small_file_system_ends_only_the_stream(run, tmp_path):
    folder = tmp_path / "small"
    folder.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "none", folder],
                                           check=False, capture_output=True).returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        status, out, err = run(FULL_DISK.format(limit=""), folder / "memory.wick")
        assert status == 0 and out.split()[1] == "alive"
        assert "no space left on device" in err and err.count("RuntimeWarning") == 1
        assert live(folder / "memory.wick")[1] > 2000
    finally:
        subprocess.run(["umount", folder], check=True)


def test_lost_events_are_counted_and_do_not_leave_errors(run, path):
    status, out, err = run("""
tracemalloc.configure(ring_buffer_kb=32)
tracemalloc.start(5)
stream = tracemalloc.stream(path, every=60)
fill(20000)
stream.flush()
fill(20000)
del kept[:15000]
stream.close()
print(traced(), stream.lost)
""", path)
    assert (status, err) == (0, "")
    size, lost = map(int, out.split())
    assert lost > 1000 and info(path)["lost"] == lost
    assert_live(path, size)


def test_clearing_and_marks_are_in_the_file(run, path):
    status, out, err = run("""
tracemalloc.start(5)
stream = tracemalloc.stream(path, every=60)
fill(5000)
tracemalloc.mark("half way")
tracemalloc.clear_traces()
del kept[:]
fill(100)
stream.close()
print(traced())
""", path)
    assert (status, err) == (0, "")
    assert_live(path, out)
    marks = [json.loads(line) for line in wick("export", "--format", "samples", path).splitlines()]
    assert [one["labels"] for one in marks] == [{"mark": "half way"}]


def test_blocks_of_other_domains_are_in_the_file(run, path):
    """PyTraceMalloc_Track(): also at an address that another domain has, and at none."""
    status, _, err = run("""
import ctypes
track = ctypes.pythonapi.PyTraceMalloc_Track
untrack = ctypes.pythonapi.PyTraceMalloc_Untrack
track.argtypes = ctypes.c_uint, ctypes.c_size_t, ctypes.c_size_t
untrack.argtypes = ctypes.c_uint, ctypes.c_size_t
tracemalloc.start(5)
track(77, 0x5000, 1000)
track(77, 0x6000, 1)
stream = tracemalloc.stream(path, every=60)
for domain, address, size in (77, 0x7000, 200), (88, 0x5000, 50), (88, 0, 7), (88, 2**64 - 1, 9), (88, 0x9000, 3):
    track(domain, address, size)
untrack(77, 0x6000)
untrack(88, 0x9000)
stream.close()
loaded = tracemalloc.Snapshot.load(path)
assert {one.traceback.key: one.size for one in loaded.statistics("domain") if one.traceback.key} == \
    {77: 1200, 88: 66}, loaded.statistics("domain")
""", path)
    assert (status, err) == (0, "")
    assert "[domain 77]" in wick("export", "--format", "folded", path)


def test_stopping_completes_it(run, path):
    status, out, err = run("""
tracemalloc.start(5)
stream = tracemalloc.stream(path, every=60)
fill(5000)
print(traced())
tracemalloc.stop()
assert stream.closed and stream.error is None
tracemalloc.start(5)
with tracemalloc.stream(path + ".again", every=60):
    fill(100)
""", path)
    assert (status, err) == (0, "")
    assert_live(path, out)
    assert info(path)["complete"] and info(f"{path}.again")["complete"]


@pytest.mark.parametrize("kilobytes", [1, 64, 0])
def test_the_program_waits_for_the_stream_and_nothing_is_lost(run, path, kilobytes):
    """However small the buffer is: one call of C code may allocate more than it holds."""
    status, out, err = run(f"""
signal.alarm(100)
tracemalloc.configure(lossy=False, ring_buffer_kb={kilobytes})
tracemalloc.start(5)
stream = tracemalloc.stream(path, every=0.05)
other = tracemalloc.stream(path + ".other", every=60)

def work(kept):
    for i in range(3):
        fill(1000)
        kept.append(list(map(str, range(1000, 10000))))
        list(map(str, range(20000)))

threads = [threading.Thread(target=work, args=([],))]
for thread in threads:
    thread.start()
work(kept)
stream.flush()
for thread in threads:
    thread.join()
size = tracemalloc.get_stats()["own_bytes"]
other.close()
stream.close()
assert tracemalloc.get_stats()["own_bytes"] <= size  # the buffer has its size again
print(traced(), stream.lost, other.lost)
""", path)
    assert (status, err) == (0, "")
    size, *lost = out.split()
    assert lost == ["0", "0"]
    for name in (path, f"{path}.other"):
        assert_live(name, size)
        assert info(name)["lost"] == 0
        totals = json.loads(wick("report", "--by", "site", "--format", "json", name))["totals"]
        assert totals["freed"]["blocks"] > 100_000


def test_a_buffer_that_cannot_grow_counts_what_it_loses(run, path):
    status, out, err = run("""
tracemalloc.configure(lossy=False, ring_buffer_kb=1)
tracemalloc.start(5)
stream = tracemalloc.stream(path, every=60)
for i in range(200):
    stream._tracer._fail_request(1)
    fill(500)
    stream._tracer._fail_request(0)
stream.close()
print(traced(), stream.lost)
""", path)
    assert (status, err) == (0, "")
    size, lost = map(int, out.split())
    assert lost == info(path)["lost"]
    assert_live(path, size)


@pytest.mark.parametrize("sampling", ["0.5", "5000"])
def test_sampled_streams_have_estimates(run, path, sampling):
    status, out, err = run(f"""
tracemalloc.start(5, sampling={sampling})
stream = tracemalloc.stream(path, every=60)
fill(50000)
stream.close()
print(traced())
""", path)
    assert (status, err) == (0, "")
    assert live(path)[0] == pytest.approx(int(out), rel=0.02)


@pytest.mark.parametrize("workload", ["json", "objects", "threads", "pickle", "asyncio"])
def test_an_event_takes_at_most_three_bytes(run, path, tmp_path, workload):
    # Interpreters of other releases do not see this folder; the program's own is searched first.
    shutil.copy(ROOT / "bench/python_workloads.py", tmp_path)
    status, _, err = run(f"""
import python_workloads
tracemalloc.start(25)
with tracemalloc.stream(path):
    python_workloads.WORKLOADS[{workload!r}](0.3)
""", path)
    assert (status, err) == (0, "")
    events = info(path)["heap_events"]
    assert events > 50_000
    assert path.stat().st_size / events <= 3


def test_every_command_reads_it(run, path, tmp_path):
    status, _, err = run("""
tracemalloc.start(5)
with tracemalloc.stream(path, every=0.05):
    for i in range(5):
        fill(1000)
        tracemalloc.mark(f"round {i}")
        time.sleep(0.02)
""", path)
    assert (status, err) == (0, "")
    for words in (["info"], ["report"], ["report", "--by", "site"], ["report", "--tree"], ["leaks"], ["timeline"],
                  ["report", "--event", "inuse_space"]):
        assert wick(*words, path), words
    assert "kept.append" in wick("annotate", "--source-path", tmp_path, path, "fill")
    assert "fill" in wick("report", path) and "fill" in wick("leaks", path)
    for command, name in (("flame", "x.svg"), ("flame", "x.html"), ("heap-report", "heap.html")):
        wick(command, "-o", tmp_path / name, path)
        assert (tmp_path / name).stat().st_size > 10_000
    assert "fill" in (tmp_path / "x.svg").read_text(encoding="utf-8")
    for form in ("folded", "pprof", "speedscope", "perfetto", "json", "otlp", "samples"):
        wick("export", "--format", form, "-o", tmp_path / form, path)
        assert (tmp_path / form).stat().st_size > 0
    wick("diff", path, path)
    wick("merge", "-o", tmp_path / "merged.wick", path, path)
    assert live(tmp_path / "merged.wick") == tuple(2 * number for number in live(path))
    assert WICK.exists()


# Code that interrupts a thread in the middle of writing calls us again. A hang ends after a while, by a signal.
ALONE = """
import wick._stream
wick._stream.SHORTEST_WAIT = 3600  # the threads of streams sleep: the main thread alone writes
"""
INTERRUPTED = """
signal.alarm(60)
warnings.simplefilter("ignore", DeprecationWarning)
calls = []
inside = []

class Dying:
    def __del__(self):
        action()

def once():
    if not inside or calls:
        return
    calls.append(threading.current_thread() is threading.main_thread())
    {way}

def action():
    {action}

def shown(frame):
    once()
    return True

signal.signal(signal.SIGUSR1, lambda *_: action())
tracemalloc.set_filter(shown)
tracemalloc.start(5)
stream = tracemalloc.stream(path, every={every})
fill(2000)
inside.append(True)
{trigger}
assert calls, "nothing was interrupted"
"""
WAYS = {"the filter": "action()", "a signal handler": "signal.raise_signal(signal.SIGUSR1)", "a __del__": "Dying()"}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("action", ["stream.flush()", "stream.close()", "tracemalloc.stop()"])
@pytest.mark.parametrize("trigger", ["stream.flush()", "stream.close()"])
def test_a_call_from_inside_a_flush_does_not_wait_for_itself(run, path, way, action, trigger):
    status, out, err = run(ALONE + INTERRUPTED.format(way=WAYS[way], action=action, every=60, trigger=trigger) + """
assert stream.closed == (ACTION != "stream.flush()" or TRIGGER == "stream.close()")
assert tracemalloc.is_tracing() == (ACTION != "tracemalloc.stop()")
assert stream.error is None
if tracemalloc.is_tracing():
    stream.close()
print("end")
""".replace("ACTION", repr(action)).replace("TRIGGER", repr(trigger)), path)
    assert (status, out, err) == (0, "end\n", "")
    assert info(path)["complete"] and live(path)[1] >= 2000


@pytest.mark.parametrize("action", ["stream.flush()", "stream.close()", "tracemalloc.stop()"])
def test_a_call_from_the_thread_of_the_stream_does_not_wait_for_itself(run, path, action):
    status, out, err = run(INTERRUPTED.format(way="action()", action=action, every=0.01, trigger="""
while not calls:
    time.sleep(0.001)
    kept.append([bytes(1) for _ in range(3)])
""") + f"""
assert calls == [False]
while {action!r} != "stream.flush()" and not stream.closed:
    time.sleep(0.001)
while {action!r} == "tracemalloc.stop()" and tracemalloc.is_tracing():
    time.sleep(0.001)
stream.close()
assert stream.error is None
print("end")
""", path)
    assert (status, out, err) == (0, "end\n", "")
    assert info(path)["complete"] and live(path)[1] >= 2000


def test_two_streams_that_call_each_other_do_not_wait_for_each_other(run, path):
    status, out, err = run(ALONE + """
signal.alarm(60)
streams, threads, asked, waiting = [], [], [], threading.Barrier(2)

def shown(frame):
    if threading.current_thread() in threads and threading.current_thread() not in asked:
        asked.append(threading.current_thread())
        waiting.wait(30)  # each thread is now writing a stream
        for stream in streams:
            stream.flush()
        waiting.wait(30)
    return True

def one():
    kept.append(bytearray(10)); streams[0].flush()

def two():
    kept.append(bytearray(10)); streams[1].flush()

tracemalloc.set_filter(shown)
tracemalloc.start(5)
streams += [tracemalloc.stream(path + name, every=60) for name in ("a", "b")]
threads += [threading.Thread(target=function) for function in (one, two)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(asked) == 2
tracemalloc.stop()
assert all(stream.closed and stream.error is None for stream in streams)
print("end")
""", path)
    assert (status, out, err) == (0, "end\n", "")
    assert info(f"{path}a")["complete"] and info(f"{path}b")["complete"]


@pytest.mark.parametrize("trigger", ["stream.flush()", "stream.close()", "tracemalloc.stream(path + '.2')"])
def test_a_fork_in_the_middle_of_a_flush_leaves_the_file_to_the_parent(run, path, trigger):
    status, out, err = run(ALONE + INTERRUPTED.format(way="action()", action="children.append(os.fork())", every=60,
                                                      trigger="children = []\n" + trigger) + """
if children == [0]:
    fill(50000)
    stream.close()
    tracemalloc.stop()
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 7
stream.close()
print(traced())
""", path)
    assert (status, err) == (0, "")
    assert_live(path, out)
    assert info(path)["complete"]


def test_forks_while_the_stream_is_written_do_no_harm(run, path):
    status, out, err = run("""
signal.alarm(60)
warnings.simplefilter("ignore", DeprecationWarning)
tracemalloc.start(5)
stream = tracemalloc.stream(path, every=0.01)
for i in range(30):
    fill(1000)
    child = os.fork()
    if child == 0:
        fill(100)
        stream.close()
        tracemalloc.stop()
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
stream.close()
print(traced())
""", path)
    assert (status, err) == (0, "")
    assert_live(path, out)
    assert info(path)["complete"]


def test_an_interrupted_flush_does_not_end_the_stream(run, path):
    status, out, err = run(ALONE + """
tracemalloc.start(5)
interrupted = []

def shown(frame):
    if frame.function == "fill" and not interrupted:
        interrupted.append(True)
        signal.raise_signal(signal.SIGINT)
    return True

tracemalloc.set_filter(shown)
stream = tracemalloc.stream(path, every=60)
fill(2000)
try:
    stream.flush()
except KeyboardInterrupt:
    print("interrupted")
fill(1000)
stream.close()
print(traced())
""", path)
    assert (status, err) == (0, "") and out.startswith("interrupted\n")
    assert_live(path, out.split()[1])
    assert info(path)["complete"]

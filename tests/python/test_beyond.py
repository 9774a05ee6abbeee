# SPDX-License-Identifier: BSD-2-Clause
"""What wick.tracemalloc has beyond the standard module."""
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def test_sampled_statistics_are_unbiased_and_know_their_error(check):
    """The mean of many estimates is within six standard errors of the truth. All blocks are small: a large one
    that is never sampled would be missing in the errors too."""
    check("""
import math
import wick.tracemalloc as t
TRUE_COUNT, SIZE = 4000, 200
for sampling in (0.1, 4096):
    estimates, variances = [], []
    for _ in range(25):
        kept = [None] * TRUE_COUNT; t.start(1, sampling=sampling)
        for i in range(TRUE_COUNT): kept[i] = bytearray(SIZE)
        snapshot = t.take_snapshot()
        found = [one for one in snapshot.statistics("lineno") if one.traceback[0].lineno == 9]
        assert found and found[0].size_error > 0 and found[0].count_error > 0
        current, _ = t.get_traced_memory()
        t.stop()
        del kept
        estimates.append(found[0].size)
        variances.append(found[0].size_error ** 2)
        assert isinstance(found[0].size, int) and isinstance(found[0].count, int)
    kept = [None] * TRUE_COUNT; t.start(1)
    for i in range(TRUE_COUNT): kept[i] = bytearray(SIZE)
    truth = t.take_snapshot()
    exact = [one for one in truth.statistics("lineno") if one.traceback[0].lineno == 20][0]
    t.stop()
    assert exact.size_error == exact.count_error == 0
    mean = sum(estimates) / len(estimates)
    error = math.sqrt(sum(variances)) / len(estimates)
    assert abs(mean - exact.size) < 6 * error, (sampling, mean, exact.size, error)
    # The stated error is that of the estimates.
    spread = math.sqrt(sum((one - mean) ** 2 for one in estimates) / (len(estimates) - 1))
    assert 0.35 < spread / math.sqrt(sum(variances) / len(variances)) < 1.9
""")


def test_a_sampled_snapshot_survives_its_pickle(check):
    check("""
import pickle, wick.tracemalloc as t
t.start(2, sampling=0.3)
kept = [bytearray(n) for n in range(2000)]
snapshot = t.take_snapshot()
t.stop()
snapshot.dump("held")
loaded = t.Snapshot.load("held")
for key in ("lineno", "traceback", "thread", "domain", "interpreter"):
    first, again = snapshot.statistics(key), loaded.statistics(key)
    assert [(str(one), round(one.size_error, 3)) for one in first] == [(str(one), round(one.size_error, 3)) for one in again]
import tracemalloc
assert len(tracemalloc.Snapshot.load("held").traces) == len(snapshot.traces)
""")


def test_a_snapshot_is_lazy_and_its_parts_agree(check):
    check("""
import wick.tracemalloc as t
t.start(5)
kept = [bytearray(n) for n in range(1000)]
snapshot = t.take_snapshot()
assert "_traces" not in vars(snapshot.traces)
total = sum(one.size for one in snapshot.statistics("lineno"))
count = sum(one.count for one in snapshot.statistics("traceback"))
some = snapshot.filter_traces([t.Filter(True, __file__)])
rest = snapshot.filter_traces([t.Filter(False, __file__)])
first = snapshot.traces[0], snapshot.traces[-1]
assert count == len(snapshot.traces)
assert "_traces" not in vars(snapshot.traces)
t.stop()
assert total == sum(trace.size for trace in snapshot.traces)
assert first == (snapshot.traces[0], snapshot.traces[len(snapshot.traces) - 1])
assert len(some.traces) + len(rest.traces) == len(snapshot.traces)
assert all(trace.traceback[-1].filename == __file__ for trace in some.traces)
assert sum(one.size for one in some.statistics("filename")) == sum(trace.size for trace in some.traces)

class Large(t.BaseFilter):
    def _match(self, trace):
        return trace[1] > 500
large = snapshot.filter_traces([Large(True)])
assert large.traces and min(trace.size for trace in large.traces) > 500
try:
    snapshot.traces[len(snapshot.traces)]
except IndexError as error:
    assert str(error) == "list index out of range"
""")


def test_blocks_are_grouped_by_thread_module_domain_and_interpreter(check):
    check("""
import json, threading
import wick.tracemalloc as t
held = []
def work():
    held.append(bytearray(300000)); held.append(threading.get_native_id())
t.start(3)
thread = threading.Thread(target=work, name="the worker")
thread.start(); thread.join()
held.append(json.loads("[" + "1.5," * 5000 + "2]"))
snapshot = t.take_snapshot()
t.stop()
threads = {one.traceback.key: one for one in snapshot.statistics("thread")}
assert threads[held[1]].size >= 300000 and threads[threading.get_native_id()].size >= 5000 * 24
assert str(threads[threading.get_native_id()].traceback) == f"thread {threading.get_native_id()} (MainThread)"
modules = {str(one.traceback): one.size for one in snapshot.statistics("module")}
assert modules["__main__"] >= 300000, modules
assert modules["json.decoder"] >= 5000 * 24, modules
domains = snapshot.statistics("domain")
assert domains[0].traceback.key == 0 and domains[0].traceback.kind == "domain"
interpreters = snapshot.statistics("interpreter")
assert [one.traceback.key for one in interpreters] == [0]
total = sum(one.size for one in snapshot.statistics("lineno"))
for key in ("thread", "module", "domain", "interpreter"):
    assert sum(one.size for one in snapshot.statistics(key)) == total
    assert all(one.size_diff == 0 for one in snapshot.compare_to(snapshot, key))
""")


def test_events_marks_and_ranges_of_time(check):
    check("""
import time
import wick.tracemalloc as t
t.configure(ring_buffer_kb=4096)
t.start(5)
before = time.monotonic()
first = bytearray(111111)
t.mark("middle")
second = bytearray(222222)
gone = bytearray(333333)
del gone
t.mark("end")
after = time.monotonic()
later = bytearray(444444)
events = list(t.iter_events(before, after))
assert all(before <= event.time <= after + 1e-9 for event in events)
sizes = [(event.kind, event.size) for event in events if event.size > 100000]
assert sizes == [("alloc", 111112), ("alloc", 222223), ("alloc", 333334), ("free", 333334)], sizes
assert [event.name for event in events if event.kind == "mark"] == ["middle", "end"]
assert [event.traceback[-1].lineno for event in events if event.size > 100000][:3] == [7, 9, 10]
assert "<Event alloc time=" in repr(events[0]) and "name='middle'" in repr([e for e in events if e.name][0])
def lines(**times):
    return {one.traceback[0].lineno: one.size // 1000 for one in t.statistics("lineno", **times)
            if one.traceback[0].filename == __file__ and one.size > 100000}
assert lines(from_ts="middle", to_ts="end") == {9: 222}
assert lines(from_ts=before, to_ts="middle") == {7: 111}
assert lines(from_ts=before, to_ts=after) == {7: 111, 9: 222}
assert lines(from_ts=after) == {14: 444}
for wrong in ("unknown", [], float("nan"), True):
    try:
        t.iter_events(wrong)
    except (ValueError, TypeError) as error:
        assert str(error)
    else:
        raise AssertionError(wrong)
t.stop()
""")


def test_events_that_are_not_kept_raise_with_the_remedy(check):
    check("""
import wick.tracemalloc as t
t.start()
for call in (lambda: t.iter_events(), lambda: t.statistics("lineno", from_ts=0)):
    try:
        call()
    except RuntimeError as error:
        assert "configure(ring_buffer_kb=" in str(error) and "before start()" in str(error)
    else:
        raise AssertionError
""")


def test_a_filter_is_asked_once_for_each_stack_and_hides_stacks(check):
    check("""
import wick.tracemalloc as t
asked = []
def shown(frame):
    asked.append((frame.filename, frame.lineno, frame.function))
    return frame.lineno != 9
t.set_filter(shown)
t.start(1)
hidden = [bytearray(1000) for _ in range(100)]; total = t.get_traced_memory()[0]
visible = [bytearray(1000) for _ in range(100)]
snapshot = t.take_snapshot()
lines = {one.traceback[0].lineno for one in snapshot.statistics("lineno") if one.traceback[0].filename == __file__}
assert 9 not in lines and 10 in lines, lines
assert total > 100000
assert all(trace.traceback[0].lineno != 9 for trace in snapshot.traces)
mine = [one for one in asked if one[0] == __file__]
assert len(mine) == len(set(mine)) and any(one[2] is not None for one in mine), mine
count = len(asked)
snapshot.statistics("traceback"); t.take_snapshot().statistics("lineno")
assert len([one for one in asked if one[1:2] == (10,) and one[0] == __file__]) <= 2
t.set_filter(None)
lines = {one.traceback[0].lineno for one in t.take_snapshot().statistics("lineno")}
assert 9 in lines
try:
    t.set_filter(3)
except TypeError as error:
    assert str(error) == "the filter must be a function or None, not int"
""")


def test_frames_know_their_function(check):
    check("""
import wick.tracemalloc as t
class Maker:
    def make(self):
        return bytearray(50000)
t.start(5)
kept = Maker().make()
largest = t.take_snapshot().statistics("traceback")[0]
names = [frame.function for frame in largest.traceback]
assert names[0] == "<module>" and names[-1] in ("Maker.make", "make"), names
assert t.Frame(("a.py", 1)).function is None
assert largest.traceback[-1] == t.Frame((__file__, 5))
""")


def test_frames_know_their_function_wherever_they_are(check):
    check("""
import pickle
import wick.tracemalloc as t
class Maker:
    def make(self):
        return bytearray(50000)
t.configure(ring_buffer_kb=1024)
t.start(5)
kept = Maker().make()
snapshot = t.take_snapshot()
events = [event for event in t.iter_events() if event.size > 50000]
def known(traceback):
    names = [frame.function for frame in traceback]
    return names[0] == "<module>" and names[-1] in ("Maker.make", "make") and traceback[:][-1].function == names[-1]
assert known(t.get_object_traceback(kept))
assert known(events[0].traceback)
for one in (snapshot, snapshot.filter_traces([t.Filter(True, __file__)]), pickle.loads(pickle.dumps(snapshot))):
    assert any(known(trace.traceback) for trace in one.traces)
    assert any(known(trace.traceback) for trace in one.traces[:])
    assert known(one.statistics("traceback")[0].traceback)
    assert known(one.compare_to(snapshot, "traceback")[0].traceback)
    for key in ("lineno",), ("lineno", True):
        names = {str(line.traceback): line.traceback[0].function for line in one.statistics(*key)}
        assert names[f"{__file__}:6"] in ("Maker.make", "make"), names
        assert key == ("lineno",) or names[f"{__file__}:9"] == "<module>", names
for copied in (pickle.loads(pickle.dumps(t.get_object_traceback(kept))),
               pickle.loads(pickle.dumps(snapshot.statistics("traceback")[0])).traceback,
               pickle.loads(pickle.dumps([trace for trace in snapshot.traces if trace.size > 50000][0])).traceback):
    assert known(copied)
assert pickle.loads(pickle.dumps(kept and t.get_object_traceback(kept)[-1])).function in ("Maker.make", "make")
""")


def test_traces_of_samples_keep_their_stacks_when_results_are_computed(check):
    check("""
import wick.tracemalloc as t
def one(n): return bytearray(n)
def two(n): return bytearray(n)
t.start(3, sampling=0.5)
kept = [(one if n % 2 else two)(n) for n in range(2, 2000)]
snapshot = t.take_snapshot()
t.stop()
def names():
    return [(trace.size, trace.traceback[-1].function) for trace in snapshot.traces]
before = names()
snapshot.statistics("lineno")  # sorts the blocks of the tracer's snapshot
assert names() == before
assert {name for size, name in before if 57 < size < 1999} <= {"one", "two"}, before
snapshot.dump("held")
loaded = t.Snapshot.load("held")
assert [(trace.size, trace.traceback[-1].function) for trace in loaded.traces] == before
assert [str(line) for line in loaded.statistics("traceback")] == [str(line) for line in snapshot.statistics("traceback")]
""")


def test_statistics_about_the_tracer(check):
    check("""
import wick.tracemalloc as t
t.start(3)
kept = [bytearray(10) for _ in range(1000)]
stats = t.get_stats()
for name in ("events", "hook_ns", "dropped", "stacks", "sites", "live_blocks", "own_bytes", "code_objects"):
    assert stats[name] >= 0, (name, stats)
assert stats["events"] >= stats["live_blocks"] >= 1000 and stats["dropped"] == 0 and stats["sites"] >= 1
""")


SETTINGS = [
    ("sampling_bytes=-1", "ValueError: sampling_bytes must be 0 or more, not -1"),
    ("sampling_bytes='x'", "TypeError: sampling_bytes must be a number, not str"),
    ("sampling_bytes=float('nan')", "ValueError: sampling_bytes must be 0 or more, not nan"),
    ("sampling_probability=1", "ValueError: sampling_probability must be in range [0; 1), not 1"),
    ("sampling_bytes=1, sampling_probability=0.5", "ValueError: give sampling_bytes or sampling_probability, not both"),
    ("ring_buffer_kb=1.5", "TypeError: 'float' object cannot be interpreted as an integer"),
    ("max_stacks=-1", "ValueError: max_stacks must be in range [0; 4294967296), not -1"),
    ("ring_buffer_kb=1 << 53", "ValueError: ring_buffer_kb must be in range [0; 1099511627776), not 9007199254740992"),
    ("unknown=1", "TypeError: configure() got an unexpected keyword argument 'unknown'"),
]


@pytest.mark.parametrize("arguments, message", SETTINGS)
def test_wrong_settings_raise_and_change_nothing(check, arguments, message):
    printed = check(f"""
import wick.tracemalloc as t
before = dict(vars(t._control.settings))
try:
    t.configure({arguments})
except Exception as error:
    print(type(error).__name__ + ": " + str(error))
assert vars(t._control.settings) == before
""")
    assert printed.strip() == message


def test_settings_do_not_change_while_tracing(check):
    check("""
import wick.tracemalloc as t
t.configure(sampling_bytes=1000, max_stacks=1000, lossy=False)
t.configure(sampling_probability=0.5)
assert t._control.settings.sampling_bytes == 0
t.configure(sampling_probability=0)
t.start()
try:
    t.configure(lossy=True)
except RuntimeError as error:
    assert "stop()" in str(error)
else:
    raise AssertionError
for arguments, message in (({"sampling": -1}, "sampling must be 0 or more, not -1"),
                           ({"export": "x"}, "unknown export format: 'x' (there are wick, pprof, speedscope, perfetto, json, html)")):
    try:
        t.start(**arguments)
    except ValueError as error:
        assert str(error) == message, error
    else:
        raise AssertionError(arguments)
""")


def test_the_examples_of_the_page_work(check):
    page = (ROOT / "docs/user/python-memory.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
    assert len(examples) >= 2
    for example in examples:
        assert "check.py:" in check(example)


def test_a_second_start_has_events_and_stacks_of_its_own(check):
    check("""
import wick.tracemalloc as t
t.configure(ring_buffer_kb=1024)
t.start(); kept = [bytes(n) for n in range(500)]; t.stop()
t.configure(max_stacks=200)
t.start()
kept = [bytes(5000) for _ in range(50)]
assert [one for one in t.statistics("lineno") if one.traceback[0].lineno == 7]
assert not list(t.iter_events(float("inf"))) and list(t.iter_events(None, float("inf")))
assert t.take_snapshot().statistics("lineno")[0].traceback[0].filename != "<unknown>"
t.stop()
for name in ("a\\0b.wick", "a\\0b.json"):
    t.start()
    try:
        t.dump(name)
    except ValueError as error:
        assert str(error) == "embedded null byte"
    else:
        raise AssertionError(name)
""")

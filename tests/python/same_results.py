# SPDX-License-Identifier: BSD-2-Clause
"""Compares wick.tracemalloc with the standard module on the same input; prints "ok" or what differs.

Run by test_same_results.py, in the interpreter that is tested.
"""
import copy
import io
import os
import pickle
import random
import sys
import tempfile
import tracemalloc as standard

import wick.tracemalloc as ours

FILES = ("a.py", "b.py", "/usr/lib/python3/c.pyc", "<unknown>", "é.py")


def random_traces(random_, count):
    """Traces as _get_traces() returns them; tracebacks are shared, as the C modules share them."""
    stacks = []
    for _ in range(12):
        depth = random_.randint(1, 5)
        frames = tuple((random_.choice(FILES), random_.randint(0, 3)) for _ in range(depth))
        stacks.append((frames, depth + random_.randint(0, 2)))
    return [(random_.choice((0, 0, 0, 5)), random_.randint(0, 70), *random_.choice(stacks)) for _ in range(count)]


def shown(value):
    """Everything that can be seen of a result."""
    if isinstance(value, list):
        return [shown(one) for one in value]
    kind = type(value).__name__
    return kind, str(value), repr(value)


def outcome(function):
    """What a call returned or raised, as text."""
    try:
        return shown(function())
    except Exception as error:
        return type(error).__name__, str(error)


def check(what, make):
    """make(module) must give the same for both modules."""
    expected, got = outcome(lambda: make(standard)), outcome(lambda: make(ours))
    if expected != got:
        sys.exit(f"{what}\n  standard: {expected}\n  wick:     {got}")


def check_statistics(seed):
    source = random.Random(seed)
    traces, older = random_traces(source, 300), random_traces(source, 200)
    traces += older[:50]
    filters = [("Filter", True, "*.py"), ("Filter", False, "b.py", 1), ("Filter", True, "c.py", None, True),
               ("Filter", False, "a.py", None, True), ("Filter", True, "*", None, False, 5),
               ("Filter", False, "*", None, True, 5), ("DomainFilter", True, 5), ("DomainFilter", False, 0)]
    chosen = source.sample(filters, source.randint(0, 3))

    def snapshot(module, listed):
        made = module.Snapshot(list(listed), 5)
        return made.filter_traces([getattr(module, name)(*words) for name, *words in chosen])

    for key_type in ("traceback", "filename", "lineno"):
        for cumulative in (False, True):
            check(f"statistics {seed} {chosen} {key_type} {cumulative}",
                  lambda module: snapshot(module, traces).statistics(key_type, cumulative))
            check(f"compare_to {seed} {chosen} {key_type} {cumulative}",
                  lambda module: snapshot(module, traces).compare_to(
                      snapshot(module, older), key_type, cumulative))
    check(f"traces {seed}", lambda module: list(snapshot(module, traces).traces))


def check_wrong_arguments():
    snapshot = [(0, 10, (("a.py", 1),), 1)]
    calls = [
        lambda module: module.start("x"), lambda module: module.start(1.5), lambda module: module.start(None),
        lambda module: module.start(0), lambda module: module.start(-1), lambda module: module.start(65536),
        lambda module: module.start(2**31), lambda module: module.start(2**70), lambda module: module.start(b""),
        lambda module: module.start([]), lambda module: module.start(-2**70),
        lambda module: module.stop(1), lambda module: module.stop(a=1), lambda module: module.is_tracing(0),
        lambda module: module.clear_traces(0), lambda module: module.reset_peak(None),
        lambda module: module.get_traced_memory("x"), lambda module: module.get_traceback_limit(1, 2),
        lambda module: module.get_tracemalloc_memory(1), lambda module: module._get_traces(1),
        lambda module: module._get_object_traceback(), lambda module: module._get_object_traceback(1, 2),
        lambda module: module.get_object_traceback(), lambda module: module.get_object_traceback(1, 2),
        lambda module: module.take_snapshot(1), lambda module: module.take_snapshot(),
        lambda module: module.Snapshot(), lambda module: module.Snapshot([]), lambda module: module.Snapshot(1, 2, 3),
        lambda module: module.Snapshot(snapshot, 1).statistics(),
        lambda module: module.Snapshot(snapshot, 1).statistics("unknown"),
        lambda module: module.Snapshot(snapshot, 1).statistics(None),
        lambda module: module.Snapshot(snapshot, 1).statistics(("a", "b")),
        lambda module: module.Snapshot(snapshot, 1).statistics("traceback", True),
        lambda module: module.Snapshot(snapshot, 1).statistics("lineno", False, 3),
        lambda module: module.Snapshot(snapshot, 1).compare_to(),
        lambda module: module.Snapshot(snapshot, 1).compare_to(None, "unknown"),
        lambda module: module.Snapshot(snapshot, 1).compare_to(None, "lineno"),
        lambda module: module.Snapshot(snapshot, 1).compare_to(5, "traceback", True),
        lambda module: module.Snapshot(snapshot, 1).filter_traces(None),
        lambda module: module.Snapshot(snapshot, 1).filter_traces(module.Filter(True, "*")),
        lambda module: module.Snapshot(snapshot, 1).filter_traces([1]),
        lambda module: module.Snapshot(snapshot, 1).filter_traces([module.BaseFilter(True)]),
        lambda module: module.Snapshot(snapshot, 1).dump(),
        lambda module: module.Snapshot(snapshot, 1).dump("/nonexistent/file"),
        lambda module: module.Snapshot.load("/nonexistent/file"), lambda module: module.Snapshot.load(),
        lambda module: module.Snapshot(snapshot, 1).traces[1], lambda module: module.Snapshot(snapshot, 1).traces["a"],
        lambda module: module.Snapshot(3, 1).statistics("lineno"),
        lambda module: 3 in module.Snapshot(snapshot, 1).traces,
        lambda module: module.Filter(), lambda module: module.Filter(True), lambda module: module.Filter(True, None),
        lambda module: module.Filter(True, 5), lambda module: module.DomainFilter(True),
        lambda module: module.BaseFilter(), lambda module: module.BaseFilter(True)._match(None),
        lambda module: module.Frame(), lambda module: module.Frame(3).filename, lambda module: module.Frame(()).lineno,
        lambda module: module.Frame(("a", 1)) < 3, lambda module: module.Frame(("a", 1)) >= None,
        lambda module: module.Traceback(), lambda module: module.Traceback(3), lambda module: module.Traceback(()),
        lambda module: str(module.Traceback(())), lambda module: module.Traceback((("a", 1),))[1],
        lambda module: module.Traceback((("a", 1),))["x"], lambda module: module.Traceback((("a", 1),)) < 3,
        lambda module: 3 in module.Traceback((("a", 1),)), lambda module: module.Traceback((("a", 1),)).format("x"),
        lambda module: module.Trace(), lambda module: module.Trace(3).size, lambda module: module.Trace((1, 2)).traceback,
        lambda module: module.Statistic(), lambda module: module.Statistic(1, 2), lambda module: module.Statistic(1, 2, 3),
        lambda module: module.StatisticDiff(1), lambda module: module.StatisticDiff(1, 2, 3, 4, 5),
        lambda module: module.Frame(("a", 1)).filename.nothing,
    ]
    for number, call in enumerate(calls):
        check(f"wrong arguments, call {number} (line {call.__code__.co_firstlineno})", call)


def check_values():
    frames = (("b.py", 4), ("a.py", 2))
    calls = [
        lambda module: module.Frame(("a.py", 3)), lambda module: module.Traceback(frames),
        lambda module: module.Traceback(frames, 7), lambda module: module.Traceback(frames, 7).total_nframe,
        lambda module: list(module.Traceback(frames)), lambda module: module.Traceback(frames)[0:2],
        lambda module: module.Traceback(frames)[-1], lambda module: len(module.Traceback(frames)),
        lambda module: module.Frame(("a.py", 2)) in module.Traceback(frames),
        lambda module: module.Traceback(frames) < module.Traceback(frames[:1]),
        lambda module: module.Traceback(frames) >= module.Traceback(frames[1:]),
        lambda module: module.Frame(("a", 1)) < module.Frame(("a", 2)),
        lambda module: module.Frame(("a", 1)) == ("a", 1), lambda module: module.Trace((0, 2000, frames, 2)),
        lambda module: hash(module.Trace((0, 2000, frames, 2))), lambda module: hash(module.Traceback(frames)),
        lambda module: hash(module.Frame(("a", 1))), lambda module: hash(module.Statistic(1, 2, 3)),
        lambda module: hash(module.StatisticDiff(1, 2, 3, 4, 5)),
        lambda module: module.Statistic(module.Traceback(frames), 5 << 20, 0),
        lambda module: module.Statistic(module.Traceback(frames), 5 << 20, 7) ==
        module.Statistic(module.Traceback(frames), 5 << 20, 7),
        lambda module: module.StatisticDiff(module.Traceback(frames), 10240, -1024, 3, -1),
        lambda module: module.StatisticDiff(module.Traceback(frames), 1 << 50, 99 << 40, 0, 2),
        lambda module: module.Snapshot([(0, 1, frames, 2)] * 3, 2).traces,
        lambda module: module.Traceback(((ours.__file__, 3), (ours.__file__, 2))).format(),
        lambda module: module.Traceback(frames).format(limit=1), lambda module: module.Traceback(frames).format(-1),
        lambda module: module.Traceback(frames).format(0), lambda module: module.Traceback(frames).format(1, True),
        lambda module: module.Traceback(frames).format(most_recent_first=True),
        *[lambda module, size=size, sign=sign: module._format_size(size, sign)
          for size in (0, 1, -5, 99, 10239, 10240, 102399, 102400, 1 << 24, -1 << 33, 1 << 47, 1e17, 99.96 * 1024)
          for sign in (False, True)],
    ]
    for number, call in enumerate(calls):
        check(f"values, call {number} (line {call.__code__.co_firstlineno})", call)


def check_pickles():
    traces = random_traces(random.Random(1), 100)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "snapshot")
        for writer in (standard, ours):
            made = writer.Snapshot(traces, 3)
            made.extra = {"note": [1, 2]}
            made.dump(path)
            for reader in (standard, ours):
                loaded = reader.Snapshot.load(path)
                assert type(loaded) is reader.Snapshot, (writer, reader, type(loaded))
                assert loaded.traces._traces == traces and loaded.traceback_limit == 3
                assert loaded.extra == {"note": [1, 2]}
                assert shown(loaded.statistics("lineno")) == shown(made.statistics("lineno"))
        old = standard.Snapshot(traces[:50], 3)
        new = ours.Snapshot(traces, 3)
        assert shown(new.compare_to(old, "lineno")) == \
            shown(standard.Snapshot(traces, 3).compare_to(old, "lineno"))
    for one in (ours.Frame(("a", 1)), ours.Traceback((("a", 1),), 4), ours.Trace(traces[0]),
                ours.Statistic(ours.Traceback((("a", 1),)), 2, 3), ours.Snapshot(traces, 3).traces):
        for again in (pickle.loads(pickle.dumps(one)), copy.copy(one), copy.deepcopy(one)):
            assert again == one and repr(again) == repr(one)
    try:
        ours._pickles._Unpickler(io.BytesIO(b"nonsense")).load()
    except pickle.UnpicklingError:
        pass


def main():
    for seed in range(40):
        check_statistics(seed)
    check_wrong_arguments()
    check_values()
    check_pickles()
    assert not standard.is_tracing() and not ours.is_tracing()
    missing = [name for name in dir(standard) if not name.startswith("__") and not hasattr(ours, name)
               and name not in ("_compare_grouped_stats", "fnmatch", "os", "pickle", "total_ordering", "Iterable", "Sequence")]
    assert not missing, missing
    print("ok")


main()

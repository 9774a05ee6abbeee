# SPDX-License-Identifier: BSD-2-Clause
"""How much memory stacks take, when it is given back, and who keeps them."""
import textwrap

import pytest

# work(n) allocates from n different stacks of 20 calls; they are kept if `kept` is a list.
HEAD = """
import ctypes, gc, sys, threading
import wick.tracemalloc as t
from wick import _tracer

def descend(level, path):
    if level == 0:
        return [path]
    if path & 1:
        return descend(level - 1, path >> 1)
    return descend(level - 1, path >> 1)

def work(n):
    return [descend(18, path) for path in range(n)]

def resident_kb():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4
"""
WAYS = ("25", "25, sampling=0.5", "25, native=True")


def lines(text, **values):
    text = textwrap.dedent(text)
    for name, value in values.items():
        text = text.replace(f"<{name}>", value)
    return HEAD + text


@pytest.mark.parametrize("way", WAYS)
def test_stop_gives_the_memory_of_stacks_back(check, way):
    check(lines("""
        t.start(25)
        t.stop()
        before, resident_before = t.get_tracemalloc_memory(), resident_kb()
        for _ in range(3):
            t.start(<way>)
            work(20000)
            during = t.get_tracemalloc_memory()
            assert t.get_stats()["stacks"] > 5000
            t.stop()
            after = t.get_tracemalloc_memory()
            assert after - before < 500000 < (during - before) / 3, (before, during, after)
            assert t.get_stats()["stacks"] <= 4
        assert resident_kb() - resident_before < 6000, (resident_before, resident_kb())
        """, way=way))


@pytest.mark.parametrize("way", WAYS)
def test_clear_traces_gives_it_back_and_goes_on(check, way):
    check(lines("""
        t.start(<way>)
        before = t.get_tracemalloc_memory()
        for _ in range(3):
            kept = work(20000)
            during = t.get_tracemalloc_memory()
            t.clear_traces()
            after = t.get_tracemalloc_memory()
            assert after - before < 500000 < (during - before) / 3, (before, during, after)
            kept = work(2000)
            found = [one for one in t.take_snapshot().statistics("traceback") if len(one.traceback) > 15]
            assert len(found) > 500, len(found)
            for one in found:
                assert one.traceback[-1].function == "descend", one.traceback
                assert one.traceback[-1].lineno == 8, one.traceback
            del found, one
            t.clear_traces()
        """, way=way))


def test_deep_recursion_takes_little_memory(check):
    """Each depth is a stack of its own, because total_nframe differs; all share their frames."""
    check(lines("""
        def recurse(level):
            return recurse(level - 1) if level else [object()]

        sys.setrecursionlimit(5000)
        t.start(25)
        kept = [recurse(level) for level in range(2000)]
        stats = t.get_stats()
        assert stats["stacks"] > 2000
        assert stats["stack_bytes"] / stats["stacks"] < 150, stats
        """))


def test_a_snapshot_keeps_its_stacks(check):
    check(lines("""
        def other(n):
            return [bytearray(1000) for _ in range(n)]

        t.start(25)
        kept = work(5000)
        snapshot = t.take_snapshot()
        t.stop()
        t.start(5)
        more = other(10)
        other_snapshot = t.take_snapshot()
        t.clear_traces()
        t.stop()
        held = t.get_tracemalloc_memory()
        found = [one for one in snapshot.statistics("traceback") if len(one.traceback) > 15]
        assert len(found) >= 5000, len(found)
        assert {one.traceback[-1].function for one in found} == {"descend"}
        (one,) = [one for one in other_snapshot.statistics("traceback") if one.traceback[-1].function.startswith("other")
                  and one.count > 5]
        assert snapshot.traces[0].traceback
        del found, snapshot, other_snapshot
        gc.collect()
        assert t.get_tracemalloc_memory() >= held - 65536 * 2 # a traceback is still there
        assert one.traceback[0].function == "<module>", one.traceback
        del one
        assert t.get_tracemalloc_memory() < held / 2
        """))


def test_events_keep_their_stacks(check):
    check(lines("""
        t.configure(ring_buffer_kb=1024)
        t.start(25)
        kept = work(100)
        t.clear_traces()
        events = [event for event in t.iter_events() if event.kind == "alloc" and len(event.traceback) > 15]
        t.stop()
        t.configure(ring_buffer_kb=0)
        t.start(3)
        t.stop()
        assert len(events) >= 100
        assert {event.traceback[-1].function for event in events} == {"descend"}
        """))


def test_code_objects_of_dropped_stacks_may_end(check):
    """They still have the number that they had in the tables that are gone."""
    check(lines("""
        def make(name, lines):
            names = {}
            exec(compile("\\n" * lines + f"def {name}():\\n    return [bytes(100) for _ in range(10)]", name, "exec"), names)
            return names[name]

        for drop in (t.clear_traces, lambda: (t.stop(), t.start(3))):
            t.start(3)
            old = [make(f"old{i}", i) for i in range(50)]
            kept = [one() for one in old]
            drop()
            new = [make(f"new{i}", i + 100) for i in range(50)]
            kept = [one() for one in new]
            del old
            gc.collect()
            kept += [one() for one in new]
            snapshot = t.take_snapshot()
            del new
            gc.collect()
            found = {frame.filename: frame for one in snapshot.statistics("traceback") if one.size > 1000
                     for frame in one.traceback if frame.filename.startswith(("old", "new"))}
            assert set(found) == {f"new{i}" for i in range(50)}, sorted(found)
            for i in range(50):
                assert found[f"new{i}"].lineno == i + 102, found[f"new{i}"]
            del snapshot, found
            t.stop()
        """))


@pytest.mark.parametrize("way", WAYS)
def test_threads_allocate_while_stacks_are_dropped(check, way):
    check(lines("""
        stop = False

        def work_without_gil():
            raw = ctypes.CDLL(None)
            raw.PyMem_RawMalloc.restype = ctypes.c_void_p
            raw.PyMem_RawMalloc.argtypes = [ctypes.c_size_t]
            raw.PyMem_RawFree.argtypes = [ctypes.c_void_p]
            while not stop:
                blocks = [raw.PyMem_RawMalloc(100) for _ in range(20)]
                work(50)
                for block in blocks:
                    raw.PyMem_RawFree(block)

        sys.setswitchinterval(0.0001)
        threads = [threading.Thread(target=work_without_gil) for _ in range(3)]
        for thread in threads:
            thread.start()
        for i in range(40):
            t.start(<way>)
            work(50)
            t.clear_traces()
            snapshot = t.take_snapshot() if i % 3 == 0 else None
            t.clear_traces()
            t.stop()
            if snapshot:
                snapshot.statistics("traceback")
        stop = True
        for thread in threads:
            thread.join()
        """, way=way))


@pytest.mark.parametrize("what", ("clear_traces", "stop"))
def test_the_garbage_collector_may_run_code_that_drops_stacks_while_one_is_looked_up(check, what):
    """Tuples of frames are made one by one, and each may start a collection."""
    check(lines("""
        def deep(level):
            return deep(level - 1) if level else bytearray(10)

        def collected(phase, info):
            if armed and phase == "stop":
                calls.append(t.is_tracing())
                t.<what>()

        armed, calls = False, []
        gc.callbacks.append(collected)
        sys.setrecursionlimit(10000)
        for _ in range(20):
            gc.disable()
            t.start(5000)
            block = deep(3000)
            gc.set_threshold(1)
            gc.enable()
            armed = True
            frames = _tracer._get_object_traceback(block)
            armed = False
            assert len(frames) == 3002, len(frames)
            assert {file for file, _ in frames} == {__file__}
            t.stop()
        if sys.version_info < (3, 12):  # later ones do not collect while a function runs
            assert calls
        """, what=what))

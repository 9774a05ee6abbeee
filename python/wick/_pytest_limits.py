# SPDX-License-Identifier: BSD-2-Clause
"""The limits of pytest_plugin.py, measured with wick.tracemalloc."""
import collections
import gc
import itertools
import linecache
import os
import re

import pluggy
import pytest

UNITS = {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}
SHOWN_LINES = 5
EVENTS_KB = 65536  # 2 million events; beyond that the lines of the peak are not known
_marks = itertools.count()


def parse_size(size, marker):
    """Bytes of a number, or of a text such as "24 MB". As in wick, a KB has 1024 bytes."""
    if isinstance(size, (int, float)) and not isinstance(size, bool) and size >= 0:
        return size
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?\s*", size.upper()) if isinstance(size, str) else None
    if not found:
        pytest.fail(f"{marker}: {size!r} is not an amount of memory; write it like '24 MB'", pytrace=False)
    return float(found[1]) * UNITS[found[2] + "B"]


def size_text(size):
    for unit in ("B", "KB", "MB", "GB"):
        if abs(size) < 1024:
            break
        size /= 1024
    else:
        unit = "TB"
    return f"{size:.0f} {unit}" if unit == "B" or size == int(size) else f"{size:.1f} {unit}"


def limit(item, memory, leaks):
    """Makes the item check its limits when it runs."""
    try:
        from . import tracemalloc  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        pytest.fail(f"{(memory or leaks).name} needs wick.tracemalloc: {error}", pytrace=False)
    checks = []
    if memory:
        checks.append(_PeakCheck(tracemalloc, parse_size(*_size_of(memory))))
    warmups = 0
    if leaks:
        checks.append(_LeakCheck(tracemalloc, parse_size(*_size_of(leaks))))
        warmups = leaks.kwargs.get("warmups", leaks.args[1] if len(leaks.args) > 1 else 0)
    original = item.runtest

    def runtest():
        __tracebackhide__ = True  # pylint: disable=unused-variable
        item.runtest = original
        for _ in range(warmups):
            original()
        _run(tracemalloc, original, checks)

    item.runtest = runtest


def _size_of(marker):
    size = marker.kwargs.get("size", marker.args[0] if marker.args else None)
    return size, marker.name


def _run(tracemalloc, test, checks):
    """Runs the test while its memory is traced. A test that fails by itself is not checked."""
    __tracebackhide__ = True  # pylint: disable=unused-variable
    already = tracemalloc.is_tracing()
    if not already:
        _start(tracemalloc)
    try:
        gc.collect()
        for check in checks:
            check.begin()
        test()
        found = [check.end() for check in checks]
    finally:
        if not already:
            tracemalloc.stop()
    problems = [problem for problem in found if problem]
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


def _start(tracemalloc):
    """Traces every block with its line, and keeps the events, which show the lines at the peak."""
    from .tracemalloc._control import settings  # pylint: disable=import-outside-toplevel
    before = settings.ring_buffer_kb
    tracemalloc.configure(ring_buffer_kb=EVENTS_KB)
    try:
        tracemalloc.start(1, sampling=0)
    finally:
        settings.ring_buffer_kb = before  # the next start() is the program's own


def _line_text(filename, lineno, size, count):
    source = linecache.getline(filename, lineno).strip()
    try:
        shown = os.path.relpath(filename)
    except ValueError:
        shown = filename
    if shown.startswith(".."):
        shown = filename
    blocks = "1 block" if count == 1 else f"{count} blocks"
    return f"  {size_text(size):>9} in {blocks:<10} {shown}:{lineno}" + (f"  {source}" if source else "")


class _PeakCheck:
    """limit_memory: the most that is allocated at any one time."""

    def __init__(self, tracemalloc, most):
        self.tracemalloc = tracemalloc
        self.most = most
        self.base = 0
        self.mark = f"limit_memory {next(_marks)}"

    def begin(self):
        self.tracemalloc.mark(self.mark)
        self.tracemalloc.reset_peak()
        self.base = self.tracemalloc.get_traced_memory()[0]

    def end(self):
        peak = self.tracemalloc.get_traced_memory()[1] - self.base
        if peak <= self.most:
            return None
        lines, when = self._lines()
        return "\n".join([f"the test allocated {size_text(peak)} at a time; its limit is {size_text(self.most)}",
                          f"{when}:", *(_line_text(*place, *numbers) for place, numbers in lines)])

    def _lines(self):
        from .tracemalloc._extension import unrecorded  # pylint: disable=import-outside-toplevel
        lines = unrecorded(self._lines_of_peak)()
        if lines is not None:
            return lines, "at the peak"
        snapshot = self.tracemalloc.take_snapshot()
        return [((row.traceback[0].filename, row.traceback[0].lineno), (row.size, row.count))
                for row in snapshot.statistics("lineno")[:SHOWN_LINES]], "still allocated at the end"

    def _lines_of_peak(self):
        """The places with the most memory at the peak, from the events; None if some of them are lost."""
        peak_at = self._replay(None)
        if peak_at is None:
            return None
        sums = collections.defaultdict(lambda: [0, 0])
        for event in self._replay(peak_at).values():
            frame = event.traceback[-1] if event.traceback else None
            place = (frame.filename, frame.lineno) if frame else ("<unknown>", 0)
            sums[place][0] += event.size
            sums[place][1] += 1
        rows = sorted(sums.items(), key=lambda row: -row[1][0])[:SHOWN_LINES]
        return [row for row in rows if row[1][0] * 100 >= rows[0][1][0]]

    def _replay(self, until):
        """Returns the number of the event after which most was allocated; with until, the blocks after that event."""
        live, total, best = {}, 0, (0, None)
        is_ours = False
        try:
            events = self.tracemalloc.iter_events()
        except RuntimeError:  # somebody started tracing without events
            return None
        for number, event in enumerate(events):
            if not is_ours:
                is_ours = event.kind == "mark" and event.name == self.mark
                continue
            key = event.domain, event.address
            if event.kind in ("alloc", "free"):
                before = live.pop(key, None)
                total -= before.size if before else 0
            if event.kind == "alloc":
                live[key] = event
                total += event.size
            if total > best[0]:
                best = (total, number)
            if until is not None and number >= until:
                break
        return live if until is not None else best[1]


class _LeakCheck:
    """limit_leaks: what the test leaves behind."""

    def __init__(self, tracemalloc, most):
        self.tracemalloc = tracemalloc
        self.most = most
        self.before = None
        here = os.path.dirname(os.path.abspath(__file__))
        # Modules that the test imports stay, and pytest keeps its own books.
        hidden = ["<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>",
                  *(os.path.join(os.path.dirname(os.path.abspath(module.__file__)), "*")
                    for module in (pytest, pluggy)),
                  os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(pytest.__file__))), "_pytest", "*"),
                  os.path.join(here, "*")]
        self.filters = [tracemalloc.Filter(False, pattern) for pattern in hidden]

    def _snapshot(self):
        gc.collect()
        return self.tracemalloc.take_snapshot().filter_traces(self.filters)

    def begin(self):
        self.before = self._snapshot()

    def end(self):
        rows = self._snapshot().compare_to(self.before, "lineno")
        left = sum(row.size_diff for row in rows)
        if left <= self.most:
            return None
        rows = sorted((row for row in rows if row.size_diff > 0), key=lambda row: -row.size_diff)
        lines = (_line_text(row.traceback[0].filename, row.traceback[0].lineno, row.size_diff, row.count_diff)
                 for row in rows[:SHOWN_LINES])
        return "\n".join([f"the test left {size_text(left)} behind; its limit is {size_text(self.most)}", *lines,
                          "if these are caches, let the marker run the test before: warmups=1"])

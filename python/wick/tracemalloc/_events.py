# SPDX-License-Identifier: BSD-2-Clause
"""Events: single allocations and frees, in time order, while the tracer's buffer keeps them."""
import math
import struct
import time

from ._blocks import row_of_site, thread_names
from ._control import settings
from ._extension import _tracer, unrecorded
from ._frames import Traceback
from ._held import hold
from ._statistics import group, statistics_of

# time_ns, address, size, site, operation, and padding
RECORD = struct.Struct("<QQQIBBH")
ALLOCATION, FREE, CLEAR, MARK = 1, 2, 3, 4
NAMES = {ALLOCATION: "alloc", FREE: "free", CLEAR: "clear", MARK: "mark"}
AT_ONCE = 65536

_marks = []  # (name, time in seconds); events hold the index


class Event:
    """
    Something that happened to a block.

    time: seconds of time.monotonic(); kind: "alloc", "free", "clear" (clear_traces() was called)
    or "mark"; address, size: of the block; name: of a mark, otherwise None; domain, thread (the
    system's thread id), interpreter and traceback: where the block was allocated.
    """
    __slots__ = ("time", "kind", "address", "size", "name", "_site", "_held")
    __module__ = "wick.tracemalloc"

    def __init__(self, record, held):
        self._held = held
        nanoseconds, self.address, self.size, self._site, operation, _, _ = record
        self.time = nanoseconds / 1e9
        self.kind = NAMES.get(operation, "unknown")
        self.name = None
        if operation == MARK:
            self.name = _marks[self.size][0] if self.size < len(_marks) else None
            self.size = 0

    @property
    def traceback(self):
        if self.kind not in ("alloc", "free"):
            return None
        return Traceback._of_stack(self._held.sites[self._site][0])

    @property
    def domain(self):
        return self._held.sites[self._site][1]

    @property
    def thread(self):
        return self._held.sites[self._site][2]

    @property
    def interpreter(self):
        return self._held.sites[self._site][3]

    def __repr__(self):
        what = f"name={self.name!r}" if self.kind == "mark" else f"address={self.address:#x} size={self.size}"
        return f"<Event {self.kind} time={self.time:.9f} {what}>"


def mark(name):
    """
    Put a mark with a name into the events. iter_events() and statistics() accept the name
    in place of a time.
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of a mark must be a string, not {type(name).__name__}")
    if _tracer.is_tracing():
        _marks.append((name, time.monotonic()))
        _tracer.mark(len(_marks) - 1)


def _nanoseconds(when, default):
    """A time of the caller: seconds, the name of a mark, or None."""
    if when is None:
        return default
    if isinstance(when, str):
        times = [moment for name, moment in _marks if name == when]
        if not times:
            raise ValueError(f"there is no mark {when!r}")
        return int(times[-1] * 1e9)
    if isinstance(when, bool) or not isinstance(when, (int, float)) or math.isnan(when):
        raise TypeError(f"a time must be seconds of time.monotonic() or the name of a mark, not {when!r}")
    return int(max(0.0, min(when * 1e9, 2.0**64)))


def _range(from_ts, to_ts):
    if not settings.started["events_kb"]:
        raise RuntimeError("events are not kept: call configure(ring_buffer_kb=65536) before start()")
    return _nanoseconds(from_ts, 0), _nanoseconds(to_ts, 2**64)


def _records():
    """Yields (record, number of events lost before it) of all events that are kept now."""
    position, end = settings.first_event, _tracer.event_position()
    while position < end:
        data, position, lost = _tracer.read_events(position, AT_ONCE)
        if not data:
            return
        for record in RECORD.iter_unpack(data):
            yield record, lost
            lost = 0


def _is_shown(record, held):
    shown = settings.stack_filter
    return shown is None or record[4] not in (ALLOCATION, FREE) or shown(held.sites[record[3]][0])


def iter_events(from_ts=None, to_ts=None):
    """
    Iterate over the events between two times, both included, as Event instances.

    Times are seconds of time.monotonic() or names of marks; None means no limit. Requires
    configure(ring_buffer_kb=...) before start(); the oldest events make room for new ones.
    """
    first, last = _range(from_ts, to_ts)
    held = hold()
    return (Event(record, held) for record, _ in _records()
            if first <= record[0] <= last and _is_shown(record, held))


def _weight(size):
    """1 / probability that a block of this size was sampled."""
    if settings.started["sampling_bytes"]:
        return -1 / math.expm1(-(size + 1) / settings.started["sampling_bytes"])
    return 1 / settings.started["probability"]


def _totals(size):
    """count, size and their variances of one sampled block"""
    weight = _weight(size)
    variance = weight * (weight - 1)
    return weight, weight * size, variance, variance * size * size


class _RangeBlocks:
    """The blocks that were allocated in a range of time and not freed in it."""
    groups = None
    thread_names = staticmethod(thread_names)

    def __init__(self, first, last):
        self.first, self.last = first, last
        self.live = {}
        self.held = hold()

    def read(self):
        previous = None
        for record, lost in _records():
            if lost and self.first < record[0] and (previous is None or previous >= self.first):
                raise RuntimeError(f"events before {record[0] / 1e9:.3f} s are lost: use a later from_ts, or a "
                                   "larger buffer, configure(ring_buffer_kb=...), before start()")
            previous = record[0]
            if record[0] <= self.last:
                self._apply(*record[:5])
        return self

    def _apply(self, moment, address, size, site, operation):
        if operation == CLEAR:
            self.live.clear()
        elif operation in (ALLOCATION, FREE):
            key = address, self.held.sites[site][1]
            self.live.pop(key, None)
            if operation == ALLOCATION and moment >= self.first:
                self.live[key] = site, size

    def rows(self):
        sampled = settings.started["sampling_bytes"] or settings.started["probability"]
        found = {}
        for site, size in self.live.values():
            totals = _totals(size) if sampled else (1, size, 0.0, 0.0)
            row = found.get(site)
            if row is None:
                row = found[site] = row_of_site(self.held, site, (0, 0, 0.0, 0.0))
            row.count += totals[0]
            row.size += totals[1]
            row.count_variance += totals[2]
            row.size_variance += totals[3]
        shown = settings.stack_filter
        return {site: row for site, row in found.items() if shown is None or shown(row.number)}


@unrecorded
def statistics(key_type, cumulative=False, *, from_ts=None, to_ts=None):
    """
    Statistics of a range of time, without a snapshot: of the blocks that were allocated
    between the two times and not freed before the second.

    key_type and cumulative are those of Snapshot.statistics(), the times those of iter_events().
    """
    first, last = _range(from_ts, to_ts)
    blocks = _RangeBlocks(first, last).read()
    return statistics_of(group(blocks, key_type, cumulative))

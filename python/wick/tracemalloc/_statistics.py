# SPDX-License-Identifier: BSD-2-Clause
"""Statistics: sites grouped by line, file, traceback, thread, module, domain or interpreter."""
import math

from ._extension import _tracer
from ._frames import Group, Traceback, _format_size
from ._stacks import OneFrame, module_of_stack, modules_by_file

FRAME_KEYS = ("traceback", "filename", "lineno")
TAG_KEYS = ("thread", "module", "domain", "interpreter")


class _Estimate:
    """Standard errors of size and count. They are 0.0 unless blocks were sampled."""
    __slots__ = ()

    @property
    def size_error(self):
        """Standard error of size, in bytes."""
        return getattr(self, "_errors", (0.0, 0.0))[0]

    @property
    def count_error(self):
        """Standard error of count."""
        return getattr(self, "_errors", (0.0, 0.0))[1]

    def _values(self):
        return tuple(getattr(self, name) for name in self._compared)

    def __hash__(self):
        return hash(self._values())

    def _average(self):
        return f", average={_format_size(self.size / self.count, False)}" if self.count else ""


class Statistic(_Estimate):
    """
    Statistic on memory allocations.

    traceback says where the blocks were allocated, size is their total in bytes and count
    their number. Of sampled blocks these are unbiased estimates, with size_error and count_error.
    """
    __slots__ = ("traceback", "size", "count", "_errors")
    __module__ = "wick.tracemalloc"
    _compared = ("traceback", "size", "count")

    def __init__(self, traceback, size, count):
        self.traceback = traceback
        self.size = size
        self.count = count

    __hash__ = _Estimate.__hash__

    def __eq__(self, other):
        return self._values() == other._values() if isinstance(other, Statistic) else NotImplemented

    def __str__(self):
        return (f"{self.traceback}: size={_format_size(self.size, False)}, count={int(self.count)}"
                f"{self._average()}")

    def __repr__(self):
        return "<Statistic traceback=%r size=%i count=%i>" % self._values()

    def _sort_key(self):
        return self.size, self.count, self.traceback


class StatisticDiff(_Estimate):
    """
    Statistic difference on memory allocations between an old and a new
    Snapshot instance.

    size and count are those of the new snapshot, size_diff and count_diff what was added
    since the old one. size_error and count_error are the standard errors of the differences.
    """
    __slots__ = ("traceback", "size", "size_diff", "count", "count_diff", "_errors")
    __module__ = "wick.tracemalloc"
    _compared = ("traceback", "size", "size_diff", "count", "count_diff")

    def __init__(self, traceback, size, size_diff, count, count_diff):
        self.traceback = traceback
        self.size = size
        self.size_diff = size_diff
        self.count = count
        self.count_diff = count_diff

    __hash__ = _Estimate.__hash__

    def __eq__(self, other):
        return self._values() == other._values() if isinstance(other, StatisticDiff) else NotImplemented

    def __str__(self):
        return (f"{self.traceback}: size={_format_size(self.size, False)} "
                f"({_format_size(self.size_diff, True)}), count={int(self.count)} "
                f"({int(self.count_diff):+}){self._average()}")

    def __repr__(self):
        return "<StatisticDiff traceback=%r size=%i (%+i) count=%i (%+i)>" % self._values()

    def _sort_key(self):
        return abs(self.size_diff), self.size, abs(self.count_diff), self.count, self.traceback


class Totals:
    """What one group holds: numbers and variances."""
    __slots__ = ("size", "count", "size_variance", "count_variance")

    def __init__(self):
        self.size = self.count = 0
        self.size_variance = self.count_variance = 0.0

    def add(self, row):
        self.size += row.size
        self.count += row.count
        self.size_variance += row.size_variance
        self.count_variance += row.count_variance

    def rounded(self):
        """Estimates become whole numbers; exact numbers are whole already."""
        if isinstance(self.size, float):
            self.size, self.count = round(self.size), round(self.count)
        return self


NOTHING = Totals()


def _thread_label(thread, names):
    if thread is None:
        return "<unknown thread>"
    return f"thread {thread} ({names[thread]})" if thread in names else f"thread {thread}"


def _domain_label(domain):
    return f"domain {domain} (C code)" if domain == _tracer.NATIVE_DOMAIN else f"domain {domain}"


def _tag_of(kind, blocks):
    """(function of a Row that gives its key, function of a key that gives its Group)"""
    if kind == "thread":
        names = blocks.thread_names()
        return (lambda row: row.thread), lambda key: _thread_label(key, names)
    if kind == "module":
        modules = modules_by_file()
        return (lambda row: module_of_stack(row.stack, row.frames, modules)), str
    if kind == "domain":
        return (lambda row: row.domain), _domain_label
    return (lambda row: row.interpreter), lambda key: f"interpreter {'<unknown>' if key is None else key}"


def _group_by_tag(blocks, kind):
    key_of, label = _tag_of(kind, blocks)
    groups = {}
    for row in blocks.rows().values():
        key = key_of(row)
        if key not in groups:
            groups[key] = Totals()
        groups[key].add(row)
    return {Group(kind, key, label(key)): totals.rounded() for key, totals in groups.items()}


def _keys_of_frames(key_type, cumulative):
    """Returns a function from frames, most recent first, to the frames of each group they count for."""
    if key_type == "traceback":
        return lambda frames: (frames,)
    if key_type == "lineno":
        return (lambda frames: [(frame,) for frame in frames]) if cumulative else \
            lambda frames: (frames[:1],)
    if cumulative:
        return lambda frames: [((frame[0], 0),) for frame in frames]
    return lambda frames: (((frames[0][0], 0),),)


def _check(key_type, cumulative):
    if key_type not in FRAME_KEYS + TAG_KEYS:
        raise ValueError("unknown key_type: %r" % (key_type,))
    if cumulative and key_type not in ("lineno", "filename"):
        raise ValueError("cumulative mode cannot by used with key type %r" % key_type)


def group(blocks, key_type, cumulative):
    """{Traceback: Totals}; a recursive function counts as often as it is on the stack."""
    _check(key_type, cumulative)
    known = blocks.groups
    wanted = key_type, bool(cumulative)
    if known is not None and wanted in known:
        return known[wanted]
    if key_type in TAG_KEYS:
        return _group_by_tag(blocks, key_type)
    found, stacks, keys_of = {}, {}, _keys_of_frames(key_type, cumulative)
    for row in blocks.rows().values():
        for index, key in enumerate(keys_of(row.frames)):
            totals = found.get(key)
            if totals is None:
                totals = found[key] = Totals()
                stacks[key] = row, index
            elif row.size > stacks[key][0].size:
                stacks[key] = row, index
            totals.add(row)
    groups = {Traceback(key)._with(_stack_of(key_type, *stacks[key])): totals.rounded()
              for key, totals in found.items()}
    if known is not None:
        known[wanted] = groups
    return groups


def _stack_of(key_type, row, index):
    """What the Traceback of a group knows besides frames, taken from the row that holds most."""
    stack = row.stack
    if stack is None or key_type == "filename":
        return None
    return stack if key_type == "traceback" else OneFrame(stack, index)


def statistic(traceback, totals):
    made = Statistic(traceback, totals.size, totals.count)
    if totals.size_variance or totals.count_variance:
        made._errors = math.sqrt(totals.size_variance), math.sqrt(totals.count_variance)
    return made


def difference(traceback, new, old):
    made = StatisticDiff(traceback, new.size, new.size - old.size, new.count, new.count - old.count)
    size_variance = new.size_variance + old.size_variance
    count_variance = new.count_variance + old.count_variance
    if size_variance or count_variance:
        made._errors = math.sqrt(size_variance), math.sqrt(count_variance)
    return made


def statistics_of(groups):
    """The sorted list that statistics() returns."""
    made = [statistic(traceback, totals) for traceback, totals in groups.items()]
    made.sort(reverse=True, key=lambda one: (one.size, one.count, one.traceback._frames))
    return made


def compare(new_groups, old_groups):
    """The sorted list that compare_to() returns."""
    made = [difference(traceback, totals, old_groups.get(traceback, NOTHING))
            for traceback, totals in new_groups.items()]
    made += [difference(traceback, NOTHING, totals)
             for traceback, totals in old_groups.items() if traceback not in new_groups]
    made.sort(reverse=True, key=lambda one: (abs(one.size_diff), one.size, abs(one.count_diff),
                                             one.count, one.traceback._frames))
    return made

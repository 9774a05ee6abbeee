# SPDX-License-Identifier: BSD-2-Clause
"""Snapshot: the live blocks at one moment."""
from collections.abc import Iterable

from . import _filters, _pickles
from ._blocks import ListedBlocks, LiveBlocks, _Traces
from ._extension import unrecorded
from ._statistics import Totals, compare, group, statistic, statistics_of


class Snapshot:
    """
    Snapshot of traces of memory blocks allocated by Python.

    Taking one copies no traces: statistics are computed from the sites that allocated, and
    the attribute traces, a sequence of Trace instances, is filled when it is used.
    """
    __module__ = "wick.tracemalloc"

    def __init__(self, traces, traceback_limit):
        self.traces = _Traces(traces)
        self.traceback_limit = traceback_limit

    def dump(self, filename):
        """
        Write the snapshot into a file.

        The extensions .wick, .pprof, .pb.gz, .speedscope.json, .perfetto, .json and .html choose
        a format; any other name gets the pickle of the standard module, which can load it too.
        """
        _pickles.dump(self, filename)

    @staticmethod
    def load(filename):
        """
        Load a snapshot from a file: one of this module, or of the standard one.
        """
        return _pickles.load(filename)

    def _blocks(self):
        traces = self.traces
        return traces._blocks if isinstance(traces, _Traces) else ListedBlocks(traces._traces)

    @unrecorded
    def filter_traces(self, filters):
        """
        Create a new Snapshot instance with a filtered traces sequence, filters
        is a list of Filter or DomainFilter instances.  If filters is an empty
        list, return a new Snapshot instance with a copy of the traces.
        """
        if not isinstance(filters, Iterable):
            raise TypeError("filters must be a list of filters, not %s" % type(filters).__name__)
        if not filters:
            filters = ()
        sides = _filters.split(filters)
        blocks = self._blocks()
        if isinstance(blocks, LiveBlocks) and _filters.ignore_size(sides[0] + sides[1]):
            return Snapshot(blocks.only(lambda row: _filters.accepts(sides, row.trace(0))),
                            self.traceback_limit)
        if isinstance(blocks, LiveBlocks):
            blocks = ListedBlocks(blocks.traces(), blocks.tags())
        return Snapshot(blocks.only_traces(lambda trace: _filters.accepts(sides, trace)),
                        self.traceback_limit)

    def _totals(self, key_type, cumulative):
        return group(self._blocks(), key_type, cumulative)

    def _group_by(self, key_type, cumulative):
        return {traceback: statistic(traceback, totals)
                for traceback, totals in self._totals(key_type, cumulative).items()}

    @unrecorded
    def statistics(self, key_type, cumulative=False):
        """
        Group statistics by key_type. Return a sorted list of Statistic
        instances.

        key_type is "traceback", "filename" or "lineno"; or "thread", "module", "domain" or
        "interpreter", whose statistics have a Group in place of the traceback. cumulative=True
        counts a block for all frames of its traceback, not only for the most recent one.
        """
        return statistics_of(self._totals(key_type, cumulative))

    @unrecorded
    def compare_to(self, old_snapshot, key_type, cumulative=False):
        """
        Compute the differences with an old snapshot old_snapshot. Get
        statistics as a sorted list of StatisticDiff instances, grouped by
        key_type, as statistics() groups them.
        """
        new = self._totals(key_type, cumulative)
        if isinstance(old_snapshot, Snapshot):
            return compare(new, old_snapshot._totals(key_type, cumulative))
        return compare(new, _foreign_groups(old_snapshot._group_by(key_type, cumulative)))


def _foreign_groups(statistics):
    """Totals of a snapshot of the standard module."""
    from ._frames import Traceback
    groups = {}
    for traceback, one in statistics.items():
        totals = groups[Traceback(traceback._frames[::-1])] = Totals()
        totals.size, totals.count = one.size, one.count
    return groups

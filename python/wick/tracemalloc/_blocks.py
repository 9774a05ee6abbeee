# SPDX-License-Identifier: BSD-2-Clause
"""The blocks behind a snapshot, counted by site: a site is a stack, domain, thread and interpreter.

Millions of blocks come from few sites, so results are computed from sites. The traces of single
blocks are made when somebody looks at them.
"""
import array
import threading
from collections.abc import Sequence

from ._frames import Trace
from ._held import Memo, hold
from ._stacks import KeptStack, LiveStack, module_of_stack, modules_by_file


class Row:
    """A site with what it holds: numbers of blocks and bytes, and the variances of both."""
    __slots__ = ("frames", "total_nframe", "number", "domain", "thread", "interpreter",
                 "count", "size", "count_variance", "size_variance", "kept")

    def __init__(self, frames, total_nframe, where, totals, kept=None):
        self.frames = frames
        self.total_nframe = total_nframe
        # The tracer's number of the stack, or what a file keeps of it; both None: nothing is known.
        self.number, self.domain, self.thread, self.interpreter = where
        self.kept = kept
        self.count, self.size, self.count_variance, self.size_variance = totals

    @property
    def stack(self):
        """What is known of the stack besides frames: _stacks.py."""
        return self.kept if self.number is None else LiveStack(self.number)

    def trace(self, size):
        return self.domain, size, self.frames, self.total_nframe


def row_of_site(held, site, totals):
    where = held.sites[site]
    return Row(*held.stacks[where[0]], where, totals)


def thread_names():
    """{the system's id of a thread: its name} of the running program"""
    return {thread.native_id: thread.name for thread in threading.enumerate()}


class LiveBlocks:
    """Blocks of the tracer. The filter of set_filter() hides stacks; sites are those that are left."""

    def __init__(self, snapshot, stack_filter=None, sites=None):
        self.snapshot = snapshot
        self.held = hold()
        self.stack_filter = stack_filter
        self.chosen = sites
        self.sampled = bool(snapshot.sampling_bytes or snapshot.probability)
        self._rows = None
        self._listed = None
        self.groups = {}

    def rows(self):
        """{site: Row}"""
        if self._rows is None:
            self._rows = {site: row_of_site(self.held, site, totals) for site, *totals in self.snapshot.sites()
                          if self._is_shown(site)}
        return self._rows

    def _is_shown(self, site):
        if self.chosen is not None and site not in self.chosen:
            return False
        return self.stack_filter is None or self.stack_filter(self.held.sites[site][0])

    def _shows_all(self):
        return self.chosen is None and self.stack_filter is None

    def blocks(self):
        """[(site, size, weight)] of the blocks that are shown, in the order of traces()."""
        if self._listed is None:
            rows = None if self._shows_all() else self.rows()
            blocks = self.snapshot.traces()
            self._listed = blocks if rows is None else [block for block in blocks if block[0] in rows]
        return self._listed

    def traces(self):
        """The trace tuples of all blocks."""
        parts = Memo(self._parts)
        return [(part[0], size, part[1], part[2])
                for part, size in ((parts[site], size) for site, size, _ in self.blocks())]

    def _parts(self, site):
        stack, domain, _, _ = self.held.sites[site]
        return (domain, *self.held.stacks[stack])

    def count(self):
        """The number of traces, or None if only traces() can tell."""
        return self.snapshot.trace_count() if self._shows_all() else None

    def _block(self, index):
        # Estimating sites changes the order of the snapshot's blocks.
        if self._listed is None and not self.sampled and self._shows_all():
            return self.snapshot.trace(index)
        return self.blocks()[index][:2]

    def trace(self, index):
        site, size = self._block(index)
        domain, frames, total_nframe = self._parts(site)
        return domain, size, frames, total_nframe

    def stack(self, index):
        """What is known of the stack of a trace."""
        return LiveStack(self.held.sites[self._block(index)[0]][0])

    thread_names = staticmethod(thread_names)

    def only(self, accepts):
        """The blocks of the sites that a function of a Row accepts."""
        return LiveBlocks(self.snapshot, self.stack_filter,
                          frozenset(site for site, row in self.rows().items() if accepts(row)))

    def tags(self):
        """What trace tuples do not say, for a pickle: see ListedBlocks."""
        blocks, rows, modules = self.blocks(), self.rows(), modules_by_file()
        tags = {"sites": array.array("L", [site for site, _, _ in blocks]),
                "where": {site: self.held.sites[site] for site in rows},
                "stacks": {row.number: _plain(row, modules) for row in rows.values()},
                "threads": self.thread_names()}
        if self.sampled:
            tags["weights"] = array.array("d", [weight for _, _, weight in blocks])
        return tags


def _plain(row, modules):
    stack = row.stack
    return KeptStack(stack.functions, stack.native, module_of_stack(stack, row.frames, modules)).plain()


class ListedBlocks:
    """
    Blocks of a list of trace tuples: of a file, or made by the caller.

    tags, which the files of this module have, are {"sites": the site of each trace, "where": {site:
    (stack, domain, thread, interpreter)}, "stacks": {stack: KeptStack.plain()}, "threads": {thread: name},
    "weights": 1 / probability of each trace, if sampled}.
    """

    def __init__(self, traces, tags=None):
        self.listed = traces
        if not tags or len(tags["sites"]) != len(traces):
            tags = {}
        self.tag_sites = tags.get("sites")
        self.tag_where = tags.get("where", {})
        self.tag_weights = tags.get("weights")
        self.tag_stacks = tags.get("stacks", {})
        self.tag_threads = tags.get("threads", {})
        self.sampled = self.tag_weights is not None
        self.groups = None  # the list may change

    def rows(self):
        return self._rows_of_tags() if self.tag_sites else self._rows_of_traces()

    def _rows_of_traces(self):
        # Blocks of one stack usually share its tuple, and the id of a tuple is cheaper than its hash.
        found = {}
        for domain, size, frames, *total_nframe in self.listed:
            key = domain, id(frames), *total_nframe
            row = found.get(key)
            if row is None:
                row = found[key] = Row(frames, *(total_nframe or [None]), (None, domain, None, None),
                                       (0, 0, 0.0, 0.0))
            row.count += 1
            row.size += size
        return found

    def _rows_of_tags(self):
        found = {}
        weights = self.tag_weights or (1.0,) * len(self.listed)
        for trace, site, weight in zip(self.listed, self.tag_sites, weights):
            row = found.get(site)
            if row is None:
                where = self.tag_where[site]
                row = found[site] = Row(*trace[2:4], (None, *where[1:]), (0, 0, 0.0, 0.0), self._kept(where[0]))
            size = trace[1]
            if self.sampled:
                variance = (weight - 1.0) * weight
                row.count += weight
                row.size += weight * size
                row.count_variance += variance
                row.size_variance += variance * size * size
            else:
                row.count += 1
                row.size += size
        return found

    def _kept(self, number):
        parts = self.tag_stacks.get(number)
        return None if parts is None else KeptStack.of_plain(parts)

    def stack(self, index):
        return self._kept(self.tag_where[self.tag_sites[index]][0]) if self.tag_sites else None

    def thread_names(self):
        return self.tag_threads

    def traces(self):
        return self.listed

    def count(self):
        return len(self.listed)

    def trace(self, index):
        return self.listed[index]

    def only_traces(self, accepts):
        """The blocks whose trace tuples a function accepts."""
        kept = [index for index, trace in enumerate(self.listed) if accepts(trace)]
        blocks = ListedBlocks([self.listed[index] for index in kept])
        blocks.tag_where, blocks.sampled = self.tag_where, self.sampled
        blocks.tag_stacks, blocks.tag_threads = self.tag_stacks, self.tag_threads
        if self.tag_sites:
            blocks.tag_sites = array.array("L", [self.tag_sites[index] for index in kept])
        if self.sampled:
            blocks.tag_weights = array.array("d", [self.tag_weights[index] for index in kept])
        return blocks

    def tags(self):
        if not self.tag_sites:
            return None
        tags = {"sites": self.tag_sites, "where": self.tag_where, "stacks": self.tag_stacks,
                "threads": self.tag_threads}
        return {**tags, "weights": self.tag_weights} if self.sampled else tags


class _Traces(Sequence):
    """Sequence of the Trace instances of a snapshot."""
    __module__ = "wick.tracemalloc"

    def __init__(self, traces):
        if isinstance(traces, (LiveBlocks, ListedBlocks)):
            self._blocks = traces
        else:
            self._traces = traces

    def __getattr__(self, name):
        # Only names that are not set get here: each half is made from the other.
        known = self.__dict__
        if name == "_traces" and "_blocks" in known:
            self._traces = known["_blocks"].traces()
        elif name == "_blocks" and "_traces" in known:
            return ListedBlocks(known["_traces"], known.get("_tags"))
        else:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self._traces

    def __getstate__(self):
        state = {"_traces": self._traces}
        tags = self._blocks.tags()
        return {**state, "_tags": tags} if tags else state

    def __setstate__(self, state):
        self.__dict__.update(state)

    def __len__(self):
        count = self._blocks.count() if "_traces" not in self.__dict__ else None
        return len(self._traces) if count is None else count

    def __getitem__(self, index):
        blocks = self._blocks
        if isinstance(index, slice):
            places = range(len(self))[index]
            return tuple(Trace(trace)._with(blocks.stack(place)) for trace, place in zip(self._traces[index], places))
        if not isinstance(index, int):
            return Trace(self._traces[index])
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError("list index out of range")
        if "_traces" in self.__dict__ or blocks.count() is None:
            return Trace(self._traces[place])._with(blocks.stack(place))
        return Trace(blocks.trace(place))._with(blocks.stack(place))

    def __contains__(self, trace):
        return trace._trace in self._traces

    def __eq__(self, other):
        return self._traces == other._traces if isinstance(other, _Traces) else NotImplemented

    def __repr__(self):
        return f"<Traces len={len(self)}>"

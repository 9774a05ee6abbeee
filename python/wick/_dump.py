# SPDX-License-Identifier: BSD-2-Clause
"""Writes live blocks into files that wick and other viewers read.

Every format is made by libwick from a recording: what dump() writes is what `wick export` would
write from the .wick file of the same moment.
"""
import array
import os
import struct
import tempfile
from ctypes import byref

from . import _library, _recording

# The ends of file names, and the format that each asks for.
EXTENSIONS = {
    ".wick": "wick",
    ".pprof": "pprof",
    ".pb.gz": "pprof",
    ".speedscope.json": "speedscope",
    ".perfetto": "perfetto",
    ".json": "json",
    ".html": "html",
}
FORMATS = ("wick", "pprof", "speedscope", "perfetto", "json", "html")
PAGE_OF_HEAP = 1

# time_ns, address, size, site, operation, and padding
RECORD = struct.Struct("<QQQIBBH")
ALLOCATION = 1


def format_of(path):
    """The format that the name of a file asks for, or None."""
    name = os.fsdecode(path)
    ends = sorted(EXTENSIONS, key=len, reverse=True)
    return next((EXTENSIONS[end] for end in ends if name.endswith(end)), None)


def _chosen(path, format):
    if b"\0" in os.fsencode(path):
        raise ValueError("embedded null byte")
    chosen = format if format is not None else format_of(path)
    if chosen in FORMATS:
        return chosen
    what = f"unknown format {format!r}" if format is not None else \
        f"the name {os.fsdecode(path)!r} does not tell the format"
    raise ValueError(f"{what}: use one of {', '.join(FORMATS)}, or a name that ends in one of "
                     f"{', '.join(EXTENSIONS)}")


def _sampling(tracer):
    """(mean bytes between samples, probability), 0 for those that are not used."""
    if not tracer.stats()["sampled"]:
        return 0.0, 0.0
    snapshot = tracer.snapshot()
    return snapshot.sampling_bytes, snapshot.probability


def _convert(source, format, path):
    lib = _library.load()
    error = _library.Error()
    source, path = os.fsencode(source), os.fsencode(path)
    if format == "html":
        code = lib.wick_page(source, None, PAGE_OF_HEAP, path, byref(error))
    else:
        code = lib.wick_export_recording(source, None, format.encode(), path, byref(error))
    _library.check(code, error)


def _record(path, source, data, sampling, is_hidden=None):
    """Writes a recording of blocks that are live; `source` says what sites and stacks are."""
    recording = _recording.Recording(path, source, sampling_bytes=sampling[0], probability=sampling[1],
                                     whole=True, is_hidden=is_hidden)
    try:
        recording.add(data)
        recording.finish()
    finally:
        recording.close()


def _write(path, format, source, data, sampling, is_hidden=None):
    if format == "wick":
        _record(path, source, data, sampling, is_hidden)
        return
    with tempfile.TemporaryDirectory(prefix="wick-") as folder:
        name = os.path.join(folder, "dump.wick")
        _record(name, source, data, sampling, is_hidden)
        _convert(name, format, path)


def dump(path, format=None):
    """Writes the blocks that are live now; wick.tracemalloc.dump() describes the arguments."""
    from . import _tracer
    from .tracemalloc._control import settings
    chosen = _chosen(path, format)
    if not _tracer.is_tracing():
        raise RuntimeError("the tracemalloc module must be tracing memory allocations to dump them")
    before = _tracer.exclude_thread(True)
    held = _tracer.hold()  # another thread may stop the tracer before the sites are written
    try:
        shown = settings.stack_filter
        _write(path, chosen, _tracer, _tracer.live_blocks(), _sampling(_tracer),
               None if shown is None else lambda stack: not shown(stack))
    finally:
        del held
        _tracer.exclude_thread(before)


class _Listed:
    """The sites of a list of traces, with the names that the tracer would give."""

    def __init__(self, traces, tags):
        self.sites = []
        self.stacks = []  # (frames, total_nframe, functions or None)
        self.known = {}
        self.stack_ids = {}
        tags = tags or {}
        where, tag_sites, stacks = tags.get("where", {}), tags.get("sites"), tags.get("stacks", {})
        self.thread_names = tags.get("threads", {})
        self.of_traces = array.array("I")
        for index, (domain, _, frames, *total) in enumerate(traces):
            tag = where.get(tag_sites[index]) if tag_sites else None
            functions = stacks.get(tag[0], (None,))[0] if tag else None
            self.of_traces.append(self._site(domain, (frames, total[0] if total else None, functions), tag))

    def _site(self, domain, stack, tag):
        _, _, thread, interpreter = tag or (None, None, os.getpid(), 0)
        key = domain, stack, thread, interpreter
        if key not in self.known:
            number = self.stack_ids.setdefault(stack, len(self.stacks))
            if number == len(self.stacks):
                self.stacks.append(stack)
            self.known[key] = len(self.sites)
            self.sites.append((number, domain, thread or os.getpid(), interpreter or 0))
        return self.known[key]

    def site(self, site):
        return self.sites[site]

    def stack(self, stack):
        frames, total, _ = self.stacks[stack]
        return frames, total or len(frames)

    def stack_names(self, stack):
        frames, _, functions = self.stacks[stack]
        # Traces of other files do not know functions: their lines stand for them.
        return functions or tuple(f"{os.path.basename(file)}:{line}" for file, line in frames)

    def stack_native(self, stack):
        return ()


def load_snapshot(path):
    """A .wick file as a wick.tracemalloc.Snapshot."""
    from ._load import load_snapshot as load
    return load(path)


def _blocks(sites, sizes):
    """Blocks side by side: a snapshot does not keep their addresses."""
    address = 16
    for site, size in zip(sites, sizes):
        yield RECORD.pack(0, address, size, site, ALLOCATION, 0, 0)
        address += size + 16 & -16


def dump_snapshot(snapshot, path, format):
    """Writes a wick.tracemalloc.Snapshot."""
    from . import _tracer
    from .tracemalloc._blocks import LiveBlocks
    chosen = _chosen(path, format)
    before = _tracer.exclude_thread(True)
    try:
        blocks = snapshot._blocks()
        if isinstance(blocks, LiveBlocks):
            listed = blocks.blocks()
            source = _tracer
            data = b"".join(_blocks((site for site, _, _ in listed), (size for _, size, _ in listed)))
            sampling = blocks.snapshot.sampling_bytes, blocks.snapshot.probability
        else:
            traces, tags = blocks.traces(), blocks.tags()
            source = _Listed(traces, tags)
            data = b"".join(_blocks(source.of_traces, (trace[1] for trace in traces)))
            sampling = 0.0, 0.0
        _write(path, chosen, source, data, sampling)
    finally:
        _tracer.exclude_thread(before)

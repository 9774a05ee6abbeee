# SPDX-License-Identifier: BSD-2-Clause
"""Trace memory allocations: the interface of the standard module tracemalloc, and more.

    import wick.tracemalloc as tracemalloc

    tracemalloc.start(25)
    ...
    for line in tracemalloc.take_snapshot().statistics("lineno")[:10]:
        print(line)

All names of the standard module are here and do the same. In addition: sampling and native
frames (start, configure), events and ranges of time (iter_events, statistics, mark), statistics by
thread, module, domain and interpreter, a filter for stacks (set_filter), files for other viewers (dump,
stream), and a replacement of the standard module for all code (install).
"""
import linecache

from ._blocks import _Traces, LiveBlocks as _LiveBlocks
from ._control import configure, get_stats, set_filter, settings as _settings, start
from ._events import Event, iter_events, mark, statistics
from ._extension import _tracer, unrecorded as _unrecorded
from ._filters import BaseFilter, DomainFilter, Filter, _normalize_filename
from ._frames import Frame, Group, Trace, Traceback, _format_size
from ._held import hold as _hold
from ._install import install, uninstall
from ._native import NativeFrame
from ._pickles import format_of as _format_of
from ._snapshot import Snapshot
from ._stacks import LiveStack as _LiveStack
from ._statistics import Statistic, StatisticDiff

clear_traces = _tracer.clear_traces
get_traceback_limit = _tracer.get_traceback_limit
get_traced_memory = _tracer.get_traced_memory
get_tracemalloc_memory = _tracer.get_tracemalloc_memory
is_tracing = _tracer.is_tracing
reset_peak = _tracer.reset_peak
NATIVE_DOMAIN = _tracer.NATIVE_DOMAIN  # of blocks that C code allocated by itself: start(native=True)
stop = _tracer.stop
_get_object_traceback = _tracer._get_object_traceback
_get_traces = _tracer._get_traces

__all__ = [
    "BaseFilter", "DomainFilter", "Event", "Filter", "Frame", "Group", "NATIVE_DOMAIN", "NativeFrame", "Snapshot",
    "Statistic", "StatisticDiff", "Trace", "Traceback", "clear_traces", "configure", "dump", "get_object_traceback",
    "get_stats", "get_traceback_limit", "get_traced_memory", "get_tracemalloc_memory", "install", "is_tracing",
    "iter_events", "mark", "reset_peak", "set_filter", "start", "statistics", "stop", "stream",
    "take_snapshot", "uninstall",
]


def get_object_traceback(obj):
    """
    Get the traceback where the Python object *obj* was allocated.
    Return a Traceback instance.

    Return None if the tracemalloc module is not tracing memory allocations or
    did not trace the allocation of the object.
    """
    frames = _get_object_traceback(obj)
    if frames is None:
        return None
    held = _hold()  # until the traceback has it: another thread may call stop()
    stack = _tracer.object_stack(obj)
    return Traceback(frames)._with(None if stack is None else _LiveStack(stack))


def take_snapshot():
    """
    Take a snapshot of traces of memory blocks allocated by Python.
    """
    if not is_tracing():
        raise RuntimeError("the tracemalloc module must be tracing memory allocations to take a snapshot")
    if _get_traces is _tracer._get_traces:
        traces = _LiveBlocks(_tracer.snapshot(), _settings.stack_filter)
    else:  # somebody put another source of traces in its place
        traces = _get_traces()
    return Snapshot(traces, get_traceback_limit())


@_unrecorded
def dump(path, format=None):
    """
    Write what is traced now into a file that wick and other viewers read.

    The extension chooses the format: .wick, .pprof or .pb.gz, .speedscope.json, .perfetto, .json, .html.
    Another name needs format (or start(export=...)): "wick", "pprof", "speedscope", "perfetto",
    "json" or "html".
    """
    from .. import _dump
    if format is None and _format_of(path) is None:
        format = _settings.export
    return _dump.dump(path, format)


@_unrecorded
def stream(path, every=1.0):
    """
    From now on, append what changed to a file, every `every` seconds.

    The file can be read while it grows, and after the program was killed; every wick command reads it.
    The result is a context manager with flush() and close(); stop() and the end of the program close it
    too. A full disk ends the stream with a warning, and the program continues.
    """
    from .. import _stream
    return _stream.stream(path, every)

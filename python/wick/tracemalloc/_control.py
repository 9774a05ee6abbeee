# SPDX-License-Identifier: BSD-2-Clause
"""Start and settings of tracing."""
import math
import operator

import _tracemalloc

from ._extension import _tracer
from ._frames import Traceback
from ._held import hold

MAX_FRAMES = 65535
EXPORTS = ("wick", "pprof", "speedscope", "perfetto", "json", "html")


class _Settings:
    """What configure() changes, and how the last start() began."""

    def __init__(self):
        self.sampling_bytes = 0.0
        self.sampling_probability = 0.0
        self.ring_buffer_kb = 0
        self.max_stacks = 0
        self.lossy = True
        self.export = None
        self.stack_filter = None
        self.started = {"sampling_bytes": 0.0, "probability": 0.0, "events_kb": 0}
        self.first_event = 0


settings = _Settings()


def _checked_frames(nframe):
    """nframe as the standard module reads it. A wrong one gets the standard module's own exception."""
    try:
        number = operator.index(nframe)
    except TypeError:
        number = None
    if number is not None and 1 <= number <= MAX_FRAMES:
        return number
    _tracemalloc.start(nframe)
    raise ValueError(f"the number of frames must be in range [1; {MAX_FRAMES}]")


def _number(name, value, least, below=math.inf):
    """A finite number in [least; below)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    if not least <= value < below or math.isinf(value):
        limit = f"in range [{least}; {below})" if below != math.inf else f"{least} or more"
        raise ValueError(f"{name} must be {limit}, not {value}")
    return value


def _sampling(value):
    """(mean bytes between samples, probability) of start()'s sampling."""
    if value is None:
        return settings.sampling_bytes, settings.sampling_probability
    number = _number("sampling", value, 0)
    return (float(number), 0.0) if number >= 1 else (0.0, float(number))


def start(nframe=1, sampling=None, native=False, export=None):
    """
    Start tracing Python memory allocations.

    Also set the maximum number of frames stored in the traceback of a
    trace to nframe.

    sampling: trace only some blocks and estimate the totals from them. A value below 1 is
    the probability that a block is traced; any other is the mean number of bytes between two
    samples (524288 costs almost nothing). None uses the setting of configure(); the default is to trace every block.
    native: record the C functions below the Python frames too, and blocks that C code allocates by
    itself (their domain is NATIVE_DOMAIN).
    export: the format that dump() writes if the name of the file does not select one: "wick", "pprof",
    "speedscope", "perfetto", "json" or "html".
    """
    number = _checked_frames(nframe)
    sampling_bytes, probability = _sampling(sampling)
    if export is not None and export not in EXPORTS:
        raise ValueError(f"unknown export format: {export!r} (there are {', '.join(EXPORTS)})")
    if _tracer.is_tracing():
        return
    wanted = {"sampling_bytes": sampling_bytes, "probability": probability,
              "events_kb": settings.ring_buffer_kb}
    settings.first_event = _tracer.event_position()  # those of an earlier start() are gone
    _tracer.start(number, native=bool(native), max_stacks=settings.max_stacks, **wanted)
    settings.started = wanted
    settings.export = export


def configure(*, sampling_bytes=None, sampling_probability=None, ring_buffer_kb=None, max_stacks=None,
              lossy=None):
    """
    Change settings of the next start(). Arguments that are left out keep their values.

    sampling_bytes: mean number of bytes between two sampled blocks; 0 traces every block.
    sampling_probability: probability of each block, in [0; 1); the later of the two settings counts.
    ring_buffer_kb: size of the buffer of events for iter_events(), in KiB; 0 keeps none.
    max_stacks: how many different stacks are kept; more count as <unknown>. 0 sets no limit.
    lossy: whether a full buffer drops the oldest events (and counts them). With False no event is dropped:
        the program waits while a stream writes events, and the buffer grows if it has to.
    """
    if _tracer.is_tracing():
        raise RuntimeError("settings cannot change while tracing: call stop() before configure()")
    changes = {}
    if sampling_bytes is not None and sampling_probability:
        raise ValueError("give sampling_bytes or sampling_probability, not both")
    if sampling_bytes is not None:
        changes["sampling_bytes"] = float(_number("sampling_bytes", sampling_bytes, 0))
        changes["sampling_probability"] = 0.0
    if sampling_probability is not None:
        changes["sampling_probability"] = float(_number("sampling_probability", sampling_probability, 0, 1))
        if changes["sampling_probability"]:
            changes["sampling_bytes"] = 0.0
    if ring_buffer_kb is not None:
        changes["ring_buffer_kb"] = operator.index(_number("ring_buffer_kb", ring_buffer_kb, 0, 1 << 40))
    if max_stacks is not None:
        changes["max_stacks"] = operator.index(_number("max_stacks", max_stacks, 0, 1 << 32))
    if lossy is not None:
        changes["lossy"] = bool(lossy)
    vars(settings).update(changes)


class StackFilter:
    """The function of set_filter() with the answers it gave, one for each traceback."""

    def __init__(self, function):
        self.function = function
        self.by_frames = {}  # one line may be several places in the code, and so several stacks

    def __call__(self, stack):
        known = hold().answers
        answer = known.get((self, stack))
        if answer is None:
            answer = known[self, stack] = self._ask(Traceback._of_stack(stack))
        return answer

    def _ask(self, traceback):
        frames = traceback._frames
        if frames not in self.by_frames:
            self.by_frames[frames] = bool(self.function(traceback[-1])) if frames else True
        return self.by_frames[frames]


def set_filter(function):
    """
    Show only stacks that a function accepts.

    function(frame) gets the most recent Frame of a stack (filename, lineno, function) and returns
    whether to show it. It is called once for each stack, when results that contain the stack are
    first computed, never from inside an allocation. Rejected stacks are left out of snapshots taken from
    now on and of events; get_traced_memory() still counts them. None shows everything again.
    """
    if function is not None and not callable(function):
        raise TypeError(f"the filter must be a function or None, not {type(function).__name__}")
    settings.stack_filter = None if function is None else StackFilter(function)


def get_stats():
    """
    What the tracer has done so far, and what it costs, as a dict:

    events: calls of the hooks, or with sampling those that were looked at; dropped: blocks for
    which there was no memory; dropped_stacks: stacks for which there was no memory or room; stacks, sites:
    different stacks, and different (stack, domain, thread, interpreter); live_blocks: blocks in
    the table; own_bytes: memory of the tracer; stack_bytes: the part of it that stacks and sites
    use; hook_ns: time spent in the hooks, estimated from one call in 1,024; code_objects: code
    objects seen; sampled: whether blocks are sampled; sees_reuse: whether objects from free lists
    are seen.
    """
    return _tracer.stats()

# SPDX-License-Identifier: BSD-2-Clause
"""Frames, tracebacks and traces of blocks: what results are made of.

Tuples of frames have the most recent call first, as the tracer keeps them; a Traceback has
the oldest first, as the standard module's does.
"""
import linecache
from collections.abc import Sequence
from functools import total_ordering

from ._extension import _tracer
from ._stacks import LiveStack

UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def _format_size(size, sign):
    """A size for people: whole bytes up to 10 KiB, then three to five digits and a unit."""
    plus = "+" if sign else ""
    for unit in UNITS:
        digits = 1 if unit != "B" and abs(size) < 100 else 0
        if digits or abs(size) < 10240 or unit == UNITS[-1]:
            return f"{size:{plus}.{digits}f} {unit}"
        size = size / 1024


@total_ordering
class Frame:
    """
    Frame of a traceback.

    filename and lineno say where; function is the qualified name of the function,
    or None where it is not known. Frames are equal when file and line are.
    """
    __slots__ = ("_frame", "_function")
    __module__ = "wick.tracemalloc"

    def __init__(self, frame):
        self._frame = frame

    @property
    def filename(self):
        return self._frame[0]

    @property
    def lineno(self):
        return self._frame[1]

    @property
    def function(self):
        return getattr(self, "_function", None)

    def __getstate__(self):
        state = {"_frame": self._frame}
        return None, state if self.function is None else {**state, "_function": self.function}

    def __hash__(self):
        return hash(self._frame)

    def __eq__(self, other):
        return self._frame == other._frame if isinstance(other, Frame) else NotImplemented

    def __lt__(self, other):
        return self._frame < other._frame if isinstance(other, Frame) else NotImplemented

    def __str__(self):
        return f"{self.filename}:{self.lineno}"

    def __repr__(self):
        return f"<Frame filename={self.filename!r} lineno={self.lineno!r}>"


@total_ordering
class Traceback(Sequence):
    """
    Sequence of Frame instances sorted from the oldest frame
    to the most recent frame.

    total_nframe is the depth of the stack before it was cut to the limit, or None; native are the
    frames of C code that the most recent frame called, innermost first: start(native=True).
    """
    __slots__ = ("_frames", "_total_nframe", "_stack")
    __module__ = "wick.tracemalloc"

    def __init__(self, frames, total_nframe=None):
        self._frames = tuple(reversed(frames))
        self._total_nframe = total_nframe

    @classmethod
    def _of_stack(cls, stack):
        return cls(*_tracer.stack(stack))._with(LiveStack(stack))

    def _with(self, stack):
        """The same traceback, with what is known of its stack (_stacks.py)."""
        if stack is not None:
            self._stack = stack
        return self

    @property
    def total_nframe(self):
        return self._total_nframe

    @property
    def native(self):
        stack = getattr(self, "_stack", None)
        return () if stack is None else stack.native

    def _functions(self):
        """Names in the order of _frames."""
        stack = getattr(self, "_stack", None)
        names = () if stack is None else stack.functions[::-1]
        return names if len(names) == len(self._frames) else (None,) * len(self._frames)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return tuple(map(self._frame_at, self._frames[index], self._functions()[index]))
        return self._frame_at(self._frames[index], self._functions()[index])

    @staticmethod
    def _frame_at(where, function):
        frame = Frame(where)
        if function is not None:
            frame._function = function
        return frame

    def __getstate__(self):
        state = {"_frames": self._frames, "_total_nframe": self._total_nframe}
        stack = getattr(self, "_stack", None)
        return None, state if stack is None else {**state, "_stack": stack}

    def __len__(self):
        return len(self._frames)

    def __contains__(self, frame):
        return frame._frame in self._frames

    def __hash__(self):
        return hash(self._frames)

    def __eq__(self, other):
        return self._frames == other._frames if isinstance(other, Traceback) else NotImplemented

    def __lt__(self, other):
        return self._frames < other._frames if isinstance(other, Traceback) else NotImplemented

    def __str__(self):
        return str(self[0])

    def __repr__(self):
        total = "" if self._total_nframe is None else f" total_nframe={self._total_nframe}"
        return f"<Traceback {tuple(self)}{total}>"

    def format(self, limit=None, most_recent_first=False):
        """
        Format the traceback as a list of lines, with source code where it can be read.

        limit > 0 formats the limit most recent frames, limit < 0 the abs(limit) oldest ones. Frames of
        C code do not count, and come with the most recent ones.
        """
        frames = self[:] if limit is None else self[-limit:] if limit > 0 else self[:limit]
        parts = [_frame_lines(frame) for frame in frames]
        if limit is None or limit > 0:
            # The innermost function of C code is the most recent one.
            parts += [[f"  {frame}"] for frame in self._called()[::-1]]
        return [line for part in (parts[::-1] if most_recent_first else parts) for line in part]

    def _called(self):
        """Frames of C code without the interpreter's loop, which runs the most recent Python frame."""
        native = self.native
        return native[:-1] if native and native[-1].function == "_PyEval_EvalFrameDefault" else native


def _frame_lines(frame):
    lines = [f'  File "{frame.filename}", line {frame.lineno}']
    source = linecache.getline(frame.filename, frame.lineno).strip()
    return [*lines, f"    {source}"] if source else lines


class Group(Traceback):
    """What a Statistic of a thread, module, domain or interpreter has in place of a traceback."""
    __slots__ = ("kind", "key")
    __module__ = "wick.tracemalloc"

    def __init__(self, kind, key, label):
        super().__init__(((label, 0),))
        self.kind = kind
        self.key = key

    def __getstate__(self):
        none, state = super().__getstate__()
        return none, {**state, "kind": self.kind, "key": self.key}

    def __reduce__(self):
        return Group, (self.kind, self.key, self._frames[0][0])

    def __str__(self):
        return self._frames[0][0]

    def __repr__(self):
        return f"<Group {self.kind}={self.key!r}>"


class Trace:
    """
    Trace of a memory block.
    """
    __slots__ = ("_trace", "_stack")
    __module__ = "wick.tracemalloc"

    def __init__(self, trace):
        # (domain, size, frames, total_nframe)
        self._trace = trace

    @property
    def domain(self):
        return self._trace[0]

    @property
    def size(self):
        return self._trace[1]

    @property
    def traceback(self):
        return Traceback(*self._trace[2:])._with(getattr(self, "_stack", None))

    def _with(self, stack):
        if stack is not None:
            self._stack = stack
        return self

    def __getstate__(self):
        stack = getattr(self, "_stack", None)
        state = {"_trace": self._trace}
        return None, state if stack is None else {**state, "_stack": stack}

    def __hash__(self):
        return hash(self._trace)

    def __eq__(self, other):
        return self._trace == other._trace if isinstance(other, Trace) else NotImplemented

    def __str__(self):
        return f"{self.traceback}: {_format_size(self.size, False)}"

    def __repr__(self):
        return (f"<Trace domain={self.domain} size={_format_size(self.size, False)}, "
                f"traceback={self.traceback!r}>")

# SPDX-License-Identifier: BSD-2-Clause
"""Appends what the tracer records to a .wick file while the program runs.

A thread of our own takes events out of the tracer's buffer before it is full, and writes them every
so many seconds. The first part of the file has all live blocks; later parts have what changed. Each
part is complete, so the file can be read at any time, even after the program was killed.

A thread that is writing may be interrupted by code that calls us again: a signal handler, a __del__, the
function of set_filter(). Such a call never waits for itself; what it asks for is done when the thread has
written what it is writing.
"""
import atexit
import contextlib
import os
import struct
import sys
import threading
import time
import warnings

from . import _recording

# A program makes at most about this many events a second. A third of the buffer must be enough for
# the time between two looks, because another thread may keep the GIL for 5 ms, and writing takes time.
MOST_EVENTS = 20e6
BUFFER_KB = 32 << 10
AT_ONCE = 1 << 18
SHORTEST_WAIT = 0.002
FORGET = struct.pack("<QQQIBBH", 0, 0, 0, 0, 3, 0, 0)

_open = {}  # streams by the path of their file
_stop_is_due = []  # not empty: stop() was called by a thread that was writing
_this_thread = threading.local()  # is_writing: it is writing some stream


def _tracer_module():
    from . import _tracer
    return _tracer


def _capacity(tracer):
    """How many events the tracer's buffer holds; makes one if there is none."""
    from .tracemalloc._control import settings
    kilobytes = settings.started["events_kb"]
    if not kilobytes:
        kilobytes = settings.started["events_kb"] = settings.ring_buffer_kb or BUFFER_KB
        tracer.keep_events(kilobytes)
    return 1 << max(kilobytes * 1024 // _recording.RECORD_BYTES, 1).bit_length() - 1


def _marks():
    events = sys.modules.get("wick.tracemalloc._events")
    return [name for name, *_ in events._marks] if events else []


def _hold_events(tracer):
    """Makes the tracer keep the events that a stream with lossy=False has not read yet."""
    positions = [opened._position for opened in list(_open.values())
                 if opened._is_exact and opened._position is not None]
    tracer.hold_events(min(positions, default=None))


class Stream:
    """
    A file that grows while the program runs: the result of stream().

    close() writes the rest and ends it, and so does the end of the program or of a with block.
    lost is the number of events that found no room. error is None, or the exception that ended the
    stream; the program goes on without it.
    """

    def __init__(self, path, every):
        if isinstance(every, bool) or not isinstance(every, (int, float)):
            raise TypeError(f"every must be a number of seconds, not {type(every).__name__}")
        if not 0.01 <= every <= 86400:
            raise ValueError(f"every must be in range [0.01; 86400] seconds, not {every}")
        self.path = os.path.realpath(os.fsdecode(path))
        self.every = float(every)
        self.error = None
        self.closed = False
        self.lost = 0
        self._tracer = _tracer_module()
        # RLock: a thread that is interrupted while it holds it gets in again, and finds _is_busy.
        self._lock = threading.RLock()
        self._is_busy = False
        self._is_flush_due = False
        self._is_close_due = False
        self._wake = threading.Event()
        self._is_stale = False  # what we know of live blocks is wrong
        self._stuck = 0
        self._thread = None
        self._recording = None
        self._position = None  # of the next event to read
        self._is_exact = False
        if not self._tracer.is_tracing():
            raise RuntimeError("the tracemalloc module must be tracing memory allocations to stream them")
        if _open.setdefault(self.path, self) is not self:
            raise FileExistsError(f"{self.path} is being written by another stream: close that one first")
        try:
            with self._writing():
                self._begin()
        except _recording.Closed:
            pass  # in a child that the function of set_filter() has forked
        except BaseException:
            self._forget()
            raise
        finally:
            self._do_what_is_due()

    def _begin(self):
        from . import _dump
        from .tracemalloc._control import settings
        self._capacity = _capacity(self._tracer)
        self._is_exact = not settings.lossy
        shown = settings.stack_filter
        sampling = _dump._sampling(self._tracer)
        self._recording = _recording.Recording(
            self.path, self._tracer, sampling_bytes=sampling[0], probability=sampling[1],
            is_hidden=None if shown is None else lambda stack: not shown(stack), lossy=settings.lossy)
        try:
            self._put_all()
            self._recording.flush()
            self._thread = threading.Thread(target=self._run, name="wick-stream", daemon=True)
            self._thread.start()
        except BaseException:
            self._recording.close()
            raise
        self._tracer.call_before_stop(_close_before_stop)

    def _forget(self):
        """The stream has ended: its path is free."""
        self.closed = True
        if _open.get(self.path) is self:
            del _open[self.path]
        if self._is_exact:
            _hold_events(self._tracer)

    @contextlib.contextmanager
    def _writing(self):
        """
        This thread writes. Gives False if it must not: it was writing this stream when it was interrupted, or
        it was writing another one, and this one is busy. A thread that writes never waits for a lock.
        """
        was_writing = getattr(_this_thread, "is_writing", False)
        lock = self._lock
        if not lock.acquire(blocking=not was_writing):
            yield False
            return
        is_first = not self._is_busy
        before = None
        try:
            if is_first:
                self._is_busy = _this_thread.is_writing = True
                before = self._tracer.exclude_thread(True)
            yield is_first
        finally:
            if is_first:
                self._is_busy = False
                _this_thread.is_writing = was_writing
                self._tracer.exclude_thread(before)
            lock.release()

    def _do_what_is_due(self):
        """Does what was asked for by a thread that was writing. That thread, or ours, comes here."""
        if getattr(_this_thread, "is_writing", False):
            return
        while self._is_flush_due and not self.closed and not self._is_close_due:
            self._flush_now(is_asked=False)
        if self._is_close_due and not self.closed:
            self._close_now()
        if _stop_is_due and not any(opened._is_close_due for opened in list(_open.values())):
            _stop_is_due.clear()
            self._tracer.stop()

    def _put_all(self):
        """Writes all live blocks, as of the position that the next events are read from."""
        for _ in range(10):
            # Other threads may come in between: what they do is then in both.
            self._go_to(self._tracer.event_position())
            blocks = self._tracer.live_blocks()
            if self._tracer.event_position() == self._position:
                break
        self._recording.add(blocks)

    def _go_to(self, position):
        self._position = position
        if self._is_exact:
            _hold_events(self._tracer)

    def _put_new(self):
        """Writes the events since the last time."""
        if not self._tracer.is_tracing():
            self._is_stale = True
            return
        self._recording.name_marks(_marks())
        end = self._tracer.event_position()
        while self._position < end:
            data, position, lost = self._tracer.read_events(self._position, AT_ONCE)
            if position == self._position:
                # Another thread is writing this event, or there was a stop() and a start().
                self._stuck += 1
                if self._stuck > 3:
                    self._is_stale = True
                    self._go_to(end)
                return
            self._stuck = 0
            self._go_to(position)
            if lost:
                self.lost += lost
                self._is_stale = True
                self._recording.lost(lost)
            self._recording.add(data)

    def _flush(self):
        """Writes everything. After a loss all live blocks come again, so that an error does not last."""
        self._put_new()
        if self._is_stale and self._tracer.is_tracing():
            self._recording.add(FORGET)
            self._put_all()
            self._is_stale = False
            self._stuck = 0
        self._recording.flush()

    def _run(self):
        self._tracer.exclude_thread(True)
        due = time.monotonic() + self.every
        between = max(self._capacity / 3 / MOST_EVENTS, SHORTEST_WAIT)
        while not self.closed:
            self._wake.wait(max(min(due - time.monotonic(), between), SHORTEST_WAIT))
            self._wake.clear()
            with self._writing() as is_first:
                if is_first and not self.closed:
                    is_due = time.monotonic() >= due
                    self._try(self._flush if is_due else self._put_new)
                    due = time.monotonic() + self.every if is_due else due
            self._try(self._do_what_is_due)

    def _try(self, function):
        """Ends the stream if a function fails: otherwise only our own thread would notice."""
        try:
            function()
        except _recording.Closed:
            pass  # in a forked child
        except BaseException as error:
            self._fail(error)
            self._warn(error)

    def _fail(self, error):
        """Ends the stream. What was flushed stays in the file."""
        self.error = error
        self._forget()
        self._recording.close()

    def _warn(self, error):
        warnings.warn(f"the stream to {self.path} has ended: {error}", RuntimeWarning, stacklevel=2)

    def flush(self):
        """
        Writes everything up to now; when it returns, the file has it.

        A signal handler, a __del__ or the function of set_filter() may interrupt a thread that is writing, and
        call flush(). It then returns at once, and the thread writes again before it goes on.
        """
        try:
            self._flush_now(is_asked=True)
        finally:
            self._do_what_is_due()

    def _flush_now(self, is_asked):
        with self._writing() as is_first:
            if self.closed and not is_asked:
                return
            if self.closed:
                raise self.error or ValueError(f"the stream to {self.path} is closed")
            self._is_flush_due = not is_first
            if is_first:
                self._flush_or_fail()
            else:
                self._wake.set()

    def _flush_or_fail(self):
        try:
            self._flush()
        except _recording.Closed:
            pass  # in a forked child
        except Exception as error:
            self._fail(error)
            raise
        except BaseException:
            self._is_stale = True  # Ctrl-C: the next part has all live blocks again
            raise

    def close(self):
        """
        Writes the rest and the end of the file. A stream that has ended stays as it is. If close() interrupts
        a thread that is writing, as flush() may, it returns at once, and the thread closes the stream later.
        """
        try:
            self._close_now()
        finally:
            self._do_what_is_due()

    def _close_now(self):
        with self._writing() as is_first:
            if self.closed:
                return
            self._is_close_due = not is_first
            if is_first:
                self._finish()
        self._wake.set()
        if is_first and self._thread is not threading.current_thread():
            self._thread.join(5)

    def _finish(self):
        try:
            self._flush()
            self._recording.finish()
        except _recording.Closed:
            pass  # in a forked child
        except BaseException as error:
            self.error = error
            raise
        finally:
            self._forget()
            self._recording.close()

    def _leave_to_parent(self):
        """In a forked child: the file belongs to the parent, and so does the thread."""
        self.closed = True
        self._is_flush_due = self._is_close_due = False
        if self._recording is not None:
            self._recording.close()
        # The thread that held the lock may be gone. If this thread holds it, it goes on with the old lock.
        self._lock = threading.RLock()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __repr__(self):
        state = "ended" if self.error else "closed" if self.closed else "open"
        return f"<Stream {self.path!r} every={self.every:g} {state}>"


def stream(path, every=1.0):
    """Opens a stream; wick.tracemalloc.stream() describes the arguments."""
    return Stream(path, every)


def close_all():
    """Ends all streams: at the end of the program, and before the tracer stops."""
    for opened in list(_open.values()):
        try:
            opened.close()
        except Exception as error:
            opened._warn(error)


def _close_before_stop():
    """Closes all streams. Returns whether stop() has to wait, because the thread that calls it is writing a stream."""
    close_all()
    is_later = any(opened._is_close_due for opened in list(_open.values()))
    if is_later:
        _stop_is_due.append(True)
    return is_later


def _in_child():
    for opened in list(_open.values()):
        opened._leave_to_parent()
    _open.clear()
    _stop_is_due.clear()
    _tracer_module().hold_events(None)


atexit.register(close_all)
os.register_at_fork(after_in_child=_in_child)

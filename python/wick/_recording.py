# SPDX-License-Identifier: BSD-2-Clause
"""Writes the events of the tracer to a .wick file, through libwick.

Events are passed on as the bytes that the tracer returns: only a site that occurs for the first time
costs time in Python.
"""

import array
import ctypes
import os
import sys
import sysconfig
import threading
from ctypes import byref, c_uint32, c_uint64

from . import _library

# Python's own allocator rounds sizes up to this; malloc() nearly does.
BLOCK_UNIT = 16
# The tracer counts this many bytes more for each block when it samples, so that empty ones are seen.
SAMPLE_EXTRA = 1
SITES_AT_ONCE = 1024
RECORD_BYTES = 32

# The domains of tracemalloc are 32-bit numbers, the spaces of a recording 8-bit ones.
SPACES = 256
HIDDEN = 0xFFFFFFFF


class Closed(Exception):
    """The recording is closed: after a fork the file belongs to the parent."""


class Options(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("title", ctypes.c_char_p),
        ("source", ctypes.c_char_p),
        ("start_ns", c_uint64),
        ("sample_bytes", c_uint64),
        ("probability", ctypes.c_double),
        ("block_unit", c_uint32),
        ("whole", c_uint32),
        ("sample_extra", c_uint32),
    ]


class Frame(ctypes.Structure):
    _fields_ = [
        ("function", ctypes.c_char_p),
        ("file", ctypes.c_char_p),
        ("line", c_uint32),
        ("is_library", c_uint32),
    ]


class Stack(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("frames", ctypes.c_void_p),
        ("frame_count", ctypes.c_size_t),
        ("addresses", ctypes.c_void_p),
        ("address_count", ctypes.c_size_t),
        ("cut", c_uint32),
    ]


class Site(ctypes.Structure):
    _fields_ = [
        ("number", c_uint32),
        ("stack", c_uint32),
        ("thread", c_uint32),
        ("space", c_uint32),
    ]


def _bytes(text):
    return os.fsencode(text).replace(b"\0", b"?")


def _folders_of_libraries():
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    found = {sysconfig.get_path(name) for name in names}
    return tuple(path.rstrip("/") + "/" for path in found if path)


def title():
    """What is recorded: the script, as the shell would show it."""
    name = sys.argv[0] if getattr(sys, "argv", None) and sys.argv[0] else ""
    if name in ("", "-c"):
        return "python"
    return os.path.basename(name)


def _address(values):
    return values.buffer_info()[0] if len(values) else None


class Recording:
    """A .wick file with heap events of this process, open for writing.

    Used by one thread at a time. The names of sites, stacks and threads come from the tracer.
    """

    def __init__(self, path, tracer, *, sampling_bytes=0.0, probability=0.0, start_ns=0, whole=False,
                 is_hidden=None, lossy=True):
        """
        is_hidden(stack id) says whether blocks of a stack are left out; None: none are. If lossy, other
        threads run while events are written, and may fill the tracer's buffer meanwhile.
        """
        self._handle = None
        self._lib = _library.load()
        self._quick = _library.load_quick()
        self._tracer = tracer
        # While this is held, the tracer does not reuse ids of sites. A list of traces has ids of its own.
        self._held = tracer.hold() if hasattr(tracer, "hold") else None
        self._is_hidden = is_hidden
        self._error = _library.Error()
        self._frames = {}
        self._stacks = {}
        self._threads = {}
        self._spaces = {0: 0}
        self._marks = 0
        self._folders = _folders_of_libraries()
        options = Options(
            size=ctypes.sizeof(Options), title=_bytes(title()), source=b"python",
            start_ns=start_ns, block_unit=BLOCK_UNIT, whole=whole, sample_extra=SAMPLE_EXTRA,
            sample_bytes=round(sampling_bytes), probability=probability if probability < 1 else 0.0)
        handle = ctypes.c_void_p()
        self._run(self._lib.wick_heap_writer_open, os.fsencode(path), byref(options), byref(handle))
        self._handle = handle
        self._put = (self._lib if lossy else self._quick).wick_heap_writer_add

    @property
    def _writer(self):
        if self._handle is None:
            raise Closed
        return self._handle

    def _run(self, function, *arguments):
        return _library.check(function(*arguments, byref(self._error)), self._error)

    def _call(self, name, *arguments):
        return self._run(getattr(self._quick, "wick_heap_writer_" + name), *arguments)

    def _frame(self, function, file, line):
        key = (function, file, line)
        known = self._frames.get(key)
        if known is None:
            is_library = file.startswith(self._folders) or file.startswith("<frozen ")
            frame = Frame(_bytes(function), _bytes(file), max(line or 0, 0), is_library)
            ret = c_uint32()
            self._call("frame", self._writer, byref(frame), byref(ret))
            known = self._frames[key] = ret.value
        return known

    def _stack(self, stack_id, domain, interpreter):
        """The stack, called by frames for an interpreter other than the main one and for a domain."""
        key = (stack_id, domain, interpreter)
        known = self._stacks.get(key)
        if known is not None:
            return known
        frames, total = self._tracer.stack(stack_id)
        names = self._tracer.stack_names(stack_id)
        # A stack has addresses only if the tracer records native frames.
        native = array.array("Q", self._tracer.stack_native(stack_id))
        ids = array.array("I")
        if interpreter:
            ids.append(self._frame(f"[interpreter {interpreter}]", "", 0))
        if domain:
            ids.append(self._frame(f"[domain {domain}]", "", 0))
        # A stack that is unknown has one frame, and no names.
        names = names or ("",) * len(frames)
        for (file, line), name in zip(reversed(frames), reversed(names)):
            ids.append(self._frame(name or file, file, line))
        stack = Stack(ctypes.sizeof(Stack), _address(ids), len(ids), _address(native), len(native),
                      max((total or 0) - len(frames), 0))
        ret = c_uint32()
        self._call("stack", self._writer, byref(stack), byref(ret))
        self._stacks[key] = ret.value
        return ret.value

    def _thread(self, tid):
        known = self._threads.get(tid)
        if known is None:
            # The main thread keeps the name of the program, as everywhere else in wick.
            names = getattr(self._tracer, "thread_names", None)  # of a file that was loaded
            if names is None:
                names = {thread.native_id: thread.name for thread in threading.enumerate()}
            name = names.get(tid) if tid != os.getpid() else None
            ret = c_uint32()
            self._call("thread", self._writer, tid, None if name is None else _bytes(name), byref(ret))
            known = self._threads[tid] = ret.value
        return known

    def _define(self, site):
        stack, domain, tid, interpreter = self._tracer.site(site)
        if self._is_hidden is not None and self._is_hidden(stack):
            self._call("site", self._writer, byref(Site(site, HIDDEN, 0, 0)))
            return
        space = self._spaces.setdefault(domain, min(len(self._spaces), SPACES - 1))
        item = Site(site, self._stack(stack, domain, interpreter), self._thread(tid), space)
        self._call("site", self._writer, byref(item))

    def add(self, data):
        """Adds events, as returned by read_events() and live_blocks() of the tracer."""
        count = len(data) // RECORD_BYTES
        new = (c_uint32 * SITES_AT_ONCE)()
        found = SITES_AT_ONCE
        while found == SITES_AT_ONCE:
            found = self._quick.wick_heap_writer_new_sites(self._writer, data, count, new, SITES_AT_ONCE)
            _library.check(found, _library.Error())
            for site in new[:found]:
                self._define(site)
        self._run(self._put, self._writer, data, count)

    def name_marks(self, names):
        """Gives all marks their names; `names` grows and never changes otherwise."""
        while self._marks < len(names):
            self._call("name_mark", self._writer, self._marks, _bytes(names[self._marks]))
            self._marks += 1

    def lost(self, count):
        self._call("lost", self._writer, count)

    def flush(self):
        self._run(self._lib.wick_heap_writer_flush, self._writer)

    def finish(self):
        self._run(self._lib.wick_heap_writer_finish, self._writer)

    @property
    def size(self):
        """Bytes in the file."""
        return self._lib.wick_heap_writer_bytes(self._writer)

    def close(self):
        """Closes the file. Without finish() it stays readable, but is marked as incomplete."""
        self._held = None
        handle, self._handle = self._handle, None
        if handle:
            self._lib.wick_heap_writer_close(handle)

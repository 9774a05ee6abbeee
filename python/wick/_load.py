# SPDX-License-Identifier: BSD-2-Clause
"""Reads the live blocks of a .wick file: of a dump, a stream or a recording of wick heap."""
import array
import ctypes
import os
import re
import struct
from ctypes import byref, c_char_p, c_size_t, c_uint32, c_uint64, c_void_p

from . import _library

MAGIC = b"\x89WICK\r\n\x1a"

BLOCK = struct.Struct("<QQdII")  # address, size, weight, site, zero
AT_ONCE = 1 << 16

# What _recording.py puts at the root of a stack.
_INTERPRETER = re.compile(r"\[interpreter (\d+)\]")
_DOMAIN = re.compile(r"\[domain (\d+)\]")
_CUT = "[truncated]"


class Frame(ctypes.Structure):
    _fields_ = [
        ("function", c_char_p),
        ("file", c_char_p),
        ("module", c_char_p),
        ("vaddr", c_uint64),
        ("line", c_uint32),
        ("inlined", c_uint32),
    ]


class Site(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("frames", ctypes.POINTER(Frame)),
        ("frame_count", c_size_t),
        ("cut", c_uint32),
        ("pid", c_uint32),
        ("tid", c_uint32),
        ("thread", c_char_p),
    ]


class Place:
    """A site of the file: the stack as tracebacks have it, most recent first, and who allocated."""

    def __init__(self, site):
        self.thread = site.tid
        # In a recording, the main thread has the name of the program; Python calls it MainThread.
        self.thread_name = "MainThread" if site.tid == site.pid else os.fsdecode(site.thread or b"")
        self.domain = self.interpreter = 0
        frames, native = [], []
        for frame in site.frames[:site.frame_count]:
            self._add(frame, frames, native)
        frames.reverse()
        native.reverse()
        # A program that is not Python has only native frames.
        self.frames = tuple(where for where, _ in frames or native) or (("<unknown>", 0),)
        self.functions = tuple(name for _, name in frames)
        self.native = tuple(parts for _, parts in native if parts) if frames else ()
        self.total_nframe = len(self.frames) + site.cut
        self.is_cut = bool(site.cut)

    def _add(self, frame, frames, native):
        name = frame.function.decode("utf-8", "replace")
        interpreter = not frame.file and _INTERPRETER.fullmatch(name)
        domain = not frame.file and _DOMAIN.fullmatch(name)
        if interpreter:
            self.interpreter = int(interpreter[1])
        elif domain:
            self.domain = int(domain[1])
        elif frame.module:
            module = os.fsdecode(frame.module)
            # Calls that the compiler inlined are not frames of the tracer.
            native.append(((os.fsdecode(frame.file) or module, frame.line),
                           None if frame.inlined else (frame.vaddr, module, frame.vaddr, name)))
        elif name != _CUT:
            file = os.fsdecode(frame.file) or "<unknown>"
            frames.append(((file, frame.line), name if name != file else None))

    def main_file(self):
        """The file of the program, if this stack shows it: it is called by nothing but runpy."""
        calls = [(file, name) for (file, _), name in zip(self.frames, self.functions) if "runpy" not in file]
        return calls[-1][0] if calls and not self.is_cut and calls[-1][1] == "<module>" else None


class Blocks:
    """The blocks of a file that were live at its end."""

    def __init__(self, path):
        self.sizes = array.array("Q")
        self.sites = array.array("L")
        self.weights = array.array("d")
        self.places = {}
        lib = _library.load()
        error = _library.Error()
        handle = c_void_p()
        _library.check(lib.wick_live_blocks_load(os.fsencode(path), None, byref(handle), byref(error)), error)
        try:
            self._read(lib, handle)
        finally:
            lib.wick_live_blocks_free(handle)

    def _read(self, lib, handle):
        room = ctypes.create_string_buffer(AT_ONCE * BLOCK.size)
        first = 0
        while True:
            count = lib.wick_live_blocks_get(handle, first, AT_ONCE, room)
            if count == 0:
                break
            for _, size, weight, site, _ in BLOCK.iter_unpack(room.raw[:count * BLOCK.size]):
                self.sizes.append(size)
                self.weights.append(weight)
                self.sites.append(site)
            first += count
        for number in set(self.sites):
            site = Site(size=ctypes.sizeof(Site))
            _library.check(lib.wick_live_blocks_site(handle, number, byref(site)), _library.Error())
            self.places[number] = Place(site)

    @property
    def is_sampled(self):
        return any(weight != 1.0 for weight in self.weights)

    def traces(self):
        """[(domain, size, frames, total_nframe)], as _get_traces() of the tracer returns them."""
        places = self.places
        return [(place.domain, size, place.frames, place.total_nframe)
                for place, size in zip(map(places.__getitem__, self.sites), self.sizes)]

    def where(self):
        """{site: (stack, domain, thread, interpreter)}; sites stand for their stacks here."""
        return {number: (number, place.domain, place.thread, place.interpreter)
                for number, place in self.places.items()}

    def stacks(self):
        """{site: (functions, frames of C code, module)}; see _stacks.KeptStack.plain()."""
        mains = {place.main_file() for place in self.places.values()}
        modules = _Modules({file: "__main__" for file in mains if file})
        return {number: (place.functions, place.native, self._module(place, modules))
                for number, place in self.places.items() if place.functions}

    @staticmethod
    def _module(place, modules):
        from .tracemalloc._native import extension_among
        from .tracemalloc._stacks import module_of_file
        return extension_among(path for _, path, _, _ in place.native) or module_of_file(place.frames[0][0], modules)

    def threads(self):
        return {place.thread: place.thread_name for place in self.places.values() if place.thread_name}


class _Modules(dict):
    """{source file: name of the module}, from the location of the file: a package ends where there is no __init__.py."""

    def get(self, file, default=None):
        if file not in self:
            self[file] = self._name(file) or default
        return self[file]

    @staticmethod
    def _name(file):
        folder, name = os.path.split(file)
        names = [] if name == "__init__.py" else [os.path.splitext(name)[0]]
        while os.path.exists(os.path.join(folder, "__init__.py")):
            folder, name = os.path.split(folder)
            names.insert(0, name)
        return ".".join(names) if os.path.exists(file) else None


def load(path):
    """The live blocks of a .wick file."""
    return Blocks(path)


def is_recording(start):
    """Whether a file that begins with these bytes is a .wick file."""
    return start.startswith(MAGIC)


def load_snapshot(path):
    """The live blocks as a wick.tracemalloc.Snapshot."""
    from .tracemalloc._blocks import ListedBlocks
    from .tracemalloc._snapshot import Snapshot
    blocks = load(path)
    tags = {"sites": blocks.sites, "where": blocks.where(), "stacks": blocks.stacks(), "threads": blocks.threads()}
    if blocks.is_sampled:
        tags["weights"] = blocks.weights
    limit = max((place.total_nframe for place in blocks.places.values()), default=1)
    return Snapshot(ListedBlocks(blocks.traces(), tags), limit)

# SPDX-License-Identifier: BSD-2-Clause
"""Names for addresses of machine code in this process, from the dynamic linker."""
import functools
import os


class NativeFrame:
    """A frame of machine code: its address, file, offset in it, and function where exported."""
    __slots__ = ("address", "filename", "offset", "function")
    __module__ = "wick.tracemalloc"

    def __init__(self, address, filename, offset, function):
        self.address = address
        self.filename = filename
        self.offset = offset
        self.function = function

    def __str__(self):
        return f"{self.function or hex(self.offset)} ({os.path.basename(self.filename)})"

    def __repr__(self):
        return f"<NativeFrame {self}>"


@functools.lru_cache(None)
def _linker():
    """dladdr(), and the type of its answer. ctypes is loaded only if native frames are looked at."""
    import ctypes

    class Found(ctypes.Structure):
        """Dl_info of <dlfcn.h>"""
        _fields_ = [("file", ctypes.c_char_p), ("base", ctypes.c_void_p),
                    ("symbol", ctypes.c_char_p), ("address", ctypes.c_void_p)]

    function = ctypes.CDLL(None).dladdr
    function.argtypes = (ctypes.c_void_p, ctypes.POINTER(Found))
    return function, Found


@functools.lru_cache(65536)
def _frame(address):
    function, answer = _linker()
    found = answer()
    # A return address may be the first byte of the next function.
    if not function(address - 1, found) or not found.file:
        return NativeFrame(address, "<unknown>", address, None)
    symbol = found.symbol.decode("utf-8", "replace") if found.symbol else None
    return NativeFrame(address, os.fsdecode(found.file), address - (found.base or 0), symbol)


def resolve(addresses):
    """The frames at some return addresses, in the same order."""
    return tuple(map(_frame, addresses))


# The interpreter, its C library and ourselves: they allocate for the module that calls them.
_SERVANTS = ("python", "libpython", "libc.so", "libc-", "ld-linux", "libwick", "_tracer", "libpthread")


@functools.lru_cache(65536)
def extension_of(addresses):
    """The extension module or library that called for the memory, or None: the innermost one."""
    for frame in resolve(addresses):
        name = os.path.basename(frame.filename)
        if not name.startswith((*_SERVANTS, "<")):
            return name.split(".", 1)[0]
    return None

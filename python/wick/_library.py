# SPDX-License-Identifier: BSD-2-Clause
"""Finds and loads libwick, which reads and writes recordings.

Functions of the library are listed once, in PROTOTYPES. They are called like this:

    lib = load()
    error = Error()
    check(lib.wick_export_recording(source, None, b"pprof", target, byref(error)), error)

A call releases the GIL, so other threads run while libwick works; see load_quick() for short calls.
"""

import ctypes
import errno
import os
from ctypes import POINTER, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

# The oldest libwick that has everything below.
NEEDED = (0, 9)
NAME = "libwick.so.0"


class Error(ctypes.Structure):
    """struct wick_error: pass byref(error) as the last argument, then call check()."""

    _fields_ = [
        ("code", c_int),
        ("text", ctypes.c_char * 768),
        ("remedy", ctypes.c_char * 512),
    ]


class LibraryError(ImportError):
    """libwick is missing or does not match this package."""


# name: (type of the result, types of the arguments)
PROTOTYPES = {
    "wick_export_recording": (
        c_int, [c_char_p, c_void_p, c_char_p, c_char_p, POINTER(Error)]),
    "wick_live_blocks_load": (c_int, [c_char_p, c_void_p, POINTER(c_void_p), POINTER(Error)]),
    "wick_live_blocks_get": (c_size_t, [c_void_p, c_size_t, c_size_t, c_void_p]),
    "wick_live_blocks_site": (c_int, [c_void_p, c_uint32, c_void_p]),
    "wick_live_blocks_free": (None, [c_void_p]),
    "wick_page": (c_int, [c_char_p, c_void_p, c_uint32, c_char_p, POINTER(Error)]),
    "wick_heap_writer_open": (c_int, [c_char_p, c_void_p, POINTER(c_void_p), POINTER(Error)]),
    "wick_heap_writer_close": (None, [c_void_p]),
    "wick_heap_writer_frame": (c_int, [c_void_p, c_void_p, POINTER(c_uint32), POINTER(Error)]),
    "wick_heap_writer_stack": (c_int, [c_void_p, c_void_p, POINTER(c_uint32), POINTER(Error)]),
    "wick_heap_writer_thread": (
        c_int, [c_void_p, c_uint32, c_char_p, POINTER(c_uint32), POINTER(Error)]),
    "wick_heap_writer_site": (c_int, [c_void_p, c_void_p, POINTER(Error)]),
    "wick_heap_writer_new_sites": (
        c_int64, [c_void_p, c_char_p, c_size_t, POINTER(c_uint32), c_size_t]),
    "wick_heap_writer_add": (c_int, [c_void_p, c_char_p, c_size_t, POINTER(Error)]),
    "wick_heap_writer_lost": (c_int, [c_void_p, c_uint64, POINTER(Error)]),
    "wick_heap_writer_name_mark": (c_int, [c_void_p, c_uint32, c_char_p, POINTER(Error)]),
    "wick_heap_writer_flush": (c_int, [c_void_p, POINTER(Error)]),
    "wick_heap_writer_finish": (c_int, [c_void_p, POINTER(Error)]),
    "wick_heap_writer_bytes": (c_uint64, [c_void_p]),
}

_REMEDY = "install wick (make install, or its package), or set WICK_LIBRARY to the path of libwick.so"
_loaded = None
_quick = None


def check(code, error):
    """Returns a code that is not negative, or raises what the library reported."""
    if code >= 0:
        return code
    text = error.text.decode("utf-8", "replace") or os.strerror(-code)
    remedy = error.remedy.decode("utf-8", "replace")
    if remedy:
        text = f"{text}; {remedy}"
    if -code in (errno.EINVAL, errno.ERANGE, errno.E2BIG, errno.EBADMSG):
        raise ValueError(text)
    if -code == errno.ENOMEM:
        raise MemoryError(text)
    raise OSError(-code, text)


def _candidates():
    """Paths to try: beside the package, in the build of its source tree, then the name alone, for the loader."""
    here = os.path.dirname(os.path.abspath(__file__))
    for folder in (here, os.path.join(here, "..", "..", "build")):
        for name in (NAME, "libwick.so"):
            path = os.path.realpath(os.path.join(folder, name))
            if _is_trusted(path):
                yield path
    yield NAME


def _is_trusted(path):
    """Whether a file exists that nobody but the user and root can have put there."""
    try:
        return os.stat(path).st_uid in (0, os.geteuid())
    except OSError:
        return False


def _open():
    chosen = os.environ.get("WICK_LIBRARY")
    if chosen:
        try:
            return ctypes.CDLL(chosen)
        except OSError as why:
            raise LibraryError(f"WICK_LIBRARY={chosen} cannot be loaded: {why}") from None
    for path in _candidates():
        try:
            return ctypes.CDLL(path)
        except OSError as failure:
            why = failure
    raise LibraryError(f"libwick cannot be loaded: {why}; {_REMEDY}") from None


def _version(library):
    try:
        function = library.wick_version
    except AttributeError:
        return "0.8 or older"
    function.restype = c_char_p
    function.argtypes = []
    return function().decode()


def _prepare(library):
    version = _version(library)
    try:
        if tuple(int(part) for part in version.split(".")[:2]) < NEEDED:
            raise ValueError
        for name, (result, arguments) in PROTOTYPES.items():
            function = getattr(library, name)
            function.restype = result
            function.argtypes = arguments
    except (AttributeError, ValueError):
        needed = ".".join(map(str, NEEDED))
        raise LibraryError(
            f"{library._name} is libwick {version}, but this package needs {needed}; "
            "install both from the same release of wick") from None
    return library


def load():
    """The library, a ctypes.CDLL. Raises LibraryError with a remedy if it cannot be used."""
    global _loaded
    if _loaded is None:
        _loaded = _prepare(_open())
    return _loaded


def load_quick():
    """
    The same library for short calls. They keep the GIL: getting it back could take 5 ms for each
    other thread that waits for it.
    """
    global _quick
    if _quick is None:
        _quick = _prepare(ctypes.PyDLL(load()._name))
    return _quick

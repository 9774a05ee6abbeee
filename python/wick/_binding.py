# SPDX-License-Identifier: BSD-2-Clause
"""The structs and functions of libwick that this package calls, as ctypes sees them.

Fields are those of include/wick; the C compiler's rules for padding are ctypes' own. A ctypes call releases
the GIL, so other threads run while libwick works.
"""
from __future__ import annotations

import ctypes
import functools
import os
from ctypes import POINTER, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_uint32, c_uint64, c_void_p

from . import _library
from ._errors import failure

MAIN_VALUE = 0xFFFFFFFF


class Sized(ctypes.Structure):
    """A struct that begins with its size: libraries with more or fewer members understand it."""

    def __init__(self, **members):
        super().__init__(**members)
        self.size = ctypes.sizeof(self)


class LoadOptions(Sized):
    _fields_ = [("size", c_size_t), ("event", c_char_p), ("from_ns", c_uint64), ("to_ns", c_uint64),
                ("only", c_char_p), ("ignore", c_char_p), ("symbolize", c_uint), ("no_kernel", c_uint),
                ("symbol_paths", POINTER(c_char_p))]


class RecordOptions(Sized):
    _fields_ = [("size", c_size_t), ("duration_ns", c_uint64), ("frequency_hz", c_uint32), ("mode", c_uint32),
                ("engine", c_char_p), ("recording", c_char_p), ("load", POINTER(LoadOptions)),
                ("stop_fd", POINTER(c_int)), ("no_children", c_uint), ("started_fd", POINTER(c_int))]


class ProfileInfo(Sized):
    _fields_ = [("size", c_size_t), ("title", c_char_p), ("start_realtime_ns", c_uint64), ("duration_ns", c_uint64),
                ("period_ns", c_uint64), ("samples", c_uint64), ("lost", c_uint64), ("unreadable", c_uint64),
                ("truncated", c_uint64), ("unsymbolised", c_uint64), ("value_count", c_uint32),
                ("main_value", c_uint32), ("incomplete", c_uint32)]


class ProfileStack(Sized):
    _fields_ = [("size", c_size_t), ("frames", c_void_p), ("frame_count", c_size_t), ("values", POINTER(c_int64)),
                ("value_count", c_uint32), ("pid", c_uint32), ("tid", c_uint32), ("thread", c_void_p),
                ("process", c_void_p), ("state", c_void_p), ("labels", c_void_p), ("label_count", c_size_t)]


class ProfileFunction(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("file", c_char_p), ("module", c_char_p),
                ("self_value", c_int64), ("total_value", c_int64)]


class FlameOptions(Sized):
    _fields_ = [("size", c_size_t), ("title", c_char_p), ("value", c_char_p), ("colors", c_uint32),
                ("width_px", c_uint32), ("icicle", c_uint32), ("inverted", c_uint32), ("by_thread", c_uint32)]


class LeakOptions(Sized):
    _fields_ = [("size", c_size_t), ("load", POINTER(LoadOptions)), ("min_confidence", c_double),
                ("min_age_ns", c_uint64), ("suppressions", POINTER(c_char_p)), ("all", c_uint32)]


class LeakAmount(ctypes.Structure):
    _fields_ = [("bytes", c_uint64), ("blocks", c_uint64)]


class LeaksInfo(Sized):
    _fields_ = [("size", c_size_t), ("title", c_char_p), ("duration_ns", c_uint64), ("definite", LeakAmount),
                ("indirect", LeakAmount), ("probable", LeakAmount), ("possible", LeakAmount),
                ("reachable", LeakAmount), ("growth", LeakAmount), ("unscanned", LeakAmount),
                ("suppressed", LeakAmount), ("left_out", LeakAmount), ("lost_bytes", c_uint64),
                ("growing", c_uint64), ("double_frees", c_uint64), ("foreign_frees", c_uint64),
                ("scanned", c_uint32)]


class Leak(Sized):
    _fields_ = [("size", c_size_t), ("leak_class", c_uint32), ("line", c_uint32), ("class_name", c_char_p),
                ("confidence", c_double), ("method", c_char_p), ("evidence", c_char_p), ("advice", c_char_p),
                ("bytes", c_uint64), ("blocks", c_uint64), ("indirect_bytes", c_uint64),
                ("indirect_blocks", c_uint64), ("age_ns", c_uint64), ("first_ns", c_uint64), ("last_ns", c_uint64),
                ("function", c_char_p), ("file", c_char_p), ("module", c_char_p), ("stack_count", c_size_t)]


class LeakStack(Sized):
    _fields_ = [("size", c_size_t), ("bytes", c_uint64), ("blocks", c_uint64), ("frames", c_void_p),
                ("frame_count", c_size_t)]


_ERROR = POINTER(_library.Error)
_HANDLE = c_void_p
_FLAME_FILE = (c_int, _HANDLE, POINTER(FlameOptions), c_char_p, _ERROR)

# name: type of the result, types of the arguments. call() fills in a last argument of type _ERROR.
_PROTOTYPES = {
    "wick_load": (c_int, c_char_p, POINTER(LoadOptions), POINTER(c_void_p), _ERROR),
    "wick_profile_free": (None, _HANDLE),
    "wick_profile_process": (c_int, c_int, POINTER(RecordOptions), POINTER(c_void_p), _ERROR),
    "wick_profile_describe": (c_int, _HANDLE, POINTER(ProfileInfo), _ERROR),
    "wick_profile_value_name": (c_char_p, _HANDLE, c_uint32),
    "wick_profile_value_unit": (c_char_p, _HANDLE, c_uint32),
    "wick_stacks_new": (c_int, _HANDLE, POINTER(c_void_p), _ERROR),
    "wick_stacks_next": (c_int, _HANDLE, POINTER(ProfileStack)),
    "wick_stacks_free": (None, _HANDLE),
    "wick_functions_new": (c_int, _HANDLE, c_uint32, POINTER(c_void_p), _ERROR),
    "wick_functions_count": (c_size_t, _HANDLE),
    "wick_functions_get": (c_int, _HANDLE, c_size_t, POINTER(ProfileFunction)),
    "wick_functions_free": (None, _HANDLE),
    "wick_flame_svg": _FLAME_FILE,
    "wick_flame_html": _FLAME_FILE,
    "wick_flame_png": _FLAME_FILE,
    "wick_flame_html_text": (c_int, _HANDLE, POINTER(FlameOptions), POINTER(c_void_p), POINTER(c_size_t), _ERROR),
    "wick_export": (c_int, _HANDLE, c_char_p, c_char_p, _ERROR),
    "wick_export_text": (c_int, _HANDLE, c_char_p, POINTER(c_void_p), POINTER(c_size_t), _ERROR),
    "wick_export_recording": (c_int, c_char_p, POINTER(LoadOptions), c_char_p, c_char_p, _ERROR),
    "wick_text_free": (None, c_void_p),
    "wick_detect_leaks": (c_int, c_char_p, POINTER(LeakOptions), POINTER(c_void_p), _ERROR),
    "wick_leaks_free": (None, _HANDLE),
    "wick_leaks_describe": (c_int, _HANDLE, POINTER(LeaksInfo), _ERROR),
    "wick_leaks_count": (c_size_t, _HANDLE),
    "wick_leaks_get": (c_int, _HANDLE, c_size_t, POINTER(Leak)),
    "wick_leaks_stack": (c_int, _HANDLE, c_size_t, c_size_t, POINTER(LeakStack)),
}


@functools.lru_cache(maxsize=None)
def function(name):
    """A function of libwick. Its types are set for this module only, even if others use the library."""
    result, *arguments = _PROTOTYPES[name]
    return ctypes.CFUNCTYPE(result, *arguments)((name, _library.load()))


def call(name, *arguments):
    """Calls a function that describes its failures, and raises them."""
    error = _library.Error()
    code = function(name)(*arguments, ctypes.byref(error))
    if code < 0:
        raise failure(code, text(error.text), text(error.remedy))
    return code


def create(name, *arguments):
    """Calls a function whose last result is an object of libwick. Returns the object's address."""
    handle = c_void_p()
    call(name, *arguments, ctypes.byref(handle))
    return handle.value


def create_text(name, *arguments):
    """Calls a _text function. Returns the bytes."""
    address = c_void_p()
    size = c_size_t()
    call(name, *arguments, ctypes.byref(address), ctypes.byref(size))
    try:
        return ctypes.string_at(address.value, size.value)
    finally:
        function("wick_text_free")(address)


def text(data):
    """A text of libwick, which may hold names of files and functions in any encoding."""
    return data.decode("utf-8", "replace") if data else ""


def path(name):
    """A path for libwick, from a str, bytes or os.PathLike."""
    return os.fsencode(os.fspath(name))


def optional(words):
    """A text for libwick; None stays None."""
    return None if words is None else words.encode()


def path_list(names):
    """An array of paths that ends with NULL, or None."""
    names = [path(name) for name in names or ()]
    return (c_char_p * (len(names) + 1))(*names, None) if names else None

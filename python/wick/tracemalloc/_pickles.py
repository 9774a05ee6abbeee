# SPDX-License-Identifier: BSD-2-Clause
"""Snapshots in files.

Files name the classes of the standard module: it can load what we write, we can load what it
writes. A pickle names a class by its module, and ours are in another one, so a class is
written as the call that finds it: getattr(import_module("tracemalloc"), "Snapshot").
"""
import copyreg
import importlib
import os
import pickle
import sys

STANDARD = "tracemalloc"
OURS = "wick.tracemalloc"
# Written for people who have only the standard module.
SHARED = ("Snapshot", "_Traces", "Trace", "Traceback", "Frame", "Statistic", "StatisticDiff",
          "BaseFilter", "Filter", "DomainFilter")
# What their instances have in the standard module, where they have nothing else.
SLOTS = {"Frame": ("_frame",), "Traceback": ("_frames", "_total_nframe"), "Trace": ("_trace",),
         "Statistic": ("traceback", "size", "count"),
         "StatisticDiff": ("traceback", "size", "size_diff", "count", "count_diff")}
FORMATS = {".wick": "wick", ".pprof": "pprof", ".pb.gz": "pprof", ".speedscope.json": "speedscope",
           ".perfetto": "perfetto", ".json": "json", ".html": "html"}


def format_of(filename):
    """The format that the extension of a name asks for, or None for a pickle."""
    name = os.fsdecode(filename) if isinstance(filename, (str, bytes, os.PathLike)) else ""
    return next((FORMATS[end] for end in sorted(FORMATS, key=len, reverse=True) if name.endswith(end)), None)


class _Module:
    """A reference to the standard module, whichever module has its name now."""

    def __reduce__(self):
        return importlib.import_module, (STANDARD,)


class _Pickler(pickle.Pickler):
    def __init__(self, file):
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.module = _Module()

    def reducer_override(self, thing):
        if isinstance(thing, type) and thing.__module__ == OURS and thing.__name__ in SHARED:
            return getattr, (self.module, thing.__name__)
        kind = type(thing)
        if kind.__module__ == OURS and kind.__name__ in SLOTS:
            state = {name: getattr(thing, name) for name in SLOTS[kind.__name__]}
            return copyreg.__newobj__, (kind,), (None, state)
        return NotImplemented


def _import_module(name, package=None):
    return sys.modules[OURS] if name == STANDARD else importlib.import_module(name, package)


class _Unpickler(pickle.Unpickler):
    def find_class(self, module, name):
        if module == STANDARD:
            module = OURS
        elif (module, name) == ("importlib", "import_module"):
            return _import_module
        return super().find_class(module, name)


def dump(snapshot, filename):
    wanted = format_of(filename)
    if wanted is not None:
        from wick import _dump
        _dump.dump_snapshot(snapshot, filename, wanted)
        return
    with open(filename, "wb") as file:
        _Pickler(file).dump(snapshot)


def load(filename):
    with open(filename, "rb") as file:
        if file.read(5) == b"\x89WICK":
            from wick import _dump
            return _dump.load_snapshot(filename)
        file.seek(0)
        try:
            return _Unpickler(file).load()
        except pickle.UnpicklingError as error:
            raise pickle.UnpicklingError(
                f"{error}: {os.fsdecode(filename)} is not a snapshot; load() reads files that Snapshot.dump() wrote "
                "as a pickle or as .wick, and no other format") from None

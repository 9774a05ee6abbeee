# SPDX-License-Identifier: BSD-2-Clause
"""wick, a profiler for Linux, inside Python programs.

wick.tracemalloc traces memory: the interface of the standard module tracemalloc, at a
fraction of its cost. It is imported when it is first used.
"""
__version__ = "0.9.0"


def __getattr__(name):
    if name == "tracemalloc":
        import importlib
        return importlib.import_module("wick.tracemalloc")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

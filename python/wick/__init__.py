# SPDX-License-Identifier: BSD-2-Clause
"""wick, the profiler: record this program or another one, and look at the result.

    import wick

    with wick.profile("out.wick"):
        work()

    profile = wick.load_profile("out.wick")
    for function in profile.functions()[:5]:
        print(function.self_value, function.name)
    wick.generate_flame_graph(profile, "out.html")

wick.tracemalloc traces Python's memory. Importing wick costs nothing: what you use is loaded when you use it.
"""
__version__ = "0.9.0"

_EXPORTS = {
    "Amount": "_leaks",
    "Frame": "_profile",
    "Function": "_profile",
    "Leak": "_leaks",
    "LeakStack": "_leaks",
    "Leaks": "_leaks",
    "Profile": "_profile",
    "Recording": "_record",
    "Stack": "_profile",
    "Value": "_profile",
    "WickError": "_errors",
    "WickFileNotFoundError": "_errors",
    "WickPermissionError": "_errors",
    "WickProcessError": "_errors",
    "WickValueError": "_errors",
    "detect_memory_leaks": "_leaks",
    "export_folded_stacks": "_profile",
    "generate_flame_graph": "_profile",
    "load_profile": "_profile",
    "profile": "_record",
    "profile_function": "_record",
    "profile_process": "_record",
}
__all__ = sorted(_EXPORTS)


def __getattr__(name):
    if name != "tracemalloc" and name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib
    if name == "tracemalloc":
        return importlib.import_module(f"{__name__}.tracemalloc")
    found = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_EXPORTS[name]}"), name)
    return found


def __dir__():
    return sorted({*globals(), *_EXPORTS})

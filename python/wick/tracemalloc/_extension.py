# SPDX-License-Identifier: BSD-2-Clause
"""Finds the C extension, or says why there is none for this interpreter.

A traced program pays for every object here whenever the garbage collector runs: modules that are
rarely needed are imported where they are used.
"""
import functools
import sys

# What the standard module takes from its C half; ours comes from wick._tracer.
STANDARD = ("clear_traces", "get_traceback_limit", "get_traced_memory", "get_tracemalloc_memory",
            "is_tracing", "reset_peak", "stop", "_get_object_traceback", "_get_traces")


def remedy(package):
    """The command that builds the extension for the interpreter that runs."""
    source = package.parent
    if not (source / "build_backend.py").exists():
        source = "FOLDER-OF-WICK/python"
    return f"build it for this one: {sys.executable} -m pip install {source}"


def explain(error):
    """The sentences for an extension that cannot be imported."""
    import pathlib
    import sysconfig
    package = pathlib.Path(__file__).resolve().parent.parent
    this = f"{sys.implementation.name} {sys.version_info[0]}.{sys.version_info[1]}"
    suffix = sysconfig.get_config_var("EXT_SUFFIX") or ".so"
    files = sorted(path.name for path in package.glob("_tracer.*so"))
    if f"_tracer{suffix}" in files:
        return f"the extension {package / ('_tracer' + suffix)} cannot be loaded: {error}\n  {remedy(package)}"
    if files:
        return (f"wick.tracemalloc was built for another Python ({', '.join(files)}); "
                f"this is {this}, which needs _tracer{suffix}\n  {remedy(package)}")
    return f"wick.tracemalloc is not built for {this}: there is no _tracer{suffix} in {package}\n  {remedy(package)}"


def load():
    """The extension module."""
    if "t" in sys.abiflags:
        raise ImportError("wick.tracemalloc does not support free-threaded builds of Python\n"
                          "  use the default build of the same version")
    try:
        from wick import _tracer
    except ImportError as error:
        raise ImportError(explain(error), name="wick._tracer") from error
    # Messages about wrong arguments carry this name; they read as those of the standard module.
    for name in STANDARD:
        getattr(_tracer, name).__module__ = "_tracemalloc"
    return _tracer


_tracer = load()


def unrecorded(function):
    """Keeps what the function allocates out of the results that it computes."""
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        before = _tracer.exclude_thread(True)
        try:
            return function(*args, **kwargs)
        finally:
            _tracer.exclude_thread(before)
    return wrapper

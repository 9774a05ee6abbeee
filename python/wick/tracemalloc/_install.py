# SPDX-License-Identifier: BSD-2-Clause
"""Replaces the standard module with this one."""
import sys

import _tracemalloc

from ._control import start
from ._extension import _tracer

STANDARD = "tracemalloc"
OURS = "wick.tracemalloc"

_replaced = []  # the standard module with its own names, if it was loaded before install()


def _rename(module, names):
    """Gives a module other values for some of its names; returns the values it had."""
    before = {name: vars(module)[name] for name in names}
    vars(module).update(names)
    return before


def install(persist=False):
    """
    Replace the standard module tracemalloc with this one, for all code of this process. If the
    standard module is tracing, tracing continues here (with new traces).

    persist=True also does so whenever this interpreter starts: a file wick-tracemalloc.pth among
    its packages makes PYTHONTRACEMALLOC, -X tracemalloc and WICK_TRACEMALLOC=FRAMES start this module.
    Returns the path of that file, otherwise None.
    """
    ours, standard = sys.modules[OURS], sys.modules.get(STANDARD)
    if standard is not ours:
        sys.modules[STANDARD] = ours
        names = {} if standard is None else {name: getattr(ours, name) for name in vars(standard)
                                             if not name.startswith("__") and hasattr(ours, name)}
        _replaced.append((standard, _rename(standard, names) if names else {}))
    # While ours traces, the standard one may believe that it does.
    if _tracemalloc.is_tracing() and not _tracer.is_tracing():
        limit = _tracemalloc.get_traceback_limit()
        _tracemalloc.stop()
        start(limit)
    if not persist:
        return None
    from . import _start_file
    return _start_file.write()


def uninstall(persist=False):
    """
    Undo install(). persist=True removes the file that install(persist=True) wrote.
    """
    if _replaced:
        standard, names = _replaced.pop()
        if standard is None:
            sys.modules.pop(STANDARD, None)
        else:
            _rename(standard, names)
            sys.modules[STANDARD] = standard
    if persist:
        from . import _start_file
        _start_file.remove()

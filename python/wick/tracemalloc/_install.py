# SPDX-License-Identifier: BSD-2-Clause
"""Replaces the standard module with this one."""
import os
import pathlib
import site
import sys
import sysconfig

import _tracemalloc

from ._control import start
from ._extension import _tracer

STANDARD = "tracemalloc"
OURS = "wick.tracemalloc"
FILE = "wick-tracemalloc.pth"
# Lines that begin with "import" are run. A removed package must not make every start complain.
LINE = 'import sys; exec("try:\\n import wick._start\\nexcept ImportError:\\n pass")\n'

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
    return _write_file() if persist else None


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
        for folder in _folders():
            (folder / FILE).unlink(missing_ok=True)


def _folders():
    """Folders whose .pth files this interpreter reads, the best first."""
    # Debian's interpreters read none in some folder that sysconfig names.
    read = [name for name in site.getsitepackages() if name in sys.path]
    usual = sysconfig.get_path("purelib")
    folders = [usual, *read] if usual in read or not read else read
    if site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())
    return [pathlib.Path(name) for name in dict.fromkeys(folders)]


def _contents(folder):
    """The file names our folder too, where the interpreter would not find it by itself."""
    packages = pathlib.Path(__file__).resolve().parents[2]
    known = {folder.resolve(), *(pathlib.Path(name).resolve() for name in site.getsitepackages())}
    return LINE if packages in known else f"{packages}\n{LINE}"


def _write_file():
    refused = None
    for folder in _folders():
        work = folder / f".{FILE}.{os.getpid()}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            work.write_text(_contents(folder), encoding="utf-8")
            os.replace(work, folder / FILE)
            return str(folder / FILE)
        except OSError as error:
            refused = refused or error
    raise refused

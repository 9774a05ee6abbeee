# SPDX-License-Identifier: BSD-2-Clause
"""Finds wick's preload library, which sees the memory of C code."""
import glob
import os
import pathlib
import sysconfig
import tempfile

NAME = "libwick-preload.so"
VARIABLE = "WICK_PRELOAD"


def _candidates():
    package = pathlib.Path(__file__).resolve().parents[1]
    yield package / NAME
    yield package.parents[1] / "build" / NAME  # the source tree
    for prefix in (sysconfig.get_config_var("prefix") or "/usr", "/usr/local", "/usr"):
        yield from map(pathlib.Path, sorted(glob.glob(f"{prefix}/lib/*/wick/{NAME}")))
        yield pathlib.Path(prefix, "lib", "wick", NAME)


def find():
    """The path of the library. FileNotFoundError has the remedy."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        if os.path.isfile(chosen):
            return os.path.abspath(chosen)
        raise FileNotFoundError(f"{VARIABLE}={chosen}: there is no such file")
    for path in _candidates():
        if path.is_file():
            return str(path)
    raise FileNotFoundError(f"{NAME} is not installed: install wick (make install, or its package), "
                            f"or set {VARIABLE} to the path of the library")


def without_separators(library):
    """
    The path for LD_PRELOAD, where spaces and colons separate paths, and the folder that was made for a link
    with such a path, or None.
    """
    if not set(library) & set(" :"):
        return library, None
    folder = tempfile.mkdtemp(prefix="wick-")
    link = os.path.join(folder, NAME)
    os.symlink(library, link)
    return link, folder


def forget(folder):
    """Removes such a folder; nothing else."""
    link = os.path.join(folder, NAME)
    if os.path.islink(link):
        try:
            os.unlink(link)
            os.rmdir(folder)
        except OSError:
            pass

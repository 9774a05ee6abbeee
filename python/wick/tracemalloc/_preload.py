# SPDX-License-Identifier: BSD-2-Clause
"""Finds wick's preload library, which sees the memory of C code."""
import glob
import os
import pathlib
import sysconfig

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

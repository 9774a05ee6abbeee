# SPDX-License-Identifier: BSD-2-Clause
"""Failures of libwick as exceptions.

Every exception is a WickError and, where Python has a class for the kind of failure, an instance of that class too:
a missing file is also a FileNotFoundError, a refusal a PermissionError, a wrong argument a ValueError.
"""
from __future__ import annotations

import errno
import os


class WickError(Exception):
    """Something wick could not do.

    text    what failed, in one line
    remedy  what to do about it; "" without advice
    code    the errno of the failure; 0 without one
    """

    def __init__(self, text: str, remedy: str = "", code: int = 0) -> None:
        super().__init__(text, remedy, code)
        self.text = text
        self.remedy = remedy
        self.code = code

    def __str__(self) -> str:
        return f"{self.text}\n  {self.remedy}" if self.remedy else self.text


class WickFileNotFoundError(WickError, FileNotFoundError):
    """A file does not exist."""


class WickPermissionError(WickError, PermissionError):
    """This user may not do that."""


class WickProcessError(WickError, ProcessLookupError):
    """A process does not exist, or has ended."""


class WickValueError(WickError, ValueError):
    """An argument or the content of a file is invalid."""


_KINDS = {
    errno.ENOENT: WickFileNotFoundError,
    errno.EPERM: WickPermissionError,
    errno.EACCES: WickPermissionError,
    errno.ESRCH: WickProcessError,
    errno.EINVAL: WickValueError,
    errno.ERANGE: WickValueError,
    errno.EBADMSG: WickValueError,
}


def failure(code: int, text: str, remedy: str = "") -> Exception:
    """The exception for a negative errno and the message of libwick."""
    code = abs(code)
    if code == errno.ENOMEM:
        return MemoryError(text or "out of memory")
    error = _KINDS.get(code, WickError)(text or os.strerror(code), remedy, code)
    if isinstance(error, OSError):
        error.errno = code
        error.strerror = error.text
    return error

# SPDX-License-Identifier: BSD-2-Clause
"""The file among an interpreter's packages that starts this module with the interpreter."""
import os
import pathlib
import site
import sys
import sysconfig

FILE = "wick-tracemalloc.pth"
# Lines that begin with "import" are run. A removed package must not make every start complain.
LINE = 'import sys; exec("try:\\n import wick._start\\nexcept ImportError:\\n pass")\n'


def _folders():
    """Folders whose .pth files this interpreter reads, the best first."""
    # Debian's interpreters may not read .pth files in the folder that sysconfig names.
    read = [name for name in site.getsitepackages() if name in sys.path]
    usual = sysconfig.get_path("purelib")
    found = [usual, *read] if usual in read or not read else read
    if site.ENABLE_USER_SITE:
        found.append(site.getusersitepackages())
    return [pathlib.Path(name) for name in dict.fromkeys(found)]


def _contents(folder):
    """The file also names our folder if the interpreter would not find it by itself."""
    packages = pathlib.Path(__file__).resolve().parents[2]
    known = {folder.resolve(), *(pathlib.Path(name).resolve() for name in site.getsitepackages())}
    return LINE if packages in known else f"{packages}\n{LINE}"


def write():
    """Writes the file into the best folder that lets us. Returns its path."""
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


def remove():
    for folder in _folders():
        (folder / FILE).unlink(missing_ok=True)

# SPDX-License-Identifier: BSD-2-Clause
"""Builds the Python package: for pip, for "make install", for the Debian package and for the tests.

pip calls the functions of PEP 517 (build_wheel, build_sdist, ...). By hand, with the interpreter that the
package is for:

    python3 build_backend.py tree FOLDER [NAME]   the package, ready to import from FOLDER
    python3 build_backend.py extension FOLDER     the C extension alone
    python3 build_backend.py name                 the file name of the extension
    python3 build_backend.py place PREFIX         the extension's name, where an installation under PREFIX puts
                                                  packages, and the name of the folder for what pip knows of the
                                                  package; fails if it cannot be built here
    python3 build_backend.py metadata FOLDER      the files of that folder, by which pytest finds its plugin

CC and CFLAGS are used; WICK_PYTHON_INCLUDE names the folder of Python.h if it is not where it belongs.
"""
import base64
import gzip
import hashlib
import io
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
NAME = "wick"
SUMMARY = "Profile CPU time, waiting and memory; with a tracemalloc that is fast enough to leave on"
OLDEST, NEWEST = (3, 9), (3, 14)
ENTRY_POINTS = "[pytest11]\nwick = wick.pytest_plugin\n"  # as in pyproject.toml: pytest finds its plugin
WARNINGS = ("-Wall", "-Wextra", "-Wno-unused-parameter", "-Wno-missing-field-initializers")


class BuildError(Exception):
    pass


def version():
    text = (HERE / "wick" / "__init__.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "([^"]+)"', text, re.M).group(1)


# The C extension

def extension_name():
    return "_tracer" + sysconfig.get_config_var("EXT_SUFFIX")


def check_interpreter():
    this = f"{sys.implementation.name} {sys.version_info[0]}.{sys.version_info[1]}"
    if sys.implementation.name != "cpython" or not OLDEST <= sys.version_info[:2] <= NEWEST:
        raise BuildError(f"{sys.executable} is {this}; wick supports CPython "
                         f"{'.'.join(map(str, OLDEST))} to {'.'.join(map(str, NEWEST))}")
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise BuildError(f"{sys.executable} is a free-threaded build, which wick does not support; "
                         "use the default build of the same version")


def include_folders():
    chosen = os.environ.get("WICK_PYTHON_INCLUDE")
    folders = chosen.split(":") if chosen else sorted({sysconfig.get_path("include"),
                                                       sysconfig.get_path("platinclude")})
    if not any(os.path.exists(os.path.join(folder, "Python.h")) for folder in folders):
        raise BuildError(f"there is no Python.h in {' or '.join(folders)}; install the headers of "
                         f"{sys.executable} (Debian: apt-get install python3-dev)")
    return folders


def compiler():
    for words in (os.environ.get("CC"), sysconfig.get_config_var("CC"), "cc", "gcc", "clang"):
        command = shlex.split(words or "")
        if command and shutil.which(command[0]):
            return command
    raise BuildError("there is no C compiler; install one (Debian: apt-get install gcc libc6-dev), or set CC")


def shared_folder():
    """The C files that the extension shares with wick's programs: in the source tree, or in an archive."""
    return next((folder for folder in (HERE / "shared", HERE.parent / "src") if folder.is_dir()), HERE)


def included(path):
    """The shared headers that a file includes."""
    names = re.findall(r'^#include "([^"]+)"', path.read_text(encoding="utf-8"), re.M)
    return [shared_folder() / name for name in names if (shared_folder() / name).is_file()]


def sources():
    """{name in a source archive: path} of the extension's own C files, and of the shared ones they need."""
    found = {path.relative_to(HERE).as_posix(): path for path in sorted(HERE.glob("src/**/*.[ch]"))}
    todo = [header for path in found.values() for header in included(path)]
    while todo:
        header = todo.pop(0)
        for path in (header, header.with_suffix(".c")):
            name = f"shared/{path.relative_to(shared_folder()).as_posix()}"
            if name not in found and path.is_file():
                found[name] = path
                todo += included(path)
    return found


def compile_extension(folder, name=None):
    """
    Compiles the extension into a folder, unless it is newer than its sources. Returns its path.
    Another name, with other headers in WICK_PYTHON_INCLUDE, makes it for another interpreter.
    """
    check_interpreter()
    files = list(sources().values())
    target = pathlib.Path(folder) / (name or extension_name())
    newest = max(path.stat().st_mtime for path in [*files, pathlib.Path(__file__)])
    if target.exists() and target.stat().st_mtime >= newest:
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    work = target.with_name(f".{target.name}.{os.getpid()}")
    command = [*compiler(), "-shared", "-fPIC", "-O3", "-g", "-std=gnu11", "-D_GNU_SOURCE", "-pthread",
               "-fvisibility=hidden", "-fno-strict-aliasing", *WARNINGS, f"-I{HERE / 'src'}", f"-I{shared_folder()}",
               *(f"-isystem{name}" for name in include_folders()),
               *shlex.split(os.environ.get("CFLAGS", "")),
               *(str(path) for path in files if path.suffix == ".c"), "-o", str(work),
               *shlex.split(os.environ.get("LDFLAGS", ""))]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(f"the extension cannot be compiled: {shlex.join(command)}\n{done.stdout}")
    sys.stderr.write(done.stdout)
    os.replace(work, target)
    return target


# Files of the package

def package_files():
    """{name in the package: path} of everything but the extension"""
    found = [path for pattern in ("*.py", "*.pyi", "py.typed") for path in (HERE / NAME).rglob(pattern)]
    return {path.relative_to(HERE).as_posix(): path for path in sorted(found)}


def write_tree(folder, name=None):
    """The package with its extension (see compile_extension), to be imported from a folder."""
    folder = pathlib.Path(folder)
    for place, path in package_files().items():
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_bytes() != path.read_bytes():
            shutil.copyfile(path, target)
    compile_extension(folder / NAME, name)


def install_folder(prefix):
    """Where the interpreter looks for packages below a prefix; Debian's has names of its own for /usr."""
    short = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    for name in (f"{prefix}/lib/python3/dist-packages", f"{prefix}/lib/{short}/dist-packages"):
        if name in sys.path:
            return name
    return sysconfig.get_path("platlib", "posix_prefix", {"base": prefix, "platbase": prefix})


def print_place(prefix):
    check_interpreter()
    include_folders()
    print(extension_name())
    print(install_folder(prefix))
    print(info_folder())


# Wheels and source archives

def metadata():
    return (f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version()}\nSummary: {SUMMARY}\n"
            f"License: BSD-2-Clause\nRequires-Python: >={'.'.join(map(str, OLDEST))}\n"
            "Classifier: Operating System :: POSIX :: Linux\n"
            "Classifier: Programming Language :: C\n"
            "Classifier: Programming Language :: Python :: Implementation :: CPython\n"
            "Classifier: Topic :: Software Development :: Debuggers\n"
            "Description-Content-Type: text/markdown\n\n"
            + (HERE / "README.md").read_text(encoding="utf-8"))


def wheel_tag():
    """The tag of this interpreter: the extension serves no other."""
    number = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    flags = getattr(sys, "abiflags", "")
    return f"{number}-{number}{flags}-{re.sub(r'[-.]', '_', sysconfig.get_platform())}"


def wheel_text():
    return (f"Wheel-Version: 1.0\nGenerator: wick {version()}\nRoot-Is-Purelib: false\n"
            f"Tag: {wheel_tag()}\n")


def info_folder():
    return f"{NAME}-{version()}.dist-info"


def timestamp():
    """Seconds since 1970 of all files: the same sources give the same bytes. Zip begins in 1980."""
    return max(int(os.environ.get("SOURCE_DATE_EPOCH", "315532800")), 315532800)


def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def write_wheel(folder, files):
    """Writes a wheel of {name: bytes}; returns its file name."""
    name = f"{NAME}-{version()}-{wheel_tag()}.whl"
    info = info_folder()
    files = {**files, f"{info}/METADATA": metadata().encode(), f"{info}/WHEEL": wheel_text().encode(),
             f"{info}/top_level.txt": f"{NAME}\n".encode(), f"{info}/entry_points.txt": ENTRY_POINTS.encode()}
    record = "".join(record_line(path, data) for path, data in files.items()) + f"{info}/RECORD,,\n"
    files[f"{info}/RECORD"] = record.encode()
    with zipfile.ZipFile(os.path.join(folder, name), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, time.gmtime(timestamp())[:6])
            entry.external_attr = (0o100755 if path.endswith(".so") else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return name


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_sdist = get_requires_for_build_editable = get_requires_for_build_wheel


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = pathlib.Path(metadata_directory) / info_folder()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "METADATA").write_text(metadata(), encoding="utf-8")
    (folder / "WHEEL").write_text(wheel_text(), encoding="utf-8")
    (folder / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    return info_folder()


def write_metadata(folder):
    """What pip would write of an installed package. Without RECORD, pip does not remove what it did not install."""
    folder = pathlib.Path(folder)
    for name, text in (("METADATA", metadata()), ("entry_points.txt", ENTRY_POINTS), ("INSTALLER", "wick\n")):
        (folder / name).write_text(text, encoding="utf-8")


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files = {name: path.read_bytes() for name, path in package_files().items()}
    with tempfile.TemporaryDirectory() as work:
        files[f"{NAME}/{extension_name()}"] = compile_extension(work).read_bytes()
    return write_wheel(wheel_directory, files)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """The package stays where it is, with the extension built beside it."""
    compile_extension(HERE / NAME)
    return write_wheel(wheel_directory, {"wick-editable.pth": f"{HERE}\n".encode()})


def build_sdist(sdist_directory, config_settings=None):
    top = f"{NAME}-{version()}"
    paths = {**package_files(), **sources(),
             **{name: HERE / name for name in ("build_backend.py", "pyproject.toml", "README.md")}}
    files = {**{name: path.read_bytes() for name, path in paths.items()}, "PKG-INFO": metadata().encode()}
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo(f"{top}/{name}")
            entry.size, entry.mtime, entry.mode = len(data), timestamp(), 0o644
            archive.addfile(entry, io.BytesIO(data))
    target = os.path.join(sdist_directory, f"{top}.tar.gz")
    with open(target, "wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=timestamp()) as packed:
        packed.write(made.getvalue())
    return f"{top}.tar.gz"


def main(words):
    commands = {"tree": write_tree, "extension": compile_extension, "metadata": write_metadata,
                "place": print_place, "name": lambda: print(extension_name())}
    if not words or words[0] not in commands:
        sys.stderr.write(__doc__)
        return 2
    try:
        commands[words[0]](*words[1:])
    except BuildError as error:
        print(f"wick: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

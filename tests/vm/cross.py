# SPDX-License-Identifier: BSD-2-Clause
"""Builds wick and the programs of the tests for another CPU, on this one."""
import pathlib
import shutil
import subprocess
import sys

from debian import Unavailable

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class BuildFailed(Exception):
    pass


def quoted(words):
    return "[" + ", ".join("'" + str(word).replace("'", "\\'") + "'" for word in words) + "]"


def cross_file(cpu, sysroot):
    """Meson's description of the other machine."""
    tools = {"c": "gcc", "cpp": "g++", "ar": "ar", "strip": "strip"}
    lines = ["[binaries]"]
    lines += [f"{key} = '{cpu.triple}-{tool}'" for key, tool in tools.items()]
    lines += ["pkgconfig = 'pkg-config'", "[built-in options]"]
    for language in ("c", "cpp"):
        for kind in ("args", "link_args"):
            lines.append(f"{language}_{kind} = {quoted([f'--sysroot={sysroot}'])}")
    folders = [sysroot / "usr/lib" / cpu.triple / "pkgconfig", sysroot / "usr/share/pkgconfig"]
    lines += ["[properties]", f"sys_root = '{sysroot}'",
              f"pkg_config_libdir = {quoted(folders)}", "[host_machine]", "system = 'linux'",
              f"cpu_family = '{cpu.uname}'", f"cpu = '{cpu.uname}'", "endian = 'little'"]
    return "\n".join(lines) + "\n"


def run(command, log):
    with open(log, "ab") as out:
        status = subprocess.run([str(word) for word in command], cwd=ROOT, stdout=out,
                                stderr=subprocess.STDOUT, check=False).returncode
    if status != 0:
        end = "\n".join(log.read_text(errors="replace").splitlines()[-30:])
        raise BuildFailed(f"{command[0]} failed ({log}):\n{end}")


def need_compilers(cpu):
    for tool in (f"{cpu.triple}-gcc", f"{cpu.triple}-g++", "meson", "ninja", "pkg-config"):
        if not shutil.which(tool):
            raise Unavailable(f"{tool} is not installed (scripts/install-deps build vm)")


def build(cpu, sysroot, folder):
    """Configures if needed, and builds everything without installing it."""
    need_compilers(cpu)
    description = folder / "machine.cross"
    wanted = cross_file(cpu, sysroot)
    # Another root file system: what was found in the old one is worthless.
    if not description.exists() or description.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        description.write_text(wanted)
    log = folder / "build.log"
    log.unlink(missing_ok=True)
    if not (folder / "build.ninja").exists():
        run(["meson", "setup", "--cross-file", description, "-Dwerror=true", folder], log)
    run(["ninja", "-C", folder, "--quiet"], log)


def compile_stepped(cpu, sysroot, thorough, folder):
    """Compiles the stepped program in every way; returns the folder. See tests/unwind/ways.py."""
    sys.path.insert(0, str(ROOT / "tests/unwind"))
    import ways  # noqa: E402 pylint: disable=import-outside-toplevel

    ways.compile_all(cpu.uname, thorough, {
        "gcc": [f"{cpu.triple}-gcc", f"--sysroot={sysroot}"],
        "clang": ["clang-14", f"--target={cpu.triple}", f"--sysroot={sysroot}"],
    }, folder)
    return folder

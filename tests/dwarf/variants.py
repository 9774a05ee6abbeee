# SPDX-License-Identifier: BSD-2-Clause
"""Builds variants.cpp and variants.c with every form of debug information, and runs dwarf_dump on the result."""
import functools
import os
import pathlib
import re
import shutil
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = pathlib.Path(os.environ.get("WICK_BUILD") or ROOT / "build")
DUMP = BUILD / "tests/tools/dwarf_dump"
SOURCES = (HERE / "variants.cpp", HERE / "variants.c")

# mark: calls, innermost first: name and the comment that marks the line.
CHAINS = {
    "area": [("shapes::box<long>::area", "area"), ("shapes::outer<long>", "outer-area"),
             ("leaf", "leaf-outer")],
    "hidden": [("shapes::(anonymous namespace)::hidden", "hidden"),
               ("shapes::outer<long>", "outer-hidden"), ("leaf", "leaf-outer")],
    "leaf": [("leaf", "leaf")],
    "lambda": [("visitor::visit(long)::LAMBDA::operator()", "lambda"),
               ("visitor::visit", "visit-lambda")],
    "visit": [("visitor::visit", "visit")],
    "complain": [("complain", "complain")],
    "cold": [("checked", "cold")],
    "c_inner": [("c_inner", "c_inner"), ("c_outer", "c_outer-c_inner"),
                ("c_entry", "c_entry-c_outer")],
    "c_entry": [("c_entry", "c_entry")],
}


class Variant:
    """compiler: gcc or clang; flags for all; link flags; what is done to the program afterwards."""

    def __init__(self, compiler, flags="", link="", after=None, tools=()):
        self.compiler, self.flags, self.link = compiler, flags.split(), link.split()
        self.after, self.tools = after, tools


def run(*command, cwd):
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: {done.stderr.strip()}")
    return done.stdout


def pack_dwo(folder):
    # The packer of binutils 2.40 knows DWARF 4 only.
    tool = "dwp" if folder.name == "gcc-package4" else "llvm-dwp-14"
    run(tool, "-e", "program", "-o", "program.dwp", cwd=folder)
    for path in folder.glob("*.dwo"):
        path.unlink()


def dwz_single(folder):
    run("dwz", "program", cwd=folder)


def dwz_common(folder):
    shutil.copy(folder / "program", folder / "other")
    run("dwz", "-m", folder / "common.debug", "-M", "common.debug", "program", "other", cwd=folder)


def compress(kind):
    def after(folder):
        run("objcopy", f"--compress-debug-sections={kind}", "program", cwd=folder)
    return after


def separate(folder):
    run("objcopy", "--only-keep-debug", "program", "program.debug", cwd=folder)
    shutil.move(folder / "program.debug", folder / "program")


VARIANTS = {}
for number in (2, 3, 4, 5):
    VARIANTS[f"gcc-dwarf{number}"] = Variant("gcc", f"-gdwarf-{number}")
    VARIANTS[f"gcc-dwarf{number}-strict"] = Variant("gcc", f"-gdwarf-{number} -gstrict-dwarf")
    VARIANTS[f"clang-dwarf{number}"] = Variant("clang", f"-gdwarf-{number}")
for number in (4, 5):
    for name in ("gcc", "clang"):
        split = f"-gdwarf-{number} -gsplit-dwarf"
        VARIANTS[f"{name}-split{number}"] = Variant(name, split)
        VARIANTS[f"{name}-split{number}-types"] = Variant(name, split + " -fdebug-types-section")
        VARIANTS[f"{name}-package{number}"] = Variant(
            name, split, after=pack_dwo, tools=("llvm-dwp-14", "dwp"))
        VARIANTS[f"{name}-types{number}"] = Variant(name, f"-gdwarf-{number} -fdebug-types-section")
        VARIANTS[f"{name}-dwarf64-{number}"] = Variant(name, f"-gdwarf-{number} -gdwarf64")
    VARIANTS[f"dwz{number}"] = Variant("gcc", f"-gdwarf-{number}", after=dwz_single, tools=("dwz",))
    VARIANTS[f"dwz-common{number}"] = Variant("gcc", f"-gdwarf-{number}", after=dwz_common,
                                              tools=("dwz",))
for name in ("gcc", "clang"):
    VARIANTS[f"{name}-O0"] = Variant(name, "-g -O0")
    VARIANTS[f"{name}-Os"] = Variant(name, "-g -Os")
    VARIANTS[f"{name}-O3"] = Variant(name, "-g -O3")
    VARIANTS[f"{name}-sections"] = Variant(name, "-g -ffunction-sections", "-Wl,--gc-sections")
    VARIANTS[f"{name}-no-pie"] = Variant(name, "-g -fno-pie", "-no-pie")
    VARIANTS[f"{name}-64k-pages"] = Variant(name, "-g", "-Wl,-z,max-page-size=65536")
    VARIANTS[f"{name}-zlib"] = Variant(name, "-g", after=compress("zlib"))
    VARIANTS[f"{name}-zlib-gnu"] = Variant(name, "-g", after=compress("zlib-gnu"))
    VARIANTS[f"{name}-zstd"] = Variant(name, "-g", after=compress("zstd"))
    VARIANTS[f"{name}-separate"] = Variant(name, "-g", after=separate)
    VARIANTS[f"{name}-static"] = Variant(name, "-g", "-static")
    VARIANTS[f"{name}-static-pie"] = Variant(name, "-g -fPIE", "-static-pie")
VARIANTS["gcc-lto"] = Variant("gcc", "-g -flto=1 -fno-ipa-icf")
VARIANTS["gcc-no-columns"] = Variant("gcc", "-g -gno-column-info")
VARIANTS["gcc-internal-line"] = Variant("gcc", "-g -gno-as-loc-support")
VARIANTS["clang-simple-template-names"] = Variant("clang", "-g -Xclang -gsimple-template-names=simple")


def build(name, folder):
    """The path of the program; skips if this machine lacks a tool for it."""
    variant = VARIANTS[name]
    folder.mkdir()
    commands = {"gcc": ("g++", "gcc"), "clang": ("clang++-14", "clang-14")}[variant.compiler]
    for tool in (*commands, *variant.tools):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed")
    for source, command in zip(SOURCES, commands):
        language = ["-std=c++17"] if source.suffix == ".cpp" else []
        run(command, "-O2", *variant.flags, *language, "-c", source, "-o", f"{source.suffix[1:]}.o",
            cwd=folder)
    run(commands[0], "-O2", *variant.flags, *variant.link, "cpp.o", "c.o", "-o", "program", cwd=folder)
    marks = marks_of(folder / "program")
    if variant.after:
        try:
            variant.after(folder)
        except RuntimeError as error:
            if "unrecognized" in str(error) or "invalid --compress" in str(error):
                pytest.skip(str(error).splitlines()[0])
            raise
    return folder / "program", marks


def marks_of(program):
    listed = run("nm", program, cwd=program.parent)
    return {match[2]: int(match[1], 16)
            for match in re.finditer(r"^([0-9a-f]+) \w mark_(\w+)$", listed, re.M)}


@functools.lru_cache
def lines():
    """(file, line) by the "line:" comments of the sources."""
    found = {}
    for source in SOURCES:
        for number, text in enumerate(source.read_text().splitlines(), 1):
            match = re.search(r"/\* line: (\S+) \*/", text)
            if match:
                found[match[1]] = (str(source), number)
    return found


def ask(program, addresses, *options):
    """{address: [(name, file, line, column)]}, innermost first."""
    text = run(DUMP, *options, program, *[hex(address) for address in addresses], cwd=program.parent)
    answers, frames = {}, None
    for line in text.splitlines():
        if line.startswith("0x"):
            frames = answers[int(line, 16)] = []
        elif (match := re.match(r"  (.*)\t(.*):(\d+):(\d+)$", line)):
            frames.append((match[1], match[2], int(match[3]), int(match[4])))
    return answers

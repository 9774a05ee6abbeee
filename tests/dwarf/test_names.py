# SPDX-License-Identifier: BSD-2-Clause
"""Names of code that has no symbol of its own: linkage tables, ifuncs, stripped programs."""
import os
import re
import shutil
import subprocess

import pytest

import variants

SOURCE = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int first(int x) { return x + 1; }
static int (*pick_first(void))(int) { return first; }
int choose(int) __attribute__((ifunc("pick_first")));
int (*volatile put)(const char *) = puts;
__attribute__((noinline)) static int hidden(int x) { return x * 3 + (int)strlen("x"); }
int main(int count, char **words)
{
	void (*volatile release)(void *) = free;
	release(malloc(count));
	put(words[0]);
	return choose(count) + (int)strlen(words[0]) + abs(atoi(words[0])) + hidden(count);
}
"""
DUMP = variants.BUILD / "tests/tools/symbol_dump"
FORMS = {
    "aarch64": ["", "-Wl,-z,now", "-no-pie", "-mbranch-protection=standard -Wl,-z,force-bti",
                "-static", "-static-pie"],
    "x86_64": ["", "-Wl,-z,now", "-no-pie", "-fcf-protection -Wl,-z,ibtplt", "-static",
               "-static-pie"],
}


def build(folder, machine, flags):
    compiler = f"{machine}-linux-gnu-gcc"
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    (folder / "names.c").write_text(SOURCE)
    variants.run(compiler, "-O1", *flags.split(), "names.c", "-o", "program", cwd=folder)
    return folder / "program"


def symbols_of(program):
    """(start, size, name) of each symbol."""
    lines = subprocess.run([DUMP, program], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    words = (line.split(" ", 2) for line in lines)
    return [(int(start, 16), int(size, 16), name) for start, size, name in words]


def objdump_entries(machine, program):
    text = variants.run(f"{machine}-linux-gnu-objdump", "-d", program, cwd=program.parent)
    return {(int(at, 16), name)
            for at, name in re.findall(r"^([0-9a-f]+) <(.*@plt)>:$", text, re.M)}


@pytest.mark.parametrize("machine,flags", [(machine, flags) for machine, forms in FORMS.items()
                                           for flags in forms if "static" not in flags])
def test_entries_of_linkage_tables_are_those_that_objdump_finds(machine, flags, tmp_path):
    program = build(tmp_path, machine, flags)
    found = {(start, name) for start, _, name in symbols_of(program) if name.endswith("@plt")}
    wanted = objdump_entries(machine, program)
    chosen = {(at, "choose@plt" if name.startswith("*ABS*") else name) for at, name in wanted}
    assert len(wanted) >= 4
    assert chosen <= found
    # objdump does not name the entries that push the number of a relocation.
    extra = {name for _, name in found - chosen}
    assert extra <= {name for _, name in chosen} if "ibtplt" in flags else not extra


@pytest.mark.parametrize("machine", FORMS)
@pytest.mark.parametrize("flags", ["-static", "-static-pie"])
def test_a_static_program_names_its_ifuncs(machine, flags, tmp_path):
    names = {name for _, _, name in symbols_of(build(tmp_path, machine, flags))}
    assert {"choose@plt", "memcpy@plt", "memset@plt"} <= names


@pytest.mark.parametrize("machine", FORMS)
def test_an_ifunc_is_told_from_its_resolver_and_its_implementation(machine, tmp_path):
    program = build(tmp_path, machine, "")
    by_name = {name: start for start, _, name in symbols_of(program)}
    assert {"first", "pick_first"} <= set(by_name)
    variants.run(f"{machine}-linux-gnu-strip", "-K", "choose", program, cwd=tmp_path)
    stripped = {name: start for start, _, name in symbols_of(program)}
    assert stripped["choose@ifunc"] == by_name["pick_first"]


@pytest.mark.parametrize("machine", FORMS)
def test_a_stripped_program_has_nameless_functions(machine, tmp_path):
    program = build(tmp_path, machine, "")
    wanted = {name: (start, size) for start, size, name in symbols_of(program)}
    variants.run(f"{machine}-linux-gnu-strip", program, cwd=tmp_path)
    nameless = {(start, size) for start, size, name in symbols_of(program) if name == "-"}
    for name in ("main", "hidden", "first"):
        assert wanted[name] in nameless


def test_mini_debug_info_is_read_beside_the_dynamic_symbols(tmp_path):
    if not shutil.which("xz"):
        pytest.skip("no xz")
    program = build(tmp_path, "aarch64", "-rdynamic")
    wanted = set(symbols_of(program))
    variants.run("aarch64-linux-gnu-objcopy", "--only-keep-debug", program, "mini", cwd=tmp_path)
    variants.run("aarch64-linux-gnu-strip", program, cwd=tmp_path)
    assert "hidden" not in {name for _, _, name in symbols_of(program)}
    variants.run("xz", "mini", cwd=tmp_path)
    variants.run("aarch64-linux-gnu-objcopy", "--add-section", ".gnu_debugdata=mini.xz", program,
                 cwd=tmp_path)
    assert set(symbols_of(program)) == wanted


def test_damaged_mini_debug_info_costs_its_names_only(tmp_path):
    program = build(tmp_path, "aarch64", "-rdynamic")
    (tmp_path / "junk").write_bytes(b"\xfd7zXZ\0" + bytes(1000))
    variants.run("aarch64-linux-gnu-strip", program, cwd=tmp_path)
    before = symbols_of(program)
    variants.run("aarch64-linux-gnu-objcopy", "--add-section", ".gnu_debugdata=junk", program,
                 cwd=tmp_path)
    assert symbols_of(program) == before and "main" in {name for _, _, name in before}


def test_mini_debug_info_that_inflates_without_end_is_refused(tmp_path):
    if not shutil.which("xz"):
        pytest.skip("no xz")
    program = build(tmp_path, "aarch64", "-rdynamic")
    subprocess.run("head -c 400M /dev/zero | xz -0 > bomb", shell=True, cwd=tmp_path, check=True)
    variants.run("aarch64-linux-gnu-strip", program, cwd=tmp_path)
    before = symbols_of(program)
    variants.run("aarch64-linux-gnu-objcopy", "--add-section", ".gnu_debugdata=bomb", program,
                 cwd=tmp_path)
    assert symbols_of(program) == before


GO_SOURCE = """package main

import "os"

//go:noinline
func hotInner(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s = s*31 + i
	}
	return s
}

func main() { os.Exit(hotInner(len(os.Args)) & 1) }
"""


@pytest.fixture(scope="module")
def go_cache(tmp_path_factory):
    return tmp_path_factory.mktemp("go-cache")


@pytest.mark.parametrize("machine,mode", [("arm64", "pie"), ("amd64", "exe")])
def test_a_stripped_go_program_keeps_its_names(machine, mode, tmp_path, go_cache):
    if not shutil.which("go"):
        pytest.skip("go is not installed")
    (tmp_path / "hot.go").write_text(GO_SOURCE)
    environment = {**os.environ, "GOARCH": machine, "GO111MODULE": "off", "CGO_ENABLED": "0",
                   "GOCACHE": str(go_cache), "GOFLAGS": ""}
    for name, flags in (("full", ""), ("stripped", "-s -w")):
        done = subprocess.run(["go", "build", f"-buildmode={mode}", f"-ldflags={flags}", "-o", name,
                               "hot.go"], cwd=tmp_path, env=environment, capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            pytest.skip(f"go build: {done.stderr.strip()}")
    full = {start: name for start, _, name in symbols_of(tmp_path / "full")}
    stripped = {start: name for start, _, name in symbols_of(tmp_path / "stripped")}
    assert {"main.main", "main.hotInner", "runtime.mallocgc"} <= set(stripped.values())
    known = [(stripped[start], name.removesuffix(".abi0")) for start, name in full.items()
             if stripped.get(start, "-") != "-"]
    assert len(known) > 1000
    assert sum(mine == other for mine, other in known) > 0.98 * len(known)
    if mode == "exe":  # Go's tool gives no lines of position-independent programs
        check_go_lines(tmp_path)


def check_go_lines(folder):
    """The lines of the stripped program equal those that Go's own tool prints for the other."""
    addresses = [start + at for start, size, name in symbols_of(folder / "full")
                 if name in ("main.hotInner", "runtime.mallocgc") for at in range(0, size, 4)]
    lines = "".join(f"{address:#x}\n" for address in addresses)
    theirs = subprocess.run(["go", "tool", "addr2line", "full"], input=lines, cwd=folder,
                            capture_output=True, text=True, check=True).stdout.splitlines()[1::2]
    ours = subprocess.run([variants.BUILD / "wick", "symbolize", "--no-cache", "-e", "stripped"],
                          input=lines, cwd=folder, capture_output=True, text=True,
                          check=True).stdout.splitlines()
    assert len(addresses) > 200 and ours == theirs

# SPDX-License-Identifier: BSD-2-Clause
"""The heap of running processes, by probes at their allocators: exact to the byte, and no probe is left behind."""
import contextlib
import ctypes
import functools
import glob
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys

import pytest
from conftest import BUILD, ROOT, wait_for, workload
from ebpf import BPF_SYSCALL, needs_ebpf

pytestmark = [pytest.mark.root, needs_ebpf]

VALUES = {"blocks": "alloc_objects", "bytes": "alloc_space", "live": "inuse_space"}


def is_reading(pid):
    """Whether a process is in read() of its standard input: number of the call, first argument."""
    with open(f"/proc/{pid}/syscall", encoding="ascii") as call:
        return call.read().split()[:2] in (["0", "0x0"], ["63", "0x0"])


class Attached:
    """A workload that waits for a byte, and wick, which follows it by then."""

    def __init__(self, wick, background, command, *options, **kwargs):
        self.wick, self.path, self.truth = wick, wick.new_path(), None
        self.target = background(command, stdin=subprocess.PIPE, **kwargs)
        wait_for(lambda: is_reading(self.target.pid))
        self.recorder = wick.start("heap", "-p", self.target.pid, "-o", self.path, *options)
        self.notice = self.recorder.stderr.readline()

    def go_on(self):
        self.target.stdin.write("x")
        self.target.stdin.flush()

    def end(self):
        """wick's output after the workload has ended; the workload reports what it did."""
        said = self.target.communicate(timeout=20)[0].splitlines()
        self.truth = self.truth or json.loads(said[-1])
        self.summary = self.recorder.communicate(timeout=20)[1]
        assert self.recorder.returncode == 0, self.notice + self.summary

    def run(self):
        assert "probing" in self.notice, self.notice + self.recorder.communicate(timeout=20)[1]
        self.go_on()
        self.end()
        return self

    @functools.cache
    def stacks(self, value):
        lines = self.wick.ok("export", self.path, "--format", "folded", "--event", value).stdout.splitlines()
        return [(line.rpartition(" ")[0].split(";"), int(line.rpartition(" ")[2])) for line in lines]

    def by_function(self, function):
        """The values of stacks with a function, for each value that workloads report."""
        return {name: sum(amount for stack, amount in self.stacks(value) if function in stack)
                for name, value in VALUES.items()}

    def assert_true(self):
        for name, told in self.truth.items():
            if isinstance(told, dict):
                assert self.by_function(name) == told, name
        assert " 0 lost" in self.summary, self.summary
        quality = self.wick.json("report", self.path, "--by", "site", "--format", "json")["quality"]
        assert quality["missed_frees"] == quality["bad"] == 0


def build(folder, *options, compiler="gcc"):
    """The workload built in another way; skipped if that is not possible."""
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    program = folder / "blocks"
    made = subprocess.run([compiler, "-O1", "-g", "-D_GNU_SOURCE", "-fno-optimize-sibling-calls", "-fno-omit-frame-pointer",
                           "-pthread", "-o", program, ROOT / "tests/workloads/blocks.c", *options],
                          capture_output=True, text=True, check=False)
    if made.returncode != 0:
        pytest.skip(f"cannot be built here: {made.stderr.splitlines()[-1]}")
    return program


def test_every_function_of_the_allocator_is_counted_to_the_byte(wick, background):
    seen = Attached(wick, background, workload("blocks", "wait", "calls")).run()
    seen.assert_true()
    assert re.search(r"probing \d+ functions of \S*libc\S* in process \d+: it allocates and frees \d+ blocks per second, "
                     r"which costs it at least \d+\.\d\d us each", seen.notice), seen.notice
    assert re.search(r"before +up to .* in use when the recording began", seen.summary), seen.summary
    assert re.search(r"cost .*; the process [\d.]+ s of CPU, \d+\.\d\d us per call", seen.summary), seen.summary


def test_threads_are_as_true(wick, background):
    seen = Attached(wick, background, workload("blocks", "wait", "threads")).run()
    seen.assert_true()
    # A thread that ends gives back what it had put by: that is the allocator's own business.
    quality = wick.json("report", seen.path, "--by", "site", "--format", "json")["quality"]
    assert quality["unknown_frees"] == 0


def has_rules(program, function):
    """Whether the file has unwind rules for a function."""
    listed = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    address = next(int(line.split()[0], 16) for line in listed.splitlines() if line.split()[-1] == function)
    rows = subprocess.run([BUILD / "tests/tools/cfi_dump", program], capture_output=True, text=True,
                          check=True).stdout.splitlines()[1:]
    before = [row.split() for row in rows if int(row.split()[0], 16) <= address]
    return bool(before) and before[-1][1] != "-"


BUILDS = {"static": ("gcc", ["-static"]), "musl": ("musl-gcc", ["-static", "-Dpvalloc=valloc"])}


@pytest.mark.parametrize("kind", BUILDS)
def test_static_programs_with_symbols(wick, background, tmp_path, kind):
    compiler, options = BUILDS[kind]
    program = build(tmp_path, *options, compiler=compiler)
    seen = Attached(wick, background, [program, "wait", "calls"]).run()
    if kind == "musl":
        del seen.truth["by_realloc_to_none"]  # there it is a block of no bytes
    if platform.machine() == "x86_64" and not has_rules(program, "strdup"):
        # musl for x86-64 has neither rules nor frame pointers: its callers cannot be known, and stacks say so.
        told = seen.truth.pop("by_strdup")
        assert seen.by_function("strdup") == told
        assert all(stack[-2:] == ["[truncated]", "strdup"] for stack, _ in seen.stacks("alloc_space")
                   if "strdup" in stack)
    seen.assert_true()
    assert str(program) in seen.notice


OPERATORS = """
#include <cstdlib>
#include <unistd.h>
static void *volatile kept;
extern "C" __attribute__((noinline)) void by_new() { for (int i = 0; i < 100; i++) { kept = new char[10]; delete[] (char *)kept; } }
extern "C" __attribute__((noinline)) void by_one() { for (int i = 0; i < 100; i++) kept = new long; }
extern "C" __attribute__((noinline)) void by_calloc() { for (int i = 0; i < 100; i++) free(kept = calloc(3, 5)); }
extern "C" __attribute__((noinline)) void by_realloc() { for (int i = 0; i < 100; i++) free(kept = realloc(realloc(NULL, 20), 4000)); }
extern "C" __attribute__((noinline)) void by_aligned() { for (int i = 0; i < 100; i++) free(kept = aligned_alloc(64, 128)); }
int main() { char byte; if (read(0, &byte, 1) < 0) return 1; by_new(); by_one(); by_calloc(); by_realloc(); by_aligned(); _exit(0); }
"""
OPERATORS_TRUTH = {"by_new": (100, 1000, 0), "by_one": (100, 800, 800), "by_calloc": (100, 1500, 0),
                   "by_realloc": (200, 402000, 0), "by_aligned": (100, 12800, 0)}


@pytest.fixture(scope="module")
def operators(tmp_path_factory):
    if not shutil.which("g++"):
        pytest.skip("g++ is not installed")
    program = tmp_path_factory.mktemp("operators") / "operators"
    subprocess.run(["g++", "-O1", "-g", "-fno-optimize-sibling-calls", "-x", "c++", "-", "-o", program], input=OPERATORS,
                   text=True, check=True)
    return program


@pytest.mark.parametrize("library", ["libc", "jemalloc", "tcmalloc_minimal", "mimalloc"])
def test_other_allocators_and_operators(wick, background, operators, library):
    found = glob.glob(f"/usr/lib/*/lib{library}.so.?*")
    if not found and library != "libc":
        pytest.skip(f"lib{library} is not installed")
    preload = {} if library == "libc" else {"LD_PRELOAD": found[0]}
    seen = Attached(wick, background, [operators], *([] if library == "libc" else ["--allocator", library]),
                    env={**os.environ, **preload})
    seen.truth = {name: dict(zip(VALUES, told)) for name, told in OPERATORS_TRUTH.items()}
    seen.run().assert_true()
    assert library in seen.notice


def bpf(command, number):
    """Whether a BPF object with that id exists: bpf(2)."""
    attr = (ctypes.c_uint32 * 32)(number)
    fd = ctypes.CDLL(None, use_errno=True).syscall(BPF_SYSCALL, command,
                                                   ctypes.byref(attr), ctypes.sizeof(attr))
    if fd >= 0:
        os.close(fd)
    return fd >= 0


COMMANDS = {"prog_id": 13, "map_id": 14, "link_id": 30}


def ids_of(pid):
    """[(command, id)] of programs, maps and links that a process holds."""
    found = []
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        # One may be closed meanwhile.
        with contextlib.suppress(FileNotFoundError), open(path, encoding="ascii") as info:
            found += [(COMMANDS[key], int(value)) for key, value in re.findall(r"^(\w+_id):\s+(\d+)$", info.read(), re.M)
                      if key in COMMANDS]
    return found


def links_of(pid):
    return [number for command, number in ids_of(pid) if command == COMMANDS["link_id"]]


def text_of(pid):
    """The code of the C library of a process."""
    with open(f"/proc/{pid}/maps", encoding="ascii", errors="replace") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        parts = []
        for line in maps:
            if " r-xp " in line and "libc.so" in line:
                start, end = (int(word, 16) for word in line.split()[0].split("-"))
                memory.seek(start)
                parts.append(memory.read(end - start))
    return parts


@pytest.mark.parametrize("option, blocks", [("--children", 100), ("--no-children", 0)])
def test_children_that_fork_are_followed_if_they_may(wick, background, option, blocks):
    seen = Attached(wick, background, workload("blocks", "wait", "child"), option)
    before = len(links_of(seen.recorder.pid))
    seen.go_on()
    if blocks:
        wait_for(lambda: len(links_of(seen.recorder.pid)) > before, what="probes in the child")
    seen.go_on()
    seen.end()
    assert seen.by_function("by_malloc") == seen.truth["by_malloc"]
    assert seen.by_function("by_calloc")["blocks"] == blocks


def test_nothing_is_left_behind(wick, background):
    target = background(workload("blocks", "storm"))
    before = wait_for(lambda: text_of(target.pid))
    recorder = wick.start("heap", "-p", target.pid, "--sample", "1M", "-o", wick.new_path())
    assert "probing" in recorder.stderr.readline()
    during, ids = text_of(target.pid), ids_of(recorder.pid)
    assert during != before and {command for command, _ in ids} == set(COMMANDS.values())
    assert all(bpf(*one) for one in ids)
    recorder.send_signal(signal.SIGINT)
    summary = recorder.communicate(timeout=20)[1]
    assert recorder.returncode == 0 and " 0 lost" in summary, summary
    assert text_of(target.pid) == before
    wait_for(lambda: not any(bpf(*one) for one in ids))
    assert target.poll() is None


def test_one_in_so_many_bytes(wick, background):
    seen = Attached(wick, background, workload("blocks", "wait", "paths"), "--sample", "4K").run()
    # All within 30 ms: a recorder that gets no CPU then says what is lost.
    events, lost = map(int, re.search(r"(\d+) allocations and frees, (\d+) lost", seen.summary).groups())
    # 20 MB in steps of 4 KiB: 4,500 blocks of 20,000, an error of 1.3 %.
    share = seen.by_function("at_the_end")["bytes"] / seen.truth["at_the_end"]["bytes"]
    assert share == pytest.approx(events / (events + lost), rel=0.1), seen.summary


def test_a_program_that_becomes_another_is_let_go(wick, background):
    target = background(["sh", "-c", "read line; exec sleep 0.3"], stdin=subprocess.PIPE)
    wait_for(lambda: is_reading(target.pid))
    recorder = wick.start("heap", "-p", target.pid, "-o", wick.new_path())
    assert "probing" in recorder.stderr.readline()
    target.communicate("x\n", timeout=20)
    assert "executed another program" in recorder.communicate(timeout=20)[1]


def test_what_would_cost_too_much_is_refused(wick, background):
    target = background(workload("blocks", "storm"))
    told = wick.run("heap", "-p", target.pid, "-d", "0.1", "-o", wick.new_path())
    pairs = int(re.search(r"(\d+) (?:blocks|pairs) per second", told.stderr)[1])
    # A machine that is busy with other things may be too slow for that.
    assert (told.returncode == 1) == (pairs > 200000) == ("--sample 512K" in told.stderr) == ("--force" in told.stderr)
    assert wick.run("heap", "-p", target.pid, "-d", "0.1", "--force", "-o", wick.new_path()).returncode == 0


def refused(wick, pid, *options):
    """The short message that wick prints instead of following a process."""
    told = wick.run("heap", "-p", pid, "-o", wick.new_path(), *options)
    assert told.returncode == 1 and told.stderr.startswith("wick: "), told.stderr
    assert len(told.stderr.splitlines()) <= 3, told.stderr
    return told.stderr


def test_what_cannot_be_followed_is_told_why(wick, background, library, tmp_path):
    assert "no such process: 999999999" in refused(wick, "999999999")
    assert wick.run("heap", "-p", os.getpid(), "--", "true").returncode == 2
    told = refused(wick, os.getpid(), "--allocator", "nosuchlib")
    assert "has not mapped a file named nosuchlib" in told and "/maps" in told
    target = background(workload("blocks", "wait"), stdin=subprocess.PIPE, env={**os.environ, "LD_PRELOAD": str(library)})
    wait_for(lambda: is_reading(target.pid))
    assert "has already loaded wick's library" in refused(wick, target.pid)
    target = background([build(tmp_path, "-static", "-s"), "wait"], stdin=subprocess.PIPE)
    wait_for(lambda: is_reading(target.pid))
    assert "is linked statically and has no symbols" in refused(wick, target.pid)


def test_a_32_bit_program_is_refused(wick, background):
    assert "is a 32-bit program" in refused(wick, background(workload("narrow")).pid)


def test_it_needs_rights(wick, background, as_nobody):
    target = background([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    told = wick.run("heap", "-p", target.pid, "-o", wick.new_path(), prefix=as_nobody)
    assert told.returncode == 1 and "run as root" in told.stderr, told.stderr

# SPDX-License-Identifier: BSD-2-Clause
"""Helpers for the tests of the eBPF engine: whether it works here, and what it leaves behind."""
import ctypes
import json
import os
import platform
import re
import subprocess

import pytest

from conftest import WICK

ROOT_SHARE = re.compile(r"unwinding\s+([\d.]+) % reached the root")
OUTSIDE = re.compile(r"([\d.]+) % of stacks walked outside the kernel")
BPF_SYSCALL = {"x86_64": 321, "aarch64": 280}.get(platform.machine())
PROG_GET_NEXT_ID = 11
PROG_GET_FD_BY_ID = 13
OBJ_GET_INFO_BY_FD = 15
# The programs of src/bpf
PROGRAMS = {"sample", "switched", "woken", "waking", "born", "sleepers", "forked", "execed", "ended",
            "heap_session", "heap_entered", "heap_returned", "heap_space"}


def refusal():
    """Why the engine does not work here, or None."""
    if not WICK.exists():
        return "wick is not built"
    done = subprocess.run([WICK, "list", "engines", "--format", "json"], capture_output=True,
                          text=True, check=True)
    engine = next(e for e in json.loads(done.stdout)["engines"] if e["name"] == "ebpf")
    return None if engine["available"] else engine["reason"]


REFUSAL = refusal()
needs_ebpf = pytest.mark.skipif(REFUSAL is not None, reason=f"eBPF does not work here: {REFUSAL}")


def root_percent(recording):
    return float(ROOT_SHARE.search(recording.stderr).group(1))


def share_of(stacks, wanted):
    """The share of samples whose stack satisfies wanted(frames)."""
    total = sum(count for _, count in stacks)
    return sum(count for frames, count in stacks if wanted(frames)) / total if total else 0.0


def bpf(command, *words):
    """bpf(2) with a union of 32-bit words; the words after the call, None on failure."""
    attr = (ctypes.c_uint32 * 32)(*words)
    libc = ctypes.CDLL(None, use_errno=True)
    r = libc.syscall(BPF_SYSCALL, command, ctypes.byref(attr), ctypes.sizeof(attr))
    return None if r < 0 else (r, list(attr))


def program_name(number):
    found = bpf(PROG_GET_FD_BY_ID, number)
    if found is None:
        return ""
    info = (ctypes.c_uint8 * 128)()
    address = ctypes.addressof(info)
    # struct bpf_prog_info: type, id, tag[8], two lengths, two pointers, load_time, uid,
    # nr_map_ids, map_ids, name[16]
    told = bpf(OBJ_GET_INFO_BY_FD, found[0], 128, address & 0xffffffff, address >> 32)
    os.close(found[0])
    return bytes(info[64:80]).split(b"\0")[0].decode() if told else ""


def loaded_programs():
    """{id} of the BPF programs in the kernel that have the name of one of ours."""
    found = set()
    number = 0
    while True:
        answer = bpf(PROG_GET_NEXT_ID, number)
        if answer is None:
            return found
        number = answer[1][1]
        if program_name(number) in PROGRAMS:
            found.add(number)

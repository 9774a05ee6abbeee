#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes the seeds of fuzz_perf_data: small perf.data files with every kind of record.

    tests/fuzz/make_perf_data.py [FOLDER]
"""
import pathlib
import struct
import sys

IP, TID, TIME, ID, CPU, PERIOD = 1 << 0, 1 << 1, 1 << 2, 1 << 6, 1 << 7, 1 << 8
CHAIN, RAW, REGS, STACK, IDENTIFIER = 1 << 5, 1 << 10, 1 << 12, 1 << 13, 1 << 16
USER, KERNEL = 2**64 - 512, 2**64 - 128
ID_ALL, FREQ = 1 << 18, 1 << 10
REGISTERS = 0x1ffffffff
BASE = IP | TID | TIME | ID | CPU | PERIOD


def u32(*values):
    return struct.pack(f"<{len(values)}I", *values)


def u64(*values):
    return struct.pack(f"<{len(values)}Q", *values)


def text(value, align=8):
    data = value.encode() + b"\0"
    return data + bytes(-len(data) % align)


def record(kind, body, misc=0):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def attr(sample_type, config=0, registers=0, stack=0):
    body = struct.pack("<IIQQQQQ", 1, 128, config, 1000, sample_type, 4, ID_ALL | FREQ)
    body += u32(0, 0) + u64(0, 0, 0, registers) + u32(stack, 0) + u64(0) + u32(0)
    return body + bytes(128 - len(body))


def trailer(time, event):
    return u32(7, 7) + u64(time, event) + u32(0, 0)


def sample(time, event, chain=None, registers=0, stack=b""):
    body = u64(0x401010) + u32(7, 8) + u64(time, event) + u32(1, 0) + u64(1000000)
    if chain is not None:
        body += u64(len(chain), *chain)
    if registers:
        body += u64(2) + u64(*range(0x1000, 0x1000 + registers))
        body += u64(len(stack)) + stack + u64(len(stack))
    return record(9, body, 2)


def world(time=10):
    """Names, mappings, a fork, an exit, losses, throttles, namespaces."""
    end = lambda t: trailer(t, 5)
    return b"".join([
        record(1, u32(2**32 - 1, 0) + u64(0x1000, 0x9000, 0xffff800000001000) +
               text("[kernel.kallsyms]_text") + trailer(0, 5), 1),
        record(3, u32(7, 7) + text("shell") + trailer(0, 5)),
        record(3, u32(7, 7) + text("prog") + end(time), 1 << 13),
        record(10, u32(7, 7) + u64(0x400000, 0x10000, 0) + u32(8, 1) + u64(99, 0) +
               u32(5, 2) + text("/no/such/prog") + end(time), 2),
        record(10, u32(7, 7) + u64(0x500000, 0x10000, 0) + bytes([20, 0, 0, 0]) + bytes(range(50, 70)) +
               u32(5, 2) + text("/no/such/lib.so") + end(time + 1), 2 | 1 << 14),
        record(7, u32(9, 7, 9, 7) + u64(time + 2) + end(time + 2)),
        record(3, u32(7, 8) + text("thread") + end(time + 3)),
        record(2, u64(5, 3) + end(time + 4)),
        record(13, u64(2) + end(time + 5)),
        record(5, u64(time + 5, 5, 5) + end(time + 5)),
        record(16, u32(7, 7) + u64(0) + end(time + 6)),
        record(11, u64(0, 64, 0) + end(time + 6)),
        record(4, u32(9, 7, 9, 7) + u64(time + 7) + end(time + 7)),
    ])


ROUND = record(68, b"")


def features(offset):
    """Build ids, release, arguments, names of events, clocks; sections, then their data."""
    build_id = record(0, u32(7) + bytes(range(20)) + u32(20) + text("/no/such/prog", 64), 1 << 15)
    release = u32(64) + text("6.1.0", 64)
    command = u32(2) + u32(64) + text("perf", 64) + u32(64) + text("record", 64)
    events = u32(1, 128) + attr(BASE) + u32(1) + u32(64) + text("cpu-clock:u", 64) + u64(5)
    clock = u32(1, 1) + u64(10**18, 10**9)
    parts = {2: build_id, 4: release, 11: command, 12: events, 29: clock}
    at = offset + 16 * len(parts)
    sections, data = b"", b""
    for part in parts.values():
        sections += u64(at + len(data), len(part))
        data += part
    return sum(1 << bit for bit in parts), sections + data


def file(attrs, data, cut=False):
    ids_at = 104
    attrs_at = ids_at + 8 * len(attrs)
    data_at = attrs_at + 144 * len(attrs)
    ids = b"".join(u64(5 + i) for i in range(len(attrs)))
    table = b"".join(item + u64(ids_at + 8 * i, 8) for i, item in enumerate(attrs))
    bits, end = features(data_at + len(data))
    size = 0 if cut else len(data)
    header = b"PERFILE2" + u64(104, 144) + u64(attrs_at, len(table)) + u64(data_at, size)
    header += u64(0, 0) + u64(bits, 0, 0, 0)
    return header + ids + table + data + (b"" if cut else end)


def pipe(attrs, data):
    told = b"".join(record(64, item + u64(5 + i)) for i, item in enumerate(attrs))
    told += record(80, u64(4) + u32(64) + text("6.1.0", 64))
    told += record(67, u32(7) + bytes(range(20)) + u32(20) + text("/no/such/prog", 64), 1 << 15)
    told += record(78, u64(2, 5) + text("cpu-clock"))
    return b"PERFILE2" + u64(16) + told + data


def compressed(data):
    """One zstd frame with blocks that are stored as they are, in two records."""
    frame = b"\x28\xb5\x2f\xfd\x00\x58" + ((len(data) << 3) | 1).to_bytes(3, "little") + data
    half = len(frame) // 2
    return record(81, frame[:half]) + record(81, frame[half:])


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                          pathlib.Path(__file__).parent / "corpus/perf_data")
    folder.mkdir(parents=True, exist_ok=True)
    chain = [KERNEL, 0xffff800000002000, USER, 0x401010, 0x501020, 0x600000]
    plain = attr(BASE)
    chained = attr(BASE | CHAIN)
    copied = attr(BASE | CHAIN | REGS | STACK, registers=REGISTERS, stack=64)
    fp_data = world() + sample(50, 5, chain) + sample(40, 5, chain) + ROUND + \
        sample(45, 5, chain[2:]) + ROUND + sample(60, 5, [])
    aux = record(71, u64(16, 0, 0) + u32(0, 0, 0, 0)) + bytes(16)
    stack = u64(*range(0x401000, 0x401000 + 8))
    seeds = {
        "plain": file([plain], world() + sample(50, 5)),
        "fp": file([chained], fp_data),
        "dwarf": file([copied], world() + sample(50, 5, chain[:2], 33, stack)),
        "two-events": file([chained, attr(BASE | CHAIN, config=2)],
                           fp_data + sample(70, 6, chain)),
        "killed": file([chained], fp_data, cut=True),
        "aux": file([chained], fp_data + aux + sample(80, 5, chain)),
        "compressed": file([chained], compressed(fp_data)),
        "pipe": pipe([chained], fp_data),
        "cut": file([chained], fp_data)[:500],
    }
    for name, data in seeds.items():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()

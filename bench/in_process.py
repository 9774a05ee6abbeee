# SPDX-License-Identifier: BSD-2-Clause
"""Measures what runs inside programs: the walker of stacks, events of programs, and the tables that both use."""
import re

from commands import run, truth_of
from results import NONE, Row, ratio

UNWIND_GOAL_MS = 60


def times(lines):
    """{walker: ns} of what unwind_bench prints."""
    return {line.split("  ")[0]: float(line.split()[-4]) for line in lines if line.endswith("ns a frame")}


def walking(bench):
    """The walker for the own process compared with those of libunwind and glibc."""
    found = times(run([bench.build / "bench/unwind_bench"]).stdout.splitlines())
    peer = found.get("libunwind unw_backtrace()")
    glibc = found["glibc backtrace()"]
    peers = f"glibc {glibc:.0f} ns" + (f", libunwind {peer:.1f} ns" if peer else "")
    return [Row(f"walking a frame inside a process, {what}", peers, f"{found[name]:.1f} ns",
                ratio(found[name], peer or glibc), text, most and found[name] <= most)
            for what, name, text, most in (
                ("rules cached", "wick, rules cached", "≤ 0.6 × libunwind", peer and 0.6 * peer),
                ("nothing cached", "wick, nothing cached", "≤ 20 ns", 20),
                ("unchanged", "wick, an unchanged frame", "≤ 1.5 ns", 1.5))]


def telling(bench):
    """What a program pays for reporting its own events, without and with a recorder."""
    bare = truth_of(run([bench.build / "bench/tell_bench"]))
    heard = truth_of(run([bench.wick, "record", "--engine", "signal", "-q", "-o", bench.wick_data, "--",
                          bench.build / "bench/tell_bench", 20000]))
    worst = max(bare[name] for name in ("event", "count", "gauge", "label"))
    told = ", ".join(f"{name} {heard[name] / 1000:.2f} us" for name in ("event", "count", "gauge", "label", "part"))
    return [Row("wick_event(), wick_gauge() …: a call without a recorder", NONE, f"{worst:.2f} ns", NONE, "≤ 2 ns",
                worst <= 2),
            Row("the same with a recorder", NONE, told, NONE, NONE, None)]


def unwind_tables(bench):
    """How long the unwind table of a large library takes to compile."""
    found = re.search(r"libLLVM-14\S* +([\d.]+) ms.* ([\d.]+) MB", run([bench.build / "bench/cfi_bench"]).stdout)
    if not found:
        return [Row("unwind table of libLLVM: time to compile", NONE, "no libLLVM-14", NONE, NONE, None)]
    return [Row("unwind table of libLLVM: time to compile", NONE, f"{found[1]} ms CPU, {found[2]} MB", NONE,
                f"≤ {UNWIND_GOAL_MS} ms", float(found[1]) <= UNWIND_GOAL_MS)]

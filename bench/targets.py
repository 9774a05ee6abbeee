# SPDX-License-Identifier: BSD-2-Clause
"""What wick wants to reach, and which rows of the benchmarks say whether it does.

A target is met if all its rows are. Rows carry their own goals; a row without one only informs.
"""
import collections
import re

# id, what, the names of its rows (regular expressions), what measures it if the benchmarks do not
Target = collections.namedtuple("Target", "id what rows elsewhere", defaults=("",))
NONE = "–"
MET, MISSED, UNKNOWN = "met", "**missed**", "not measured"

TARGETS = (
    Target("C1", "recording at 999 Hz: target's CPU", ("target's CPU at 999 Hz",)),
    Target("C2", "recording at 10,000 Hz: target's CPU", ("target's CPU at 10000 Hz",)),
    Target("C3", "bytes per sample", ("bytes per sample, clang at 999 Hz",)),
    Target("C4", "stacks that reach the root", ("clang, copied stacks: reach the root", "clang, in the kernel: reach the root")),
    Target("C5", "time of a stack in the kernel", (".*, in the kernel: one stack",)),
    Target("C6", "the whole machine at 100 Hz", ("whole machine at 100 Hz, .*",)),
    Target("C7", "samples taken", ("samples taken / expected at .*",)),
    Target("C8", "recorder's memory", ("recorder's memory in that run",)),
    Target("C9", "time to launch", ("wall time added by launching",)),
    Target("C10", "latency of redis at 100 Hz", ("latency of redis at 100 Hz, ebpf.*",)),
    Target("C11", "what a budget of 1 % really costs", ("budget of 1 %, .*",)),
    Target("C12", "reported cost compared with measured", ("reported overhead compared with measured at 10000 Hz",)),
    Target("U1", "walking a frame inside a process", ("walking a frame inside a process, (rules cached|unchanged)",)),
    Target("U2", "compiling the unwind table of libLLVM", ("unwind table of libLLVM: .*",)),
    Target("S1", "100,000 addresses to lines", ("full answers for 100000 addresses.*",)),
    Target("S2", "the same: memory", ("memory for 100000 addresses, .*",)),
    Target("F1", "perf.data of a compiler to SVG", ("perf.data of clang at 49999 Hz .*",)),
    Target("F2", "100,000 folded stacks to SVG", ("100000 folded stacks of 40 frames .*",)),
    Target("F3", "10,000 boxes in a browser", ("browser, 10,000 boxes: .*",)),
    Target("H1", "heap: added to a pair", ("heap, (shallow|20 frames): added to a pair",)),
    Target("H1r", "the same with the recorder", ("heap, (shallow|20 frames): with the recorder",)),
    Target("H2", "heap of real programs, all events", ("heap, (sqlite3|python3, json|cc1): its CPU",)),
    Target("H3", "heap of real programs, sampled", ("heap, .*: its CPU, sampled at 512 KB",)),
    Target("H4", "bytes per heap event", ("heap, (sqlite3|python3, json|cc1): bytes per event",
                                          "heap events, .*: bytes per event")),
    Target("H5", "leak classes", (), "tests/e2e/test_leak_suites.py"),
    Target("H6", "analysis of heap events", ("100,000 stacks, 10,000 sizes, 1 million live blocks",)),
    Target("H7", "heap of a running process", ("heap, attached, .*: added to a pair",)),
    Target("P1", "Python memory, all blocks", ("Python memory, (1|25): .*",)),
    Target("P2", "Python memory, sampled", ("Python memory, sampled: .*",)),
    Target("P3", "Python memory, snapshots", ("Python memory, compare: .*",)),
    Target("A1", "the agent", ("agent, .*: (share of one CPU.*|rate|memory)",)),
    Target("D1", "store: bytes a row", ("store: bytes a row at rest",)),
    Target("D2", "store: flame graphs", ("store: flame graph of a service, (1 hour|24 hours)",)),
    Target("R1", "programs are not harmed", (), "make test-harm"),
    Target("R2", "killed at random moments", (), "WICK_LONG=1 tests/e2e/test_kills.py"),
    Target("R3", "hostile input", (), "make fuzz"),
)


def rows_of(target, found):
    """The rows of a target; found is {what: row}."""
    return [row for what, row in found.items() if any(re.fullmatch(name, what) for name in target.rows)]


def verdict(rows):
    known = [row["met"] for row in rows if row["met"] is not None]
    return MISSED if False in known else MET if known else UNKNOWN


def joined(rows, key):
    """What the rows say, each text once."""
    return "; ".join(dict.fromkeys(row[key] for row in rows if row[key] != NONE)) or NONE


def line(target, found):
    if target.elsewhere:
        return [target.id, target.what, NONE, NONE, NONE, f"by `{target.elsewhere}`"]
    rows = rows_of(target, found)
    return [target.id, target.what, joined(rows, "goal"), joined(rows, "perf"), joined(rows, "wick"), verdict(rows)]


def summary(found):
    """How many targets are met, of those that the benchmarks measure."""
    words = [verdict(rows_of(target, found)) for target in TARGETS if not target.elsewhere]
    measured = [word for word in words if word != UNKNOWN]
    text = f"{measured.count(MET)} of {len(measured)} targets are met"
    return text + (f"; {words.count(UNKNOWN)} were not measured" if UNKNOWN in words else "")


def table(found):
    lines = [["target", "what", "goal", "peer", "wick", "verdict"], ["---"] * 6]
    lines += [line(target, found) for target in TARGETS]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + f"\n\n{summary(found)}."

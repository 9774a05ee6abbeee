#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Looks for gross regressions: small measurements compared with the committed ones of the same CPU.

    bench/quick.py [--build DIR] [--write] [NAME...]

Each figure is a ratio within one run: to another tool, to the same program without wick, or to a program
that does a fixed amount of work. It fails if it is more than 1.5 times the committed figure, five times in a
row. bench/results/quick.json has the figures of each CPU; --write replaces those of this one. Prints a line
"ok NAME", "FAIL NAME" or "skip NAME" for each.
"""
import argparse
import json
import os
import pathlib
import platform
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
sys.path.insert(0, str(ROOT / "tests/e2e"))
import contract  # noqa: E402
import heap as heap_bench  # noqa: E402
import in_process  # noqa: E402
import inherited  # noqa: E402
from commands import run, truth_of  # noqa: E402
from inputs import folded_stacks  # noqa: E402

FIGURES = ROOT / "bench/results/quick.json"
LIMIT = 1.5
TRIES = 5
ROUNDS = 3
WORK_MILLIONS = 100  # the fixed work: a few tenths of a second
PAIRS = 200000
FOLDED = 5000
HEAP_ROWS = 15000


class Missing(Exception):
    """What a measurement needs is not there."""


class Quick:
    def __init__(self, build):
        self.build, self.wick = build, build / "wick"
        self.folder = build / "bench-quick"
        self.folder.mkdir(exist_ok=True)
        self.data = self.folder / "quick.wick"

    def work_s(self):
        """CPU seconds of the fixed work."""
        return truth_of(run([self.build / "bench/work", WORK_MILLIONS]))["cpu_us"] / 1e6

    def compared_with_work(self, command):
        """
        CPU of a command in units of the fixed work, which runs alternately. The least of each counts: whatever else
        runs only adds to it.
        """
        taken = [(run(command).cpu, self.work_s()) for _ in range(ROUNDS)]
        return min(cpu for cpu, _ in taken) / min(work for _, work in taken)

    # Inside programs

    def walk(self, name):
        lines = run([self.build / "bench/unwind_bench"]).stdout.splitlines()
        found = in_process.times(lines)
        peer = found.get("libunwind unw_backtrace()")
        if not peer:
            raise Missing("built without libunwind")
        return found[name] / peer

    def walk_cached(self):
        return self.walk("wick, rules cached")

    def walk_unchanged(self):
        return self.walk("wick, an unchanged frame")

    def storm_us(self, prefix):
        command = [self.build / "bench/storm", PAIRS, 1, 1]
        return min(truth_of(run([*prefix, *command]))["cpu_us"] for _ in range(2 * ROUNDS))

    def heap_pair(self):
        """What the heap tracker adds to a pair of malloc() and free(), in pairs."""
        bare = self.storm_us([])
        return (self.storm_us([self.wick, "heap", "-q", "-o", self.data, "--"]) - bare) / bare

    def heap_sampled(self):
        """CPU of a database under a sampled heap, the recorder's included."""
        if not shutil.which("sqlite3"):
            raise Missing("no sqlite3")
        script = self.folder / "heap.sql"
        script.write_text(heap_bench.SQL.format(rows=HEAP_ROWS))
        command = ["sqlite3", ":memory:", f".read '{script}'"]
        ours = [self.wick, "heap", "-q", "--sample", "512K", "-o", self.data, "--"]
        return min(run([*ours, *command]).cpu for _ in range(ROUNDS)) / min(run(command).cpu for _ in range(ROUNDS))

    # Recording

    def stack_in_kernel(self):
        """CPU time that a sample of 36 frames takes from its program, in thousandths of the fixed work."""
        if os.geteuid() != 0:
            raise Missing("needs root")
        done = run([self.wick, "record", "--engine", "ebpf", "-F", 9973, "-o", self.data, "--",
                    self.build / "bench/deep", 300])
        info = json.loads(run([self.wick, "info", self.data, "--format", "json"]).stdout)
        cost_us = info["overhead_percent"] / 100 * truth_of(done)["cpu_us"] / contract.sample_count(info)
        return cost_us / (self.work_s() * 1e6) * 1000

    def bytes_per_sample(self):
        run([self.wick, "record", "-F", 9973, "-o", self.data, "--", self.build / "bench/stacks", 1, 2000])
        info = json.loads(run([self.wick, "info", self.data, "--format", "json"]).stdout)
        return self.data.stat().st_size / contract.sample_count(info)

    # Looking

    def folded_to_svg(self):
        path = self.folder / "stacks.folded"
        if not path.exists():
            path.write_text(folded_stacks(FOLDED, 40))
        return self.compared_with_work([self.wick, "flame", path, "-o", self.folder / "stacks.svg"])

    def layout(self):
        return self.compared_with_work([self.build / "bench/layout_bench"])

    def own_names(self):
        """Addresses of wick itself to lines and inlined calls."""
        addresses = [hex(int(line.split()[0], 16)) for line in run(["nm", self.wick]).stdout.splitlines()
                     if line.split()[-2] in "tT"][:2000]
        return self.compared_with_work([self.wick, "symbolize", "--no-cache", "-f", "-i", "-e", self.wick, *addresses])

    def heap_analysis(self):
        return self.compared_with_work([self.build / "bench/heap_analysis_bench", 1, 1000, 1000, 1000, 1000000])

    def heap_codec(self):
        return self.compared_with_work([self.build / "bench/heap_bench", self.data, 200000])

    def unwind_table(self):
        return self.compared_with_work([self.build / "bench/cfi_bench", self.wick])


MEASUREMENTS = {
    "walking a frame, rules cached, compared with libunwind": Quick.walk_cached,
    "walking a frame, unchanged, compared with libunwind": Quick.walk_unchanged,
    "heap, added to a pair, in pairs": Quick.heap_pair,
    "heap, sampled, CPU of sqlite3 compared with plain": Quick.heap_sampled,
    "a sample of 36 frames, eBPF": Quick.stack_in_kernel,
    "bytes per sample": Quick.bytes_per_sample,
    "folded stacks to SVG": Quick.folded_to_svg,
    "call tree and layout": Quick.layout,
    "addresses to lines": Quick.own_names,
    "heap analysis": Quick.heap_analysis,
    "heap events written and read": Quick.heap_codec,
    "unwind table": Quick.unwind_table,
}


def judge(name, measure, committed, quick):
    """(line to print, figure); measures again while the figure is above the limit."""
    best = None
    for _ in range(TRIES):
        try:
            figure = measure(quick)
        except Missing as why:
            return f"skip {name}: {why}", None
        best = figure if best is None else min(best, figure)
        if committed is None or best <= LIMIT * committed:
            break
    if committed is None:
        return f"skip {name}: no figure of this CPU is committed; measured {best:.3f}", best
    word = "ok" if best <= LIMIT * committed else "FAIL"
    return f"{word} {name}: {best:.3f}, committed {committed:.3f}, ratio {best / committed:.2f}, limit {LIMIT}", best


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--write", action="store_true", help="commit to the figures of this run")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args(words)
    inherited.restore_signals()
    kept = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.exists() else {}
    own = kept.setdefault(platform.machine(), {})
    quick, failed = Quick((ROOT / options.build).resolve()), False
    for name, measure in MEASUREMENTS.items():
        if options.names and not any(word in name for word in options.names):
            continue
        line, figure = judge(name, measure, None if options.write else own.get(name), quick)
        if options.write and figure is not None:
            own[name] = round(figure, 4)
            line = f"ok {name}: {figure:.3f}, written"
        failed |= line.startswith("FAIL")
        print(line, flush=True)
    if options.write:
        FIGURES.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

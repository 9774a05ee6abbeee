# SPDX-License-Identifier: BSD-2-Clause
"""Measures what a rate costs with each engine: the figures of docs/user/tuning.md."""
import re
import statistics

import engines

NONE = "–"
RATES_HZ = (97, 997, 3989, 9973)
FRAMES = 30
# What, options. A walk by tables in the kernel; by tables over a copy of a KB; by frame pointers; over
# a copy of 64 KB; inside the program.
WAYS = (("ebpf", ("--engine", "ebpf")), ("perf", ("--engine", "perf")),
        ("perf --unwind fp", ("--engine", "perf", "--unwind", "fp")),
        ("perf --unwind dwarf", ("--engine", "perf", "--unwind", "dwarf")),
        ("signal", ("--engine", "signal")))
DEPTHS = (10, 30, 100, 300)


def stated(done):
    """(percent of the target's CPU, us per sample) of a summary."""
    found = re.search(r"overhead +([\d.]+) % of the target's CPU time \(([\d.]+) us (?:a|per) sample", done.stderr)
    return (float(found[1]), float(found[2])) if found else (0.0, 0.0)


class Rates:
    """Makes the rows. bench has the options and folders; run() and Row are shared by all measurements."""

    def __init__(self, bench, run, row, target_us):
        self.bench, self.run, self.row, self.target_us = bench, run, row, target_us

    def rows(self):
        rows = [self.rate(*way, hz) for way in WAYS for hz in RATES_HZ]
        return rows + [self.depth(*WAYS[i], frames) for i in (0, 1, 4) for frames in DEPTHS]

    def prefix(self, options, hz):
        return [self.bench.wick, "record", *options, "-F", hz, "-o", self.bench.wick_data, "--"]

    def recorder_us(self, done):
        return done.cpu * 1e6 - self.target_us(done)

    def rate(self, what, options, hz):
        """Plain and recorded runs at the same time, so that other load slows down both."""
        sides = {"bare": [], "wick": self.prefix(options, hz)}
        command = self.bench.crowd(1, FRAMES, 2)
        start_us = self.recorder_us(self.run([*sides["wick"], *command[:-1], 1]))
        added, own, said = [], [], []
        for _ in range(min(self.bench.options.rounds, 5)):
            done = engines.together(self.run, sides, command)
            bare = self.target_us(done["bare"])
            added.append(100 * (self.target_us(done["wick"]) / bare - 1))
            own.append(100 * (self.recorder_us(done["wick"]) - start_us) / bare)
            said.append(stated(done["wick"]))
        size = self.bench.wick_data.stat().st_size / (bare / 1e6) * 3600 / 1e6
        percent, us = (statistics.median(part) for part in zip(*said))
        return self.row(f"{what} at {hz} Hz, {FRAMES} frames: target's CPU as reported (per sample); "
                        "measured by lost work; recorder's CPU; file",
                        NONE, f"{percent:.2f} % ({us:.1f} us); {statistics.median(added):+.2f} %; "
                        f"{max(0.0, statistics.median(own)):.2f} %; {size:.1f} MB per hour", NONE, NONE, None)

    def depth(self, what, options, frames):
        done = [stated(self.run([*self.prefix(options, 997), *self.bench.crowd(1, frames, 1)])) for _ in range(3)]
        return self.row(f"{what}: a sample of {frames} frames", NONE,
                        f"{statistics.median(us for _, us in done):.1f} us", NONE, NONE, None)

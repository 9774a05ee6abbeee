# SPDX-License-Identifier: BSD-2-Clause
"""Measures the reading of Python calls: cost, errors and achieved rate, next to austin and py-spy.

These two are measured if WICK_BENCH_AUSTIN and WICK_BENCH_PYSPY name their programs. All sides run at the same time on
the same program (python_calls.py), whose calls are known: a sample with calls that the program does not make is
an error, as is one whose calls could not be read.
"""
import json
import os
import pathlib
import re
import statistics

import engines
import rates

NONE = "–"
PROGRAM = pathlib.Path(__file__).parent / "python_calls.py"
PYTHON = "/usr/bin/python3"
RATES_HZ = {100: 0.5, 1000: 3.0}  # with the goal: percent of the target
OF_CPU_TIME = ("wick ebpf", "wick perf", "wick signal")  # the others sample time that passes
ERRORS_PERCENT = (0.1, 5)  # of most engines, and of perf, which reads calls of threads that run
LEVELS = 8
FRAMES = 40
NO_CALLS = "[no calls]"
KNOWN = {"<module>", "run", "level", "work", NO_CALLS}
RIGHT = re.compile(r"<module>(;run(;level){0,%d}(;work)?)?" % (LEVELS + 1))


def judge(stacks):
    """(samples, errors) of [(names, count)]; stacks of other code, such as imports, are left out."""
    judged = [(RIGHT.fullmatch(";".join(names)), count) for names, count in stacks if names and set(names) <= KNOWN]
    return sum(count for _, count in judged), sum(count for right, count in judged if not right)


def wick_stacks(text):
    stacks = [[frame["function"] for frame in json.loads(line)["stack"] if frame["kind"] == "interpreted"]
              for line in text.splitlines()]
    # While the program runs, a sample without calls is an error; before and after, there are none.
    running = [i for i, names in enumerate(stacks) if "run" in names]
    for i, names in enumerate(stacks):
        yield names or ([NO_CALLS] if running and running[0] < i < running[-1] else []), 1


def austin_stacks(text):
    """Lines of P1;T1;FILE:FUNCTION:LINE;… TIME; those with a # are about the run. :INVALID: could not be read."""
    for line in text.splitlines():
        if line and not line.startswith("#"):
            frames = line.rpartition(" ")[0].split(";")[2:]
            names = [frame.rsplit(":", 2)[-2] for frame in frames if frame.count(":") >= 2]
            yield [NO_CALLS] if ":INVALID:" in frames else names, 1


def pyspy_stacks(text):
    """Lines of FUNCTION (FILE:LINE);… COUNT."""
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        names = [frame.rpartition(" (")[0] for frame in stack.split(";")]
        yield [name for name in names if name and not name.startswith("process ")], int(count)


class PythonFrames:
    """Makes the rows. bench has the options and folders; run() and Row are shared by all measurements."""

    def __init__(self, bench, run, row, target_us):
        self.bench, self.run, self.row, self.target_us = bench, run, row, target_us

    def rows(self):
        if not pathlib.Path(PYTHON).exists():
            return [self.row("Python calls", NONE, f"no {PYTHON}", NONE, NONE, None)]
        return [row for hz in RATES_HZ for row in self.rate(hz)] + [self.walk()]

    def program(self, levels, seconds):
        """The program for about that much CPU time."""
        done = self.run([PYTHON, PROGRAM, 200, levels])
        return [PYTHON, PROGRAM, max(1, int(200 * seconds * 1e6 / self.target_us(done))), levels]

    def sides(self, hz):
        """{name: (prefix, file with the result, how it is read)}"""
        folder = self.bench.folder
        sides = {}
        for engine in ("ebpf", "perf", "signal", "ptrace"):
            path = folder / f"python-{engine}.wick"
            sides[f"wick {engine}"] = ([self.bench.wick, "record", "--engine", engine, "-F", hz, "--overhead", "off",
                                        "-o", path, "--"], path, wick_stacks)
        if os.environ.get("WICK_BENCH_AUSTIN"):
            path = folder / "austin.txt"
            sides["austin"] = ([os.environ["WICK_BENCH_AUSTIN"], "-i", 1000000 // hz, "-o", path], path, austin_stacks)
        if os.environ.get("WICK_BENCH_PYSPY"):
            path = folder / "py-spy.txt"
            sides["py-spy"] = ([os.environ["WICK_BENCH_PYSPY"], "record", "-r", hz, "-f", "raw", "-o", path, "--"], path,
                               pyspy_stacks)
        return sides

    def beside_us(self, done):
        """CPU time besides the rounds of the program."""
        return done.cpu * 1e6 - self.target_us(done)

    def read(self, name, path, stacks_of):
        """(samples, errors) of a side."""
        if not name.startswith("wick"):
            return judge(stacks_of(path.read_text(encoding="utf-8", errors="replace")))
        return judge(stacks_of(self.run([self.bench.wick, "export", "--format", "samples", path]).stdout))

    def rate(self, hz):
        """A row for each side, all of them at the same time."""
        sides = self.sides(hz)
        command = self.program(LEVELS, 0.5 if self.bench.options.quick else 3)
        found = {name: [] for name in sides}
        # What a recorder and the interpreter take to start does not depend on the rate.
        starts = {name: self.beside_us(self.run([*side[0], *command[:-2], 1, LEVELS])) for name, side in sides.items()}
        for _ in range(min(self.bench.options.rounds, 5)):
            done = engines.together(self.run, {"bare": [], **{name: side[0] for name, side in sides.items()}}, command)
            bare = self.target_us(done["bare"])
            for name, (_, path, stacks_of) in sides.items():
                target = self.target_us(done[name])
                samples, errors = self.read(name, path, stacks_of)
                truth = json.loads([line for line in done[name].stdout.splitlines() if line.startswith("{")][-1])
                seconds = target / 1e6 if name in OF_CPU_TIME else truth["wall_s"]
                found[name].append((100 * (target / bare - 1), max(0.0, self.beside_us(done[name]) - starts[name]) / 1e4 / seconds,
                                    samples / seconds, 100 * errors / max(samples, 1), rates.stated(done[name])[1]))
        return [self.rate_row(name, hz, *(statistics.median(part) for part in zip(*found[name]))) for name in found]

    def rate_row(self, name, hz, added, own, achieved, wrong, sample_us):
        text = f"{added:+.2f} %; {own:.1f} %; {achieved:.0f} Hz; {wrong:.3f} %"
        what = f"Python calls at {hz} Hz, {name}: target's CPU; recorder's CPU; achieved; errors"
        if not name.startswith("wick"):
            return self.row(what, text, NONE, NONE, NONE, None)
        if name != "wick ptrace":  # whose summary states how long it stops the target instead
            text += f"; {sample_us:.1f} us"
            what += "; cost of a sample"
        if name == "wick perf":  # The target waits while its calls are read: that is not in its CPU time.
            added = max(added, sample_us * achieved / 1e4)
        most = ERRORS_PERCENT[name == "wick perf"]
        # The ptrace engine stops the target, and its samples are few: what it costs is stated elsewhere.
        goal = RATES_HZ[hz] if name != "wick ptrace" else None
        return self.row(what, NONE, text, NONE, f"≤ {goal} %, errors ≤ {most} %" if goal else f"errors ≤ {most} %",
                        wrong <= most and (goal is None or added <= goal))

    def walk(self):
        """What the eBPF program takes for mixed frames and for as many native ones."""
        def measured(command):
            done = [self.run([self.bench.wick, "record", "--engine", "ebpf", "-F", 997, "-o", self.bench.wick_data, "--",
                              *command]) for _ in range(3)]
            return (statistics.median(rates.stated(one)[1] for one in done),
                    statistics.median(engines.mean_frames(one) for one in done))

        seconds = 0.5 if self.bench.options.quick else 2
        few, many = (measured(self.program(levels, seconds)) for levels in (1, 5))
        # Levels add the same frames each: as many as come closest to FRAMES.
        levels = max(1, round(1 + (FRAMES - few[1]) * 4 / max(many[1] - few[1], 1)))
        mixed, frames = measured(self.program(levels, seconds))
        asked = round(frames) - engines.FRAMES
        _, native_frames = measured(self.bench.crowd(1, asked, 1))
        native, native_frames = measured(self.bench.crowd(1, asked + round(frames - native_frames), 1))
        return self.row("eBPF: a sample of mixed Python and native frames, and of native ones (frames)",
                        f"native {native:.1f} us ({native_frames:.0f})", f"{mixed:.1f} us ({frames:.0f})",
                        f"{mixed / native:.2f}", "≤ 2", mixed / native <= 2)

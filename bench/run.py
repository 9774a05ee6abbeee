#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares wick with perf and prints a table.

Both sides run alternately on the same input (bare, perf, wick, bare, ...), and medians of
CPU time (user + system) are compared: only ratios within one run are meaningful. A tool
that is not installed (perf, clang++) leaves a dash in its column.

    bench/run.py [--rounds N] [--quick] [--write] [NAME...]

--quick without names compares a few small measurements with the committed ones (bench/quick.py) and fails if
one is far above; with names it uses small inputs.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/e2e"))
import agent as agent_bench  # noqa: E402
import attach as attach_bench  # noqa: E402
import browser as browser_bench  # noqa: E402
import contract  # noqa: E402
import engines  # noqa: E402
import heap as heap_bench  # noqa: E402
import in_process  # noqa: E402
import ingest as ingest_bench  # noqa: E402
import inherited  # noqa: E402
import python_frames as python_frame_bench  # noqa: E402
import python_memory as python_bench  # noqa: E402
import quick  # noqa: E402
import rates as rate_bench  # noqa: E402
import results  # noqa: E402
import store as store_bench  # noqa: E402
import switches as switch_bench  # noqa: E402
import symbols as symbol_bench  # noqa: E402
import targets  # noqa: E402
from commands import Failed, Run, run, truth_of  # noqa: E402
from inputs import folded_stacks, generated_source  # noqa: E402
from live_view import watched_top  # noqa: E402
from results import NONE, Row, megabytes, milliseconds, points, ratio  # noqa: E402

class Bench:
    def __init__(self, options):
        self.options = options
        self.build = (ROOT / options.build).resolve()
        self.wick = self.build / "wick"
        self.perf = shutil.which("perf")
        if self.perf and run([self.perf, "record", "-q", "-o", "/dev/null", "true"],
                             check=False).status != 0:
            self.perf = None
        self.folder = self.build / "bench-data"
        self.folder.mkdir(exist_ok=True)
        self.perf_data = self.folder / "perf.data"
        self.wick_data = self.folder / "wick.wick"

    # The two recorders

    def recorders(self):
        """{name: function(command, rate) -> prefix}; "bare" has no recorder."""
        sides = {"bare": lambda rate: []}
        if self.perf:
            sides["perf"] = lambda rate: [self.perf, "record", "-q", "-F", rate, "-g", "-o",
                                          self.perf_data, "--"]
        sides["wick"] = lambda rate: [self.wick, "record", "-F", rate, "-o", self.wick_data, "--"]
        return sides

    def interleave(self, command, rate, rounds, watch=False):
        """{side: [Run]} with the order rotated each round."""
        sides = list(self.recorders().items())
        runs = {name: [] for name, _ in sides}
        for i in range(rounds):
            for name, prefix in sides[i % len(sides):] + sides[:i % len(sides)]:
                runs[name].append(run([*prefix(rate), *command], watch=watch and name != "bare"))
        return runs

    def info(self, path=None):
        return json.loads(run([self.wick, "info", path or self.wick_data, "--format",
                               "json"]).stdout)

    def perf_samples(self):
        return run([self.perf, "script", "-i", self.perf_data, "-F", "tid,time"]).stdout.count("\n")

    # Measurements: each gives rows.

    def target_cpu(self, rate=999, rounds=None):
        """What recording adds to the program, and what the recorder uses itself."""
        millions = 200 if self.options.quick else 1500
        runs = self.interleave([self.build / "bench/work", millions], rate,
                               rounds or self.options.rounds)
        inside = {name: [truth_of(done)["cpu_us"] / 1e6 for done in done_runs]
                  for name, done_runs in runs.items()}
        bare = statistics.median(inside["bare"])
        # Loading and ending the program is outside of what it measures itself.
        outside = statistics.median(done.cpu - own
                                    for done, own in zip(runs["bare"], inside["bare"]))
        added, own = {}, {}
        for name in runs:
            added[name] = (statistics.median(inside[name]) / bare - 1) * 100
            own[name] = statistics.median(max(0.0, done.cpu - cpu - outside)
                                          for done, cpu in zip(runs[name], inside[name]))
        return self.target_rows(rate, bare, added, own)

    def target_rows(self, rate, bare, added, own):
        perf_added, perf_own = added.get("perf"), own.get("perf")
        most = 0 if rate > 999 else 0.1
        rows = [Row(f"target's CPU at {rate} Hz", points(perf_added), points(added["wick"]),
                    NONE if perf_added is None else f"{added['wick'] - perf_added:+.2f} points",
                    f"≤ perf + {most} points" if most else "≤ perf",
                    None if perf_added is None else added["wick"] <= perf_added + most),
                Row(f"recorder's own CPU at {rate} Hz", milliseconds(perf_own),
                    f"{milliseconds(own['wick'])} of a {bare:.1f} s program", ratio(own["wick"], perf_own), "< perf",
                    None if perf_own is None else own["wick"] < perf_own)]
        info = self.info()
        stated = info.get("overhead_percent")
        if stated is not None:
            measured = added["wick"]
            rows.append(Row(f"reported overhead compared with measured at {rate} Hz", f"{measured:.2f} %",
                            f"{stated:.2f} %", f"×{stated / measured:.2f}" if measured > 0
                            else NONE, "± 20 %",
                            0.8 <= stated / measured <= 1.2 if measured > 0.2 else None))
        return rows

    def overhead(self):
        rows = self.target_cpu(999)
        rounds = max(3, self.options.rounds // 3)
        return rows + self.target_cpu(100, rounds) + self.target_cpu(10000, rounds)

    def bytes_a_sample(self):
        compiler = shutil.which("clang++-14") or shutil.which("clang++")
        if not compiler:
            return [Row("bytes per sample, clang at 999 Hz", NONE, NONE, NONE, "≤ 10",
                        None)]
        source = self.folder / "generated.cpp"
        source.write_text(generated_source(10 if self.options.quick else 60))
        command = [compiler, "-O2", "-std=c++17", "-c", "-o", self.folder / "generated.o", source]
        runs = self.interleave(command, 999, 1, watch=True)
        perf_bytes = None
        if self.perf:
            perf_bytes = self.perf_data.stat().st_size / self.perf_samples()
        info = self.info()
        wick_bytes = self.wick_data.stat().st_size / contract.sample_count(info)
        peak = runs["wick"][0].peak_kb / 1024
        perf_peak = runs["perf"][0].peak_kb / 1024 if self.perf else None
        stacks = info.get("stacks")
        limit = 10 + stacks / 1024 if stacks is not None else None
        return [Row("bytes per sample, clang at 999 Hz", NONE if perf_bytes is None else f"{perf_bytes:.1f}",
                    f"{wick_bytes:.1f} of {contract.sample_count(info)} samples",
                    ratio(wick_bytes, perf_bytes), "≤ 10", wick_bytes <= 10),
                Row("recorder's memory in that run", megabytes(perf_peak),
                    megabytes(peak) + (f" (goal {limit:.1f} MB)" if limit else ""),
                    ratio(peak, perf_peak), "≤ 10 MB + 1 KB per stack",
                    None if limit is None else peak <= limit)]

    def launch(self):
        runs = self.interleave(["true"], 999, 5 if self.options.quick else 21)
        bare = statistics.median(done.wall for done in runs["bare"])
        added = {name: statistics.median(done.wall for done in done_runs) - bare
                 for name, done_runs in runs.items()}
        return [Row("wall time added by launching", milliseconds(added.get("perf")),
                    milliseconds(added["wick"]), ratio(added["wick"], added.get("perf")),
                    "≤ 30 ms", added["wick"] <= 0.03)]

    def samples(self):
        rows = []
        for rate in (100, 999, 10000):
            command = [self.build / "tests/workloads/spin", 1000 if self.options.quick else 4000]
            taken, lost = {"perf": [], "wick": []}, []
            for _ in range(1 if self.options.quick else 3):
                runs = self.interleave(command, rate, 1)
                info = self.info()
                lost.append(contract.lost_count(info))
                taken["wick"].append(contract.sample_count(info) /
                                     (truth_of(runs["wick"][0])["cpu_ns"] / 1e9 * rate))
                if self.perf:
                    taken["perf"].append(self.perf_samples() /
                                         (truth_of(runs["perf"][0])["cpu_ns"] / 1e9 * rate))
            share = statistics.median(taken["wick"]) * 100
            one_sample = 100 / (rate * command[1] / 1000)
            perf = f"{statistics.median(taken['perf']) * 100:.2f} %" if self.perf else NONE
            rows.append(Row(f"samples taken / expected at {rate} Hz", perf,
                            f"{share:.2f} % ({sum(lost)} lost)", NONE, "within 1 %",
                            abs(share - 100) <= 1.0 + one_sample))
        return rows

    def looking(self):
        """wick report and wick flame on a million samples."""
        wanted = 100_000 if self.options.quick else 1_000_000
        path = self.folder / "many.wick"
        if not path.exists() or path.stat().st_mtime < self.wick.stat().st_mtime or \
                contract.sample_count(self.info(path)) < wanted * 0.98:
            cpus = os.cpu_count() or 1
            print(f"recording {wanted} samples at 10 kHz …", file=sys.stderr)
            run([self.wick, "record", "-F", 10000, "-o", path, "--", self.build / "bench/stacks",
                 cpus, wanted // 10 // cpus + 100])
        count = contract.sample_count(self.info(path))
        rows = []
        for name, options in (("report", []), ("flame", ["-o", self.folder / "many.svg"]),
                              ("export --format folded", ["-o", self.folder / "many.folded"])):
            done = [run([self.wick, *name.split(), path, *options], watch=True) for _ in range(3)]
            cpu = statistics.median(one.cpu for one in done)
            peak = max(one.peak_kb for one in done) / 1024
            rows.append(Row(f"wick {name}, 1 M samples", NONE,
                            f"{cpu:.2f} s CPU, {peak:.0f} MB of {count / 1e6:.2f} M", NONE, "≤ 1 s, ≤ 100 MB",
                            cpu <= 1 and peak <= 100))
        return rows

    def to_svg(self, what, path, goals, size="", goal=None):
        """A flame graph directly from a file of another tool; goals are (CPU seconds, megabytes)."""
        done = [run([self.wick, "flame", path, "-o", self.folder / "other.svg"], watch=True)
                for _ in range(3)]
        cpu = statistics.median(one.cpu for one in done)
        peak = max(one.peak_kb for one in done) / 1024
        size = f"{size}{path.stat().st_size / 1e6:.0f} MB"
        met = cpu <= goals[0] and peak <= goals[1]
        return Row(f"{what} → SVG", NONE, f"{cpu:.2f} s CPU, {peak:.0f} MB of {size}", NONE,
                   goal or f"≤ {goals[0]:g} s, ≤ {goals[1]} MB", met)

    def folded_to_svg(self):
        stacks = 10_000 if self.options.quick else 100_000
        path = self.folder / f"stacks-{stacks}.folded"
        if not path.exists():
            path.write_text(folded_stacks(stacks, 40))
        return [self.to_svg(f"{stacks} folded stacks of 40 frames", path, (0.25, 150))]

    def layout(self):
        """The call tree of a million nodes and the places of all their boxes."""
        found = [re.search(r"([\d.]+) s$", run([self.build / "bench/layout_bench"]).stdout.strip())
                 for _ in range(3)]
        seconds = statistics.median(float(one.group(1)) for one in found)
        return [Row("call tree and layout of 1 million nodes", NONE, f"{seconds:.2f} s CPU", NONE,
                    "≤ 1 s", seconds <= 1)]

    def top(self):
        """A live view: the share of a CPU that it takes, and a redraw with many functions."""
        seconds = 3 if self.options.quick else 10
        busy = subprocess.Popen([self.build / "tests/workloads/split", str(60 * 1000)],
                                stdout=subprocess.DEVNULL)
        try:
            share, sent = watched_top([self.wick, "top", "-p", str(busy.pid)], seconds)
        finally:
            busy.kill()
            busy.wait()
        texts = [run([self.build / "bench/top_bench"]).stdout.split() for _ in range(3)]
        redraw, first = (statistics.median(float(words[i]) for words in texts) for i in (0, 4))
        return [Row("wick top on a busy process, 80×24", NONE,
                    f"{share:.2f} % of a CPU, {sent / seconds:.0f} bytes/s to the terminal", NONE,
                    "≤ 1 %", share <= 1),
                Row("redraw of wick top, 10,000 functions in the window", NONE,
                    f"{redraw:.1f} ms CPU, the first {first:.1f} ms", NONE, "≤ 50 ms", first <= 50)]

    def heap_analysis(self):
        """Heap events per second of CPU, with one thread and several, and the memory for many stacks."""
        def measure(*numbers):
            found = [dict(zip(words[::2], map(float, words[1::2]))) for words in
                     (run([self.build / "bench/heap_analysis_bench", *numbers]).stdout.split()
                      for _ in range(3))]
            rate = statistics.median(one["events"] / one["cpu_ns"] * 1000 for one in found)
            return rate, max(one["peak_kib"] for one in found) / 1024
        events = 2000000 if self.options.quick else 20000000
        one, _ = measure(1, 1000, 1000, 1000, events)
        two, _ = measure(2, 1000, 1000, 50000, events)
        many, peak = measure(1, 100000, 10000, 1000000, events)
        return [Row("heap events, 1,000 stacks, 1,000 live blocks", NONE, f"{one:.1f} M/s", NONE,
                    "≥ 20 M/s", one >= 20),
                Row("the same, 2 threads, 50,000 live blocks", NONE, f"{two:.1f} M/s", NONE, NONE,
                    None),
                Row("100,000 stacks, 10,000 sizes, 1 million live blocks", NONE,
                    f"{many:.1f} M/s, {peak:.0f} MB", NONE, "≥ 8 M/s, ≤ 300 MB", many >= 8 and peak <= 300)]

    def clang_to_svg(self, path, rate_hz, classes, goal):
        """perf.data of a compiler. The goal is (us per sample, bytes per sample, but this many MB at least)."""
        compiler = shutil.which("clang++-14") or shutil.which("clang++")
        if not self.perf or not compiler:
            return [Row("perf.data of clang → SVG", NONE, "no perf or no clang", NONE, NONE, None)]
        source = path.with_suffix(".cpp")
        if not path.exists():
            source.write_text(generated_source(3 if self.options.quick else classes))
            run([self.perf, "record", "-q", "-F", rate_hz, "-g", "-o", path, "--", compiler, "-O2",
                 "-std=c++17", "-c", "-o", path.with_suffix(".o"), source])
        imported = path.with_suffix(".wick")
        run([self.wick, "import", path, "-o", imported])
        count = contract.sample_count(self.info(imported))
        us, size, least_mb = goal
        return [self.to_svg(f"perf.data of clang at {rate_hz} Hz", path,
                            (max(us * count / 1e6, 0.1), max(size * count / 1e6, least_mb)), f"{count} samples, ",
                            f"≤ {us} us and {size} bytes per sample, or {least_mb} MB")]

    def perf_data_to_svg(self):
        """At 10 kHz."""
        return self.clang_to_svg(self.folder / "clang.data", 9999, 46, (6.5, 200, 100))

    def large_perf_data_to_svg(self):
        """At 50 kHz; a gigabyte."""
        return self.clang_to_svg(self.folder / "large.data", 49999, 76, (4, 200, 100))

    def walking(self):
        """The walker for the own process compared with those of libunwind and glibc."""
        return in_process.walking(self)

    def telling(self):
        """What a program pays for reporting its own events, without and with a recorder."""
        return in_process.telling(self)

    def unwind_tables(self):
        """How long the unwind table of a large library takes to compile."""
        return in_process.unwind_tables(self)

    def browser(self):
        """What a browser works for a flame graph, and for the web page."""
        return browser_bench.rows(self)

    def unwinding(self):
        """Copied stacks: size and completeness with perf and with wick."""
        compiler = shutil.which("clang++-14") or shutil.which("clang++")
        if not compiler or not self.perf:
            return [Row("copied stacks of clang", NONE, NONE, NONE, NONE, None)]
        source = self.folder / "generated.cpp"
        source.write_text(generated_source(3 if self.options.quick else 10))
        command = [compiler, "-O2", "-std=c++17", "-c", "-o", self.folder / "generated.o", source]
        bare = run(command)
        perf = run([self.perf, "record", "-q", "-F", 999, "--call-graph", "dwarf", "-o",
                    self.perf_data, "--", *command])
        wick = run([self.wick, "record", "-F", 999, "--unwind", "dwarf", "-o", self.wick_data,
                    "--", *command])
        script = run([self.perf, "script", "-i", self.perf_data, "--no-inline", "-F", "ip,sym"])
        stacks = [stack for stack in script.stdout.split("\n\n") if stack.strip()]
        rooted = sum("_start" in stack.rstrip().splitlines()[-1] for stack in stacks)
        perf_root = 100 * rooted / len(stacks)
        wick_root = float(wick.stderr.split("unwinding")[1].split("%")[0])
        perf_bytes = self.perf_data.stat().st_size / len(stacks)
        wick_bytes = self.wick_data.stat().st_size / contract.sample_count(self.info())
        added = {"perf": perf.cpu - bare.cpu, "wick": wick.cpu - bare.cpu}
        return [Row("clang, copied stacks: bytes per sample", f"{perf_bytes:.0f}",
                    f"{wick_bytes:.1f}", ratio(wick_bytes, perf_bytes), "≤ 20", wick_bytes <= 20),
                Row("clang, copied stacks: reach the root", f"{perf_root:.1f} %",
                    f"{wick_root:.1f} %", NONE, "≥ 99.9 %", wick_root >= 99.9),
                Row("clang, copied stacks: total CPU added", milliseconds(added["perf"]),
                    milliseconds(added["wick"]), ratio(added["wick"], added["perf"]), "< perf",
                    added["wick"] < added["perf"])]


    def kernel_walking(self):
        """The eBPF engine on stacks without frame pointers, alternating with perf."""
        deep = [self.build / "bench/deep", 300 if self.options.quick else 10000]
        sides = {"bare": [], "wick": [self.wick, "record", "--engine", "ebpf", "-F", 999, "-o",
                                      self.wick_data, "--"]}
        if self.perf:
            record = [self.perf, "record", "-q", "-F", 999, "-o", self.perf_data]
            sides["perf"] = [*record, "-g", "--"]
            sides["dwarf"] = [*record, "--call-graph", "dwarf", "--"]
        runs = {name: [] for name in sides}
        for _ in range(self.options.rounds):
            for name, prefix in sides.items():
                runs[name].append(run([*prefix, *deep]))
        target = {name: statistics.median(truth_of(one)["cpu_us"] for one in done) / 1e6
                  for name, done in runs.items()}
        total = {name: statistics.median(one.cpu for one in done) for name, done in runs.items()}
        added = {name: target[name] - target["bare"] for name in sides if name != "bare"}
        cost = {name: total[name] - total["bare"] for name in sides if name != "bare"}
        perf, dwarf = added.get("perf"), cost.get("dwarf")
        rows = [Row("36 frames without frame pointers, 999 Hz: target's CPU added (perf -g)",
                    milliseconds(perf), milliseconds(added["wick"]), ratio(added["wick"], perf),
                    "≤ 1.3 × perf -g", perf and added["wick"] <= 1.3 * perf),
                Row("the same, total CPU added (perf --call-graph dwarf)", milliseconds(dwarf),
                    milliseconds(cost["wick"]), ratio(cost["wick"], dwarf), "≤ 0.5 × perf dwarf",
                    dwarf and cost["wick"] <= 0.5 * dwarf)]
        start = {name: statistics.median(run([*prefix, "true"]).cpu for _ in range(5))
                 for name, prefix in sides.items() if name in ("wick", "perf")}
        rows.append(Row("start and end only: a program that does nothing",
                        milliseconds(start.get("perf")), milliseconds(start["wick"]),
                        ratio(start["wick"], start.get("perf")), NONE, None))
        rows += self.walk_rows("36 frames, in the kernel", deep, 1.3)
        compiler = shutil.which("clang++-14") or shutil.which("clang++")
        if compiler:
            source = self.folder / "generated.cpp"
            source.write_text(generated_source(3 if self.options.quick else 20))
            rows += self.walk_rows("clang, in the kernel", [
                compiler, "-O2", "-std=c++17", "-c", "-o", self.folder / "generated.o", source], 6)
        return rows

    def walk_rows(self, what, command, goal_us):
        """Time per sample of the BPF programs, next to the kernel's helper for frame pointers."""
        environment = {**os.environ, "WICK_LOG": "debug"}
        done = subprocess.run([str(word) for word in [
            self.wick, "record", "--engine", "ebpf", "-F", 999, "-o", self.wick_data, "--",
            *command]], env=environment, capture_output=True, text=True, check=True)
        mean_us = float(done.stderr.split("runs of ")[1].split(" ns")[0]) / 1000
        frames = float(done.stderr.split("stacks ")[1].split()[0])
        root = float(done.stderr.split("unwinding ")[1].split("%")[0])
        with subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL) as target:
            time.sleep(0.3)
            peer = run([self.build / "bench/helper_bench", target.pid, 1], check=False)
            target.kill()
        helper = json.loads(peer.stdout) if peer.status == 0 else None
        beside = NONE if not helper else (f"{helper['mean_ns'] / 1000:.1f} us for "
                                          f"{helper['frames']:.0f} frames by frame pointers")
        return [Row(f"{what}: one stack", beside, f"{mean_us:.1f} us for {frames:.0f} frames", NONE, f"≤ {goal_us} us",
                    mean_us <= goal_us),
                Row(f"{what}: reach the root", NONE, f"{root:.2f} %", NONE, "≥ 99.9 %", root >= 99.9)]

    def machine(self):
        """The whole machine at 100 Hz with all CPUs busy: the total cost."""
        seconds = 3 if self.options.quick else 30  # of 10 s the start is 0.2 %
        cpus = os.cpu_count() or 1
        busy = [subprocess.Popen([self.build / "bench/deep", "1000000"],
                                 stdout=subprocess.DEVNULL) for _ in range(cpus)]
        try:
            done = run([self.wick, "record", "-a", "-F", 100, "-d", seconds, "-o", self.wick_data])
        finally:
            for one in busy:
                one.kill()
                one.wait()
        samples = contract.sample_count(self.info())
        cost_us = float(re.search(r"([\d.]+) us (?:a|per) sample", done.stderr.split("(")[-1]).group(1))
        share = 100 * (done.cpu + samples * cost_us / 1e6) / (seconds * cpus)
        return [Row("whole machine at 100 Hz, all CPUs busy: total CPU", NONE,
                    f"{share:.2f} % of {cpus} CPUs", NONE, "≤ 0.2 %", share <= 0.2)]


    # Inside programs, and what all engines promise: see engines.py

    def engine_prefix(self, engine, rate_hz, path, *options):
        return ["env", "WICK_LOG=debug", self.wick, "record", "--engine", engine, "-F", rate_hz,
                *options, "-o", path, "--"]

    def crowd(self, threads, frames, seconds):
        """A program with this many threads and frames that takes this long on one CPU."""
        seconds = seconds / 10 if self.options.quick else seconds
        shares = sum(i % 4 + 1 for i in range(threads))
        return [self.build / "bench/crowd", threads, frames - engines.FRAMES,
                max(1, int(seconds * engines.UNITS_A_SECOND / shares))]

    def signal_engine(self):
        """Cost of the signal engine on one thread that is busy all the time."""
        path = {rate: self.folder / f"signal-{rate}.wick" for rate in (100, 1000)}
        sides = {"bare": [], **{rate: self.engine_prefix("signal", rate, path[rate])
                                for rate in path}}
        rounds = [engines.together(run, sides, self.crowd(1, 30, 5))
                  for _ in range(self.options.rounds)]
        rows = []
        for rate, goal in ((100, 0.5), (1000, 2.0)):
            share = 100 * engines.added(rounds, rate, target_us)
            rows.append(Row(f"signal engine: target's CPU at {rate} Hz, 30 frames", NONE,
                            points(share), NONE, f"≤ {goal} %", share <= goal))
        ticks = [engines.signal_ticks(one[1000]) for one in rounds]
        handler_us = statistics.median(handler_ns for _, handler_ns, _ in ticks) / 1000
        lost_us = statistics.median((target_us(one[1000]) - target_us(one["bare"])) / count
                                    for one, (count, _, _) in zip(rounds, ticks))
        delivery_us = statistics.median(delivery_ns for _, _, delivery_ns in ticks) / 1000
        return rows + [Row("signal engine: handler at 30 frames", NONE, f"{handler_us:.1f} us, "
                           f"delivered in {delivery_us:.1f} us; {lost_us:.1f} us measured by lost work",
                           NONE, "≤ 5 us", handler_us <= 5)]

    def gperftools(self):
        """The same compared with gperftools: what a sample costs, how much of a stack it has."""
        library = engines.gperftools()
        if not library:
            return [Row("compared with gperftools", "not installed", NONE, NONE, NONE, None)]
        profile = self.folder / "gperftools.prof"
        sides = {"bare": [], "peer": engines.gperftools_prefix(library, 1000, profile),
                 "wick": self.engine_prefix("signal", 1000, self.wick_data)}
        peer, wick = [], []
        for _ in range(self.options.rounds):
            done = engines.together(run, sides, self.crowd(1, 30, 5))
            stacks, _ = engines.gperftools_stacks(profile)
            count = sum(count for count, _ in stacks)
            peer.append((target_us(done["peer"]) - target_us(done["bare"])) / count)
            wick.append((target_us(done["wick"]) - target_us(done["bare"])) /
                        contract.sample_count(self.info()))
        peer_us, wick_us = statistics.median(peer), statistics.median(wick)
        depth = sum(count * len(stack) for count, stack in stacks) / count
        own_depth = engines.mean_frames(done["wick"])
        taken = f"{count / target_us(done['peer']) * 1e6:.0f} samples per second of 1000"
        return [Row("compared with gperftools: target's CPU per sample, 1000 Hz", f"{peer_us:.1f} us "
                    f"(gperftools, {taken})", f"{wick_us:.1f} us", ratio(wick_us, peer_us),
                    "< gperftools", wick_us < peer_us),
                Row("compared with gperftools: frames found of 30, without frame pointers",
                    f"{depth:.1f} (gperftools)", f"{own_depth:.1f}", NONE, "> gperftools",
                    own_depth > depth)]

    def thread_shares(self):
        """64 threads with shares of 1:2:3:4: their samples compared with their CPU clocks."""
        library, profile = engines.gperftools(), self.folder / "gperftools.prof"
        sides = {"wick": self.engine_prefix("signal", 1000, self.wick_data)}
        if library:
            sides["peer"] = engines.gperftools_prefix(library, 1000, profile)
        command = self.crowd(engines.SHARES, 30, 20)
        done = engines.together(run, sides, command)
        weights = engines.weights_by_thread(run, self.wick, self.wick_data)
        truth = dict(truth_of(done["wick"])["threads"])
        seen, worst = len(truth.keys() & weights.keys()), 100 * engines.deviation(weights, truth)
        beside = NONE
        if library:
            counts = engines.gperftools_weights(run, command[0],
                                                *engines.gperftools_stacks(profile))
            clocks = dict(enumerate(cpu for _, cpu in truth_of(done["peer"])["threads"]))
            beside = (f"{len(counts)} threads, {100 * engines.deviation(counts, clocks):.1f} % "
                      "(gperftools)")
        return [Row("signal engine: 64 threads with shares 1:2:3:4, largest error of CPU time",
                    beside, f"{seen} threads, {worst:.2f} %", NONE, "64 threads, ± 3 %",
                    seen == engines.SHARES and worst <= 3)]

    def budget(self):
        """--overhead 1 on 64 threads with 100 frames: cost of target and recorder, measured by lost work."""
        return [self.budget_row(engine) for engine in ("ebpf", "perf", "signal")]

    def budget_row(self, engine):
        what = f"budget of 1 %, {engine}: 64 threads, 100 frames, -F 10000"
        sides = {"bare": [], "wick": self.engine_prefix(engine, 10000, self.wick_data,
                                                        "--overhead", 1)}
        command = self.crowd(engines.SHARES, 100, 20)
        start_us = statistics.median(
            recorder_us(run([*sides["wick"], *command[:-1], 1])) for _ in range(3))
        shares, stated = [], []
        for _ in range(min(self.options.rounds, 3)):
            done = engines.together(run, sides, command)
            bare = target_us(done["bare"])
            shares.append(((target_us(done["wick"]) / bare - 1) * 100,
                           (recorder_us(done["wick"]) - start_us) / bare * 100))
            stated.append(self.info().get("overhead_percent") or 0)
        target, own = (statistics.median(part) for part in zip(*shares))
        whole = statistics.median(sum(pair) for pair in shares)
        return Row(what, NONE, f"{whole:.2f} %: target {target:.2f} % (reported "
                   f"{statistics.median(stated):.2f} %), recorder {own:.2f} %", NONE,
                   "0.7 to 1.2 %", 0.7 <= whole <= 1.2)

    def rates(self):
        """What rates and depths cost with each engine."""
        return rate_bench.Rates(self, run, Row, target_us).rows()

    def switches(self):
        """Off-CPU recording of threads that switch very often."""
        return switch_bench.Switches(self).rows()

    def redis(self):
        """Latency of redis recorded at 100 Hz, alternating with one that is not recorded."""
        if not shutil.which("redis-server") or not shutil.which("redis-benchmark"):
            return [Row("latency of redis at 100 Hz", NONE, "no redis", NONE, NONE, None)]
        sides = {"bare": []}
        for engine in ("ebpf", "signal"):
            sides[engine] = self.engine_prefix(engine, 100, self.folder / f"redis-{engine}.wick")
        servers = {name: engines.Redis(prefix) for name, prefix in sides.items()}
        times = {name: [] for name in sides}
        requests = 2000 if self.options.quick else 50000
        try:
            for _ in range(self.options.rounds + 1):  # the first one warms up
                for name, server in servers.items():
                    times[name].append(server.latency_ms(run, requests))
        finally:
            for server in servers.values():
                server.close()
        rows = []
        for engine in ("ebpf", "signal"):
            more = [100 * (statistics.median(ms[part] / bare_ms[part] for ms, bare_ms in zip(
                times[engine][1:], times["bare"][1:])) - 1) for part in (0, 1)]
            bare = [statistics.median(ms[part] for ms in times["bare"][1:]) for part in (0, 1)]
            rows.append(Row(f"latency of redis at 100 Hz, {engine}: p50, p99", "plain "
                            f"{bare[0]:.3f} ms, {bare[1]:.3f} ms",
                            f"{more[0]:+.1f} %, {more[1]:+.1f} %", NONE, "≤ +3 %", max(more) <= 3))
        return rows

    # Addresses to lines: against addr2line, which perf asks as well

    def heap(self):
        """CPU and memory cost of recording the heap, and the accuracy of sampling it."""
        return heap_bench.Heap(self, run, Row).rows()

    def python_frames(self):
        """What reading Python calls costs and how often it fails, next to austin and py-spy."""
        return python_frame_bench.PythonFrames(self, run, Row, target_us).rows()

    def python_memory(self):
        """wick.tracemalloc against the standard module."""
        return python_bench.rows(self, Row)

    def heap_attach(self):
        """What wick heap -p costs a pair of malloc() and free(), and requests of redis."""
        if os.geteuid() != 0:
            return [Row("heap, attached", NONE, "needs root", NONE, NONE, None)]
        pairs = 50000 if self.options.quick else 300000
        rows = []
        for depth in (1, 20):
            us, said = attach_bench.storms(self.wick, self.build, self.wick_data, depth, pairs, self.options.rounds)
            for way, goal_us in attach_bench.GOALS_US.items():
                lost = heap_bench.events(run_like(said[way]))[1]
                cost_us = us[way] - us["bare"]
                empty_us = us.get(attach_bench.EMPTY[way])
                empty_us = empty_us and empty_us - us["bare"]
                most_us = max(goal_us, attach_bench.GOAL_RATIO * (empty_us or 0))
                rows.append(Row(f"heap, attached, {way}, depth {depth}: added to a pair",
                                f"{empty_us:.2f} us (empty probes)" if empty_us else NONE, f"{cost_us:.2f} us, {lost} lost",
                                ratio(cost_us, empty_us), f"≤ {goal_us} us or ×{attach_bench.GOAL_RATIO}",
                                cost_us <= most_us))
        return rows + (self.redis_attach() if shutil.which("redis-benchmark") else [])

    def redis_attach(self):
        """p50 and p99 of GET, of one server, alternately followed and not."""
        server = engines.Redis([])
        times = {way: [] for way in attach_bench.WAYS}
        try:
            for _ in range(self.options.rounds):
                for way, options in attach_bench.WAYS.items():
                    recorder = attach_bench.follow(self.wick, server.process.pid, self.wick_data, options)
                    times[way].append(server.latency_ms(run, 2000 if self.options.quick else 50000))
                    attach_bench.let_go(recorder)
        finally:
            server.close()
        middle = {way: [statistics.median(part) for part in zip(*values)] for way, values in times.items()}
        return [Row(f"heap, attached, {way}: p50, p99 of redis", "plain {:.3f} ms, {:.3f} ms".format(*middle["bare"]),
                    "{:.3f} ms, {:.3f} ms".format(*middle[way]), ratio(middle[way][1], middle["bare"][1]), NONE, None)
                for way in attach_bench.GOALS_US]

    def symbols(self):
        program = symbol_bench.get_program(self.build)
        commands = symbol_bench.tools(self.build, program)
        rows = []
        for count in symbol_bench.COUNTS[:2 if self.options.quick else None]:
            found = symbol_bench.measure(commands, symbol_bench.pick_addresses(program, count),
                                         min(self.options.rounds, 3))
            peer = found.get("addr2line", (None, 0))[0]
            for name, goals in (("wick", symbol_bench.GOALS),
                                ("cached", symbol_bench.CACHED_GOALS)):
                cpu, goal = found[name][0], goals.get(count)
                rows.append(Row(f"full answers for {count} addresses"
                                + (", from disk" if name == "cached" else ""),
                                f"{peer:.3f} s (addr2line)" if peer else NONE, f"{cpu:.3f} s",
                                ratio(cpu, peer), f"≤ {goal} s" if goal else NONE,
                                cpu <= goal if goal else None))
            peak = max(found[name][1] for name in ("wick", "cached", "filling"))
            rows.append(Row(f"memory for {count} addresses, with or without a filled cache",
                            megabytes(found.get("addr2line", (0, None))[1]), megabytes(peak), NONE,
                            f"≤ {symbol_bench.GOAL_MB} MB", peak <= symbol_bench.GOAL_MB))
        return rows + self.names_and_threads(program)

    def names_and_threads(self, program):
        program_ms, library_ms, rate = symbol_bench.measure_names(self.build)
        wall, cpu = symbol_bench.measure_threads(
            self.build, program, symbol_bench.pick_addresses(program, 10000))
        most_ms, least = symbol_bench.NAMES_GOALS
        return [Row(f"index of {symbol_bench.NAMES} names: of a program, of a library", NONE,
                    f"{program_ms:.2f} ms, {library_ms:.2f} ms", NONE, f"≤ {most_ms} ms",
                    max(program_ms, library_ms) <= most_ms),
                Row("name lookups per second", NONE, f"{rate:.1f} million", NONE,
                    f"≥ {least} million", rate >= least),
                Row("two threads compared with one, by CPU", NONE, f"×{cpu:.2f} (by wall ×{wall:.2f})",
                    NONE, f"≥ ×{symbol_bench.THREADS_GOAL}", cpu >= symbol_bench.THREADS_GOAL)]

    def store(self):
        """The history of the continuous profiler."""
        return store_bench.rows(self.build, self.folder, self.options.quick)

    def ingest(self):
        """Its server, with 500 agents for 10 minutes."""
        return ingest_bench.rows(self.build, self.folder, self.options.quick)

    def agent(self):
        """What wick agent costs a busy host."""
        return agent_bench.rows(self.wick, 60 if self.options.quick else 180)

    # Heap events in the recording

    def heap_codec(self):
        events = 500000 if self.options.quick else 5300000
        done = run([self.build / "bench/heap_bench", self.wick_data, events])
        rows = []
        for found in map(json.loads, done.stdout.splitlines()):
            most, most_ns = (1.7, 25) if found["name"] == "script" else (5, 30)
            rows += [Row(f"heap events, {found['name']}: bytes per event", NONE,
                         f"{found['bytes']:.2f}", NONE, f"≤ {most}", found["bytes"] <= most),
                     Row(f"heap events, {found['name']}: writing one", NONE,
                         f"{found['write_ns']:.1f} ns", NONE, f"≤ {most_ns} ns",
                         found["write_ns"] <= most_ns),
                     Row(f"heap events, {found['name']}: reading one", NONE,
                         f"{found['read_ns']:.1f} ns", NONE, "≤ 40 ns", found["read_ns"] <= 40)]
        return rows


MEASUREMENTS = ("overhead", "bytes_a_sample", "launch", "samples", "looking", "folded_to_svg",
                "layout", "top", "heap_analysis", "perf_data_to_svg", "large_perf_data_to_svg", "walking",
                "telling", "unwind_tables", "unwinding", "kernel_walking", "machine", "signal_engine", "gperftools",
                "thread_shares", "budget", "rates", "switches", "redis", "heap", "heap_attach", "heap_codec", "symbols",
                "python_memory", "python_frames", "browser", "store", "ingest",
                "agent")


def run_like(stderr):
    """A run of which only the output is known."""
    return Run(0, 0, 0, 0, "", stderr)


def target_us(done):
    """CPU time of the program itself, as it reports it."""
    return truth_of(done)["cpu_us"]


def recorder_us(done):
    """CPU time of the process that started the program."""
    return done.cpu * 1e6 - target_us(done)


def table(rows):
    lines = ["| what | perf | wick | ratio | goal | met |", "|---|---|---|---|---|---|"]
    for row in rows:
        lines.append(f"| {row.what} | {row.perf} | {row.wick} | {row.ratio} | {row.goal} | {results.met_word(row.met)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--quick", action="store_true", help="small inputs; without a NAME, look for gross regressions")
    parser.add_argument("--write", action="store_true", help="keep the rows in bench/results and draw docs/reference/benchmarks.md")
    parser.add_argument("names", nargs="*", metavar="NAME", help=" ".join(MEASUREMENTS))
    options = parser.parse_args()
    if set(options.names) - set(MEASUREMENTS):
        parser.error(f"measurements are {' '.join(MEASUREMENTS)}")
    if options.quick and not options.names:
        return quick.main(["--build", options.build, *(["--write"] if options.write else [])])
    if options.quick:
        options.rounds = min(options.rounds, 3)
    inherited.restore_signals()
    bench = Bench(options)
    rows = []
    for name in options.names or MEASUREMENTS:
        print(f"measuring {name} …", file=sys.stderr, flush=True)
        try:
            found = getattr(bench, name)()
            rows += found
            if options.write:  # at once: a long run may be ended
                results.keep(found, options.rounds)
                results.draw()
        except (Failed, KeyError, ValueError, OSError, ZeroDivisionError) as error:
            print(f"{name} failed: {error!r}", file=sys.stderr)
            rows.append(Row(name.replace("_", " "), NONE, "failed", NONE, NONE, False))
    print(table(rows))
    print()
    print(targets.table({row.what: row._asdict() for row in rows}))
    return 0


if __name__ == "__main__":
    sys.exit(main())

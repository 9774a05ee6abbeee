# SPDX-License-Identifier: BSD-2-Clause
"""wick.tracemalloc against the standard module (and memray, where WICK_BENCH_MEMRAY names the Python that has it):
CPU time of the workloads of python_workloads.py, each in a fresh interpreter, alternately."""
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import python_workloads  # noqa: E402

BLOCKS = 1300000
WAYS = {
    "plain": "",
    "wick 1": "import wick.tracemalloc as t; t.start(1)",
    "wick 25": "import wick.tracemalloc as t; t.start(25)",
    "wick sampled": "import wick.tracemalloc as t; t.start(1, sampling=524288)",
    "wick native": "import wick.tracemalloc as t; t.start(25, native=True)",
    "tracemalloc 1": "import tracemalloc as t; t.start(1)",
    "tracemalloc 25": "import tracemalloc as t; t.start(25)",
}
GOALS = {"wick 1": 1.5, "wick 25": 1.9, "wick sampled": 1.06, "wick native": None}
PEERS = {"wick 1": "tracemalloc 1", "wick 25": "tracemalloc 25"}
MEMRAY = ("import memray, os; m = memray.Tracker(destination=memray.FileDestination('/dev/null', overwrite=True), "
          "trace_python_allocators=True); m.__enter__()")

# A heap of small blocks; prints what each step took.
SNAPSHOTS = """
import gc, json, sys, time
{start}
gc.disable()
kept = [(str(i), [i]) for i in range({count})]
found, now = {{}}, time.process_time
def step(name, work):
    before = now()
    result = work()
    found[name] = (now() - before) * 1000
    return result
first = step("take", t.take_snapshot)
step("statistics", lambda: first.statistics("lineno"))
more = [str(i) for i in range(1000)]
second = t.take_snapshot()
step("compare", lambda: second.compare_to(first, "lineno"))
found["blocks"] = len(first.traces)
found["bytes"] = t.get_tracemalloc_memory() / found["blocks"]
print(json.dumps(found))
"""

# All events of the workloads in one stream.
STREAM = """
import os, sys
sys.path.insert(0, {bench!r})
import python_workloads, wick.tracemalloc as t
from wick import _tracer
t.configure(ring_buffer_kb=262144)
t.start(25)
with t.stream({path!r}, every=0.2):
    for name in ("json", "objects", "strings", "asyncio", "pickle"):
        python_workloads.WORKLOADS[name](0.3)
    events = _tracer.event_position()
print(os.path.getsize({path!r}) / events)
"""


def package(build, python):
    """The package, built for an interpreter."""
    folder = build / "bench-python"
    subprocess.run([ROOT / "scripts/build-python", python, folder], check=True, stdout=subprocess.DEVNULL)
    return folder


def run(python, folder, script, build):
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONHASHSEED": "0",
                   "WICK_LIBRARY": str(build / "libwick.so")}
    done = subprocess.run([python, "-c", script], env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ValueError(done.stderr)
    return done.stdout


def workload(start, name, scale):
    return (f"import sys; sys.path.insert(0, {str(ROOT / 'bench')!r}); sys.argv = ['', {name!r}, '{scale}']\n"
            f"import python_workloads\n{start}\npython_workloads.main()")


def ratios(python, folder, build, rounds, scale):
    """{way: {workload: ratio of the medians to plain}}"""
    ways = dict(WAYS)
    if os.environ.get("WICK_BENCH_MEMRAY"):
        ways["memray"] = MEMRAY
    found = {way: {} for way in ways}
    for name in python_workloads.WORKLOADS:
        seconds = {way: [] for way in ways}
        for i in range(rounds):
            turn = i % len(ways)
            for way in list(ways)[turn:] + list(ways)[:turn]:
                # The standard module takes minutes otherwise; its ratio is that of the shorter run.
                short = scale / 4 if way.startswith("tracemalloc") else scale
                interpreter = os.environ["WICK_BENCH_MEMRAY"] if way == "memray" else python
                out = run(interpreter, folder, workload(ways[way], name, short), build)
                seconds[way].append(float(out.split()[0]) * scale / short)
        for way in ways:
            found[way][name] = statistics.median(seconds[way]) / statistics.median(seconds["plain"])
    return found


def geometric_mean(values):
    return math.exp(statistics.mean(map(math.log, values)))


def snapshots(python, folder, build, module, count):
    start = f"import {module} as t; t.start(25)"
    return json.loads(run(python, folder, SNAPSHOTS.format(start=start, count=count), build))


def rows(bench, row):
    """The table's rows; `bench` has build, options and folder."""
    python = os.environ.get("WICK_BENCH_PYTHON", "/usr/bin/python3")
    quick = bench.options.quick
    folder = package(bench.build, python)
    found = ratios(python, folder, bench.build, bench.options.rounds, 0.3 if quick else 1)
    means = {way: geometric_mean(by_name.values()) for way, by_name in found.items()}
    result = []
    for way, goal in GOALS.items():
        peer = means.get(PEERS.get(way))
        worst = max(found[way], key=found[way].get)
        result.append(row(f"Python memory, {way.removeprefix('wick ')}: {len(found[way])} workloads, geometric mean",
                          f"×{peer:.2f} (tracemalloc)" if peer else "–",
                          f"×{means[way]:.2f} (most: {worst} ×{found[way][worst]:.2f})", "–",
                          f"≤ ×{goal}" if goal else "–", means[way] <= goal if goal else None))
    if "memray" in means:
        result.append(row("Python memory, memray with Python's allocators", f"×{means['memray']:.2f}", "–", "–", "–", None))
    count = BLOCKS // 10 if quick else BLOCKS
    ours = snapshots(python, folder, bench.build, "wick.tracemalloc", count // 5)
    peer = snapshots(python, folder, bench.build, "tracemalloc", count // 5)
    for name, goal in (("take", 50), ("statistics", 20), ("compare", 50)):
        result.append(row(f"Python memory, {name}: {ours['blocks']} blocks", f"{peer[name]:.0f} ms (tracemalloc)",
                          f"{ours[name]:.1f} ms", f"×{ours[name] / peer[name]:.4f}", f"≤ {goal} ms", ours[name] <= goal))
    result.append(row("Python memory: bytes for a live block", f"{peer['bytes']:.1f} (tracemalloc)", f"{ours['bytes']:.1f}",
                      f"×{ours['bytes'] / peer['bytes']:.2f}", "≤ 40", ours["bytes"] <= 40))
    path = str(bench.folder / "stream.wick")
    size = float(run(python, folder, STREAM.format(bench=str(ROOT / "bench"), path=path), bench.build))
    result.append(row("Python memory, stream: bytes for an event", "–", f"{size:.2f}", "–", "≤ 3", size <= 3))
    return result

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Measures the store of the continuous profiler on a day of 114 million rows.

    bench/store.py [--build DIR] [--quick]

The rows are made once, by store_bench, and stay in BUILD/bench-data/store; --quick takes 5 million.
Batches have 80,000 rows. A figure is the best of five, as seconds of wall and of CPU. Goals and ratios are those of CPU
time: all files are in the page cache, so a machine of one's own takes no longer than that, and on a shared one wall time
says how busy it was. Without libduckdb.so nothing is measured. Beside it, if it is there, clickhouse-server of Debian has
the same rows (clickhouse.py).
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

import clickhouse
from results import NONE, Row

ROOT = pathlib.Path(__file__).resolve().parent.parent
MILLIONS, QUICK_MILLIONS = 115.2, 5
BATCH_S = 600
ROWS_GOAL, BYTES_GOAL = 1e6, 1.2
QUESTIONS = {  # name: (what it is, goal in seconds)
    "flame-1h": ("flame graph of a service, 1 hour", 0.2),
    "flame-24h": ("flame graph of a service, 24 hours", 0.8),
    "flame-1h-all": ("flame graph of all services, 1 hour", None),
    "flame-24h-host": ("flame graph of a service on a host, 24 hours", None),
    "diff-24h": ("two releases of a service, 24 hours", 1),
    "top-24h": ("50 functions of a service, 24 hours", 1),
    "function-24h": ("a function over 24 hours", 0.5),
    "services-24h": ("list of services, 24 hours", None),
}


def ask(build, *words):
    """{name: numbers} of store_bench."""
    done = subprocess.run([build / "bench/store_bench", *map(str, words)], capture_output=True, text=True,
                          check=True, env={**os.environ, "WICK_DUCKDB": str(build / "libduckdb.so")})
    return {line.split()[0]: [float(word) for word in line.split("#")[0].split()[1:]]
            for line in done.stdout.splitlines()}


def fill(build, folder, millions, batch_s):
    """Fills a store unless that was done; returns what store_bench said then."""
    record = folder.with_suffix(".filled")
    if not record.exists() or not folder.exists():
        shutil.rmtree(folder, ignore_errors=True)
        found = ask(build, "fill", folder, millions, batch_s)
        record.write_text("\n".join(f"{name} {' '.join(map(str, numbers))}" for name, numbers in found.items()))
    return {line.split()[0]: [float(word) for word in line.split()[1:]] for line in record.read_text().splitlines()}


def rows(build, folder, quick):
    """The rows of the table."""
    if not (build / "libduckdb.so").exists():
        return [Row("store", NONE, "no libduckdb.so (scripts/fetch-duckdb)", NONE, NONE, None)]
    millions = QUICK_MILLIONS if quick else MILLIONS
    filled = fill(build, folder / f"store-{millions}", millions, BATCH_S)
    peer = clickhouse.measure(build, folder / f"clickhouse-{millions}", millions, BATCH_S)
    wall, cpu = filled["append"]
    per_cpu = filled["rows"][0] / cpu
    table = [Row(f"store: {filled['rows'][0] / 1e6:.0f} million rows appended, rows per second",
                 peer_text(peer, "append", lambda took: f"{peer['rows'][0] / took[0] / 1e6:.2f} million, "
                                                        f"{peer['rows'][0] / took[1] / 1e6:.2f} per CPU"),
                 f"{filled['rows'][0] / wall / 1e6:.2f} million, {per_cpu / 1e6:.2f} per CPU", NONE,
                 "≥ 1 million per CPU", per_cpu >= ROWS_GOAL),
             Row("store: bytes a row at rest", peer_text(peer, "bytes-per-row", lambda size: f"{size[0]:.2f}"),
                 f"{filled['bytes-per-row'][0]:.2f}", ratio(peer, "bytes-per-row", filled["bytes-per-row"][0]),
                 f"≤ {BYTES_GOAL}", filled["bytes-per-row"][0] <= BYTES_GOAL),
             Row("store: CPU to sort an hour", NONE, f"{filled['sort'][1] / 24 * MILLIONS / millions:.1f} s", NONE,
                 NONE, None)]
    found = ask(build, "ask", folder / f"store-{millions}")
    for name, (what, goal) in QUESTIONS.items():
        wall, cpu = found[name]
        table.append(Row(f"store: {what}", peer_text(peer, name, lambda took: f"{took[0]:.3f} s, CPU {took[1]:.3f} s"),
                         f"{wall:.3f} s, CPU {cpu:.3f} s", ratio(peer, name, cpu),
                         f"≤ {goal} s" if goal else NONE, cpu <= goal if goal else None))
    return table


def peer_text(peer, name, words):
    return "ClickHouse 18.16: " + words(peer[name]) if peer and name in peer else NONE


def ratio(peer, name, ours):
    return f"×{ours / peer[name][-1]:.2f}" if peer and peer.get(name, [0])[-1] > 0 else NONE


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    build = (ROOT / options.build).resolve()
    folder = build / "bench-data"
    folder.mkdir(exist_ok=True)
    for row in rows(build, folder, options.quick):
        print(f"{row.what:60} {row.wick:45} {row.goal:20} {row.perf}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: BSD-2-Clause
"""What a browser's main thread works, in CPU time, for pictures and pages of wick.

Runs the programs of tests/browser that measure; their packages are those that "make test" installed in
BUILD/browser.
"""
import re
import shutil
import statistics

from commands import run
from results import NONE, Row

ROUNDS = 3
# Of speed.mjs: what it prints, the row, the goal in ms.
GRAPH = (("the first paint", "first paint", 300), ("zooming in", "zoom", 30))


def speed_graph(bench):
    """A flame graph of 1,000 stacks, some 10,000 boxes."""
    stacks, graph = bench.folder / "speed.folded", bench.folder / "speed.svg"
    stacks.write_text("".join(f"app;a{i // 100};b{i // 10};{';'.join(f'f{i}_{k}' for k in range(10))} {10 + i % 7}\n"
                              for i in range(1000)))
    run([bench.wick, "flame", stacks, "-o", graph])
    return graph


def rows(bench):
    folder = bench.build / "browser"
    if not (folder / "node_modules").is_dir() or not shutil.which("node") or not shutil.which("chromium"):
        return [Row("browser", NONE, "not installed: make test installs it", NONE, NONE, None)]
    graph = speed_graph(bench)
    texts = [run(["node", folder / "speed.mjs", graph], check=False).stdout for _ in range(ROUNDS)]
    table = []
    for said, what, goal in GRAPH:
        spent = statistics.median(float(re.search(rf"^{said}: (\d+) ms of CPU", text, re.M)[1]) for text in texts)
        table.append(Row(f"browser, 10,000 boxes: {what}", NONE, f"{spent:.0f} ms CPU", NONE, f"≤ {goal} ms",
                         spent <= goal))
    return table

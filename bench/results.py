# SPDX-License-Identifier: BSD-2-Clause
"""Stores the measurements of each CPU, and writes them into docs/reference/benchmarks.md.

bench/results/CPU.json has the rows of one CPU. A run replaces the rows that it measured; each row has its date
and machine. The page shows the rows of all CPUs side by side; do not compare figures of different CPUs.
"""
import collections
import datetime
import json
import os
import pathlib
import platform

import targets

Row = collections.namedtuple("Row", "what perf wick ratio goal met")
ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "bench/results"
PAGE = ROOT / "docs/reference/benchmarks.md"
BEGIN, END = "<!-- made by bench/results.py: begin -->", "<!-- end -->"
CPUS = {"aarch64": "aarch64", "x86_64": "x86-64"}
NONE = "–"


def met_word(met):
    return {True: "yes", False: "**no**", None: NONE}[met]


def machine_text(rounds):
    return f"Linux {platform.release().split('-')[0]}, {os.cpu_count()} CPUs, {rounds} round{'s' * (rounds > 1)}"


def load(cpu):
    """{what: row} of a CPU, in the order of the last runs."""
    path = FOLDER / f"{cpu}.json"
    return {row["what"]: row for row in json.loads(path.read_text(encoding="utf-8"))} if path.exists() else {}


def keep(rows, rounds):
    """Stores rows for this machine's CPU."""
    cpu = platform.machine()
    kept = load(cpu)
    for row in rows:
        kept[row.what] = {**row._asdict(), "date": str(datetime.date.today()), "machine": machine_text(rounds)}
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(list(kept.values()), indent=0, ensure_ascii=False)
    (FOLDER / f"{cpu}.json").write_text(text + "\n", encoding="utf-8")


def cells(row):
    if not row:
        return [NONE] * 4
    return [row["perf"], row["wick"], row["ratio"], met_word(row["met"])]


def table(found):
    """The table of {cpu: {what: row}}."""
    head = ["what", "goal"]
    for cpu in found:
        head += [f"{CPUS[cpu]}: peer", "wick", "ratio", "met"]
    lines = [head, ["---"] * len(head)]
    names = dict.fromkeys(what for rows in found.values() for what in rows)
    for what in names:
        of_cpus = [rows.get(what) for rows in found.values()]
        goal = next(row["goal"] for row in reversed(of_cpus) if row)
        lines.append([what, goal, *(cell for row in of_cpus for cell in cells(row))])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def summary(cpu, rows):
    """When and where the rows of a CPU were measured."""
    machines = collections.defaultdict(int)
    for row in rows.values():
        machines[f"{row['date']}, {row['machine']}"] += 1
    parts = [f"{count} row{'s' * (count > 1)} of {text}" for text, count in sorted(machines.items())]
    met = [row["met"] for row in rows.values() if row["met"] is not None]
    return f"* **{CPUS[cpu]}**: {'; '.join(parts)}. {sum(met)} of {len(met)} goals are met."


def draw():
    """Writes the generated part of the page."""
    found = {cpu: load(cpu) for cpu in CPUS}
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    made = "\n".join(summary(cpu, rows) for cpu, rows in found.items() if rows)
    goals = "\n\n".join(f"### Targets on {CPUS[cpu]}\n\n{targets.table(rows)}" for cpu, rows in found.items() if rows)
    PAGE.write_text(f"{before}{BEGIN}\n{made}\n\n{goals}\n\n### All rows\n\n{table(found)}\n{END}{after}",
                    encoding="utf-8")


def ratio(value, peer):
    return NONE if not peer or peer <= 0 else f"×{value / peer:.2f}"


def points(value):
    return NONE if value is None else f"{value:+.2f} %"


def milliseconds(seconds):
    return NONE if seconds is None else f"{seconds * 1000:.1f} ms"


def megabytes(value):
    return NONE if value is None else f"{value:.1f} MB"

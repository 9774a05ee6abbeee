# SPDX-License-Identifier: BSD-2-Clause
"""Measures the cost of off-CPU recording for threads that switch a hundred thousand times per second.

The cost is the time that the kernel counts for BPF programs (kernel.bpf_stats_enabled, which is set
meanwhile and restored), per context switch of the program. A program that switches 100,000 times per
second keeps one CPU busy, and the share refers to that CPU. The peer is bcc's offcputime in the form
that needs no kernel headers (Debian's libbpf-tools), or in the older one (bpfcc-tools).
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

from results import NONE, Row

STATS = pathlib.Path("/proc/sys/kernel/bpf_stats_enabled")
SECONDS = 4
WARM_UP = 1.5  # until a tool has its programs in place
AT = 100000  # switches per second
COST_GOAL = 3.0  # percent of a CPU
SUM_GOAL = 2.0  # percent of the truth


@contextlib.contextmanager
def counting():
    before = STATS.read_text(encoding="ascii")
    STATS.write_text("1\n", encoding="ascii")
    try:
        yield
    finally:
        STATS.write_text(before, encoding="ascii")


def programs():
    """{id: nanoseconds} of the loaded BPF programs."""
    done = subprocess.run(["bpftool", "-j", "prog", "show"], stdout=subprocess.PIPE, check=True)
    return {row["id"]: row.get("run_time_ns", 0) for row in json.loads(done.stdout)}


def threads_of(pid):
    """(threads, their context switches)."""
    count, switches = 0, 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        status = (task / "status").read_text(encoding="utf-8", errors="replace")
        switches += sum(map(int, re.findall(r"ctxt_switches:\s+(\d+)", status)))
        count += 1
    return count, switches


def watch(command, relay):
    """Runs a tool that watches for SECONDS. Returns (nanoseconds per switch, switches per second,
    its output)."""
    before = programs()
    tool = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")
    time.sleep(WARM_UP)
    first, before_it, at = programs(), threads_of(relay.pid)[1], time.monotonic()
    time.sleep(SECONDS - WARM_UP - 0.5)
    last, switches, now = programs(), threads_of(relay.pid)[1] - before_it, time.monotonic()
    output = tool.communicate(timeout=120)[0]
    cost = sum(ns - first.get(key, 0) for key, ns in last.items() if key not in before)
    return cost / switches, switches / (now - at), output


class Switches:
    def __init__(self, bench):
        self.bench = bench
        self.relay = [str(bench.build / "tests/workloads/relay"), "3600000", "3000"]

    def missing(self):
        if os.geteuid() != 0:
            return "needs root"
        if not STATS.exists() or not shutil.which("bpftool"):
            return "needs bpftool and kernel.bpf_stats_enabled"
        return None

    def wick(self, relay):
        data = self.bench.folder / "switches.wick"
        cost, rate, _ = watch([self.bench.build / "wick", "record", "--mode", "offcpu", "-p",
                               relay.pid, "-d", f"{SECONDS}s", "-o", data], relay)
        info = json.loads(subprocess.run(
            [str(self.bench.build / "wick"), "info", "--format", "json", str(data)],
            stdout=subprocess.PIPE, check=True).stdout)
        threads = threads_of(relay.pid)[0]
        truth = threads * info["duration_ns"] - int(info["session"]["target_run_ns"])
        return cost, rate, 100 * (info["weight"] / truth - 1)

    def bcc(self, relay):
        """Nanoseconds per switch; None if it does not run."""
        tool = shutil.which("offcputime") or shutil.which("offcputime-bpfcc")
        if not tool:
            return None
        cost, _, output = watch([tool, "-p", relay.pid, SECONDS], relay)
        if not re.search(r" \d+$", output, re.MULTILINE):
            return None  # it needs the headers of this kernel, for example
        return cost

    def rows(self):
        reason = self.missing()
        if reason:
            return [Row("off-CPU of busy threads", NONE, reason, NONE, NONE, None)]
        with counting(), subprocess.Popen(self.relay, stdout=subprocess.DEVNULL) as relay:
            try:
                cost, rate, error = self.wick(relay)
                peer = self.bcc(relay)
            finally:
                relay.kill()
        share = 100 * cost * AT / 1e9
        return [Row(f"off-CPU of busy threads: share of a CPU at {AT:,} switches per second",
                    NONE if peer is None else f"{100 * peer * AT / 1e9:.2f} % (offcputime)",
                    f"{share:.2f} %: {cost:.0f} ns each, at {rate:,.0f} per second",
                    NONE if not peer else f"×{cost / peer:.2f}", f"≤ {COST_GOAL:.0f} %",
                    share <= COST_GOAL),
                Row("off-CPU of busy threads: sum compared with wall minus CPU time", NONE,
                    f"{error:+.2f} %", NONE, f"± {SUM_GOAL:.0f} %", abs(error) <= SUM_GOAL)]

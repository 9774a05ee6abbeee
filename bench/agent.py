#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Measures what wick agent costs on a busy host: its CPU time, its memory, and how complete its windows are.

    bench/agent.py [--build DIR] [--seconds N] [--load PERCENT] [--json FILE]

Needs root. 200 processes that are mostly idle run beside programs of the system that come and go, one after another
on each CPU, until the CPUs are as busy as --load says, and at least 40 processes start each second; others who use the
machine count too. The agent samples at 100 Hz with the breaker off, and keeps its windows in a spool. CPU time and
memory are read from /proc once a second, the cost of sampling inside the kernel and everything else from the windows.
The first third of the time is not counted: that is when most files are read for the first time. Nor is the last
window, which is cut short.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from results import NONE, Row

ROOT = pathlib.Path(__file__).resolve().parent.parent
IDLE = 200
RATE_HZ = 100
WINDOW_S = 60  # the default
LOADS = (80, 100)
STARTS_PER_S = 40
CPU_GOAL, RATE_GOAL_HZ, MEMORY_GOAL_MB, GROWTH_GOAL_MB = 1, 95, 64, 4
NAMELESS = re.compile(r"^(\[unknown\]|\S+\+0x[0-9a-f]+|<.*>)$")
C_TEXT = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n" + "".join(
    f"int f{i}(int n) {{ int s = {i}; for (int k = 0; k < n; k++) s += k * s ^ (s >> 3); return s; }}\n"
    for i in range(60))
CXX_TEXT = "#include <map>\n#include <string>\nstd::map<std::string, int> m;\nint f() { return m[\"a\"]; }\n"
# What comes and goes: each is skipped if the host does not have it.
PROGRAMS = (
    ["gcc", "-O2", "-c", "-o", "a.o", "a.c"],
    ["g++", "-O1", "-c", "-o", "b.o", "b.cc"],
    ["gcc", "-O2", "-shared", "-fPIC", "-o", "a.so", "a.c"],
    ["clang", "-O2", "-c", "-o", "c.o", "a.c"],
    ["python3", "-c", "import json, re, decimal; [json.dumps({'a': i}) for i in range(40000)]"],
    ["perl", "-e", "my %h; $h{$_ % 997} .= $_ for 1..200000; print scalar(keys %h)"],
    ["gzip", "-c", "data"], ["xz", "-2", "-c", "data"], ["zstd", "-5", "-c", "data"], ["bzip2", "-c", "data"],
    ["sort", "-r", "data"], ["awk", "{ s += length($0) } END { print s }", "data"], ["sha256sum", "data"],
    ["grep", "-c", "[a-f]\\{3\\}9", "data"], ["sed", "s/a/bb/g", "data"],
    ["git", "-C", str(ROOT), "log", "-n", "200", "--stat"], ["openssl", "speed", "-seconds", "1", "sha256"],
    ["objdump", "-d", "a.o"], ["tar", "-cf", "-", "/usr/include/linux"], ["find", "/usr/share/doc", "-name", "*.gz"],
    ["bash", "-c", "for i in $(seq 200); do /bin/true; done"], ["node", "-e", "for (let i = 0; i < 3e7; i++);"],
)

Second = collections.namedtuple("Second", "time cpu_s rss_mb anon_mb busy starts")


def host_times():
    """(busy, all) seconds of all CPUs since the start."""
    words = [int(word) for word in pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    return (sum(words) - words[3] - words[4]) / 100, sum(words) / 100


def starts():
    """How many processes and threads were started since the host was."""
    return int(re.search(r"^processes (\d+)$", pathlib.Path("/proc/stat").read_text(), re.M).group(1))


class Host:
    """Idle processes, and a load of programs that come and go."""

    def __init__(self, folder, percent):
        self.folder, self.percent = folder, percent
        self.ended = threading.Event()
        self.busy = 0
        self.runs = 0
        (folder / "a.c").write_text(C_TEXT)
        (folder / "b.cc").write_text(CXX_TEXT)
        (folder / "data").write_bytes(os.urandom(1 << 20).hex().encode() * 2)
        self.programs = [words for words in PROGRAMS if shutil.which(words[0])]

    def __enter__(self):
        reader, self.pipe = os.pipe()
        self.idle = [subprocess.Popen(["bash", "-c", "while :; do read -t 2 -r; done"], stdin=reader)
                     for _ in range(IDLE)]
        os.close(reader)
        self.threads = [threading.Thread(target=self.watch), threading.Thread(target=self.start)] + [
            threading.Thread(target=self.work, args=(i,)) for i in range(os.cpu_count())]
        for thread in self.threads:
            thread.start()
        return self

    def watch(self):
        """How busy the CPUs were in the last two seconds."""
        before = host_times()
        while not self.ended.wait(2):
            now = host_times()
            self.busy = 100 * (now[0] - before[0]) / (now[1] - before[1])
            before = now

    def start(self):
        """Starts what is missing to STARTS_PER_S."""
        before = starts()
        while not self.ended.wait(0.25):
            now = starts()
            for _ in range(max(0, round(STARTS_PER_S * 0.25) - (now - before))):
                subprocess.run(["/bin/true"], check=True)
            before = now

    def work(self, at):
        pause_s = 0.05
        while not self.ended.is_set():
            words = self.programs[at % len(self.programs)]
            at += 1
            with subprocess.Popen(words, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as program:
                program.wait()
            self.runs += 1
            if self.percent < 100:
                pause_s = min(5, max(0.01, pause_s * (1.15 if self.busy > self.percent else 0.87)))
                self.ended.wait(pause_s)

    def __exit__(self, *_):
        self.ended.set()
        for thread in self.threads:
            thread.join()
        for process in self.idle:
            process.kill()
            process.wait()
        os.close(self.pipe)


def look(pid, now):
    """What the agent has used."""
    stat = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    status = dict(re.findall(r"^(\w+):\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M))
    return Second(now, sum(map(int, stat[11:15])) / os.sysconf("SC_CLK_TCK"), int(status["VmRSS"]) / 1024,
                  int(status["RssAnon"]) / 1024, host_times(), starts())


def facts(wick, window):
    done = subprocess.run([wick, "info", "--format", "json", window], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def unnamed(wick, window):
    """(samples, samples whose leaf has no name, frames, frames without a name), weighted by samples."""
    done = subprocess.run([wick, "export", "--format", "folded", window], capture_output=True, text=True, check=True,
                          env={**os.environ, "DEBUGINFOD_URLS": ""})
    total = leaf = frames = missing = 0
    for line in done.stdout.splitlines():
        stack, count = line.rsplit(" ", 1)
        names = stack.split(";")[1:] or [""]
        total += int(count)
        leaf += int(count) * bool(NAMELESS.match(names[-1]))
        frames += int(count) * len(names)
        missing += int(count) * sum(bool(NAMELESS.match(name)) for name in names)
    return total, leaf, frames, missing


def metrics(path):
    return {words[0].removeprefix("wick_agent_"): float(words[1]) for words in
            (line.split() for line in path.read_text().splitlines() if not line.startswith("#"))}


def sample(wick, folder, seconds, options):
    """Runs the agent; returns a Second for each second, and its metrics before and after the counted time."""
    cache = ROOT / "build/bench-data/agent-cache"  # its own: others fill that of the user, and empty it
    cache.mkdir(parents=True, exist_ok=True)
    agent = subprocess.Popen([wick, "agent", "--spool", folder / "spool", "-F", str(RATE_HZ), "--breaker", "off",
                              "--window", f"{WINDOW_S}s", "--metrics", folder / "metrics", *options],
                             stderr=open(folder / "said", "w", encoding="utf-8"),
                             env={**os.environ, "XDG_CACHE_HOME": str(cache)})
    begin = time.monotonic()
    seen = []
    try:
        while (now := time.monotonic() - begin) < seconds:
            if agent.poll() is not None:
                sys.exit(f"the agent ended: {(folder / 'said').read_text()}")
            seen.append(look(agent.pid, now))
            time.sleep(1)
    finally:
        if agent.poll() is None:
            agent.send_signal(signal.SIGTERM)
        agent.wait()
    return seen


def measure(wick, seconds, percent, options=()):
    """One run, as a dictionary of figures."""
    with tempfile.TemporaryDirectory(prefix="wick-agent-bench-") as name:
        folder = pathlib.Path(name)
        (folder / "work").mkdir()
        with Host(folder / "work", percent) as host:
            time.sleep(3)
            seen = sample(wick, folder, seconds, options)
            runs = host.runs
        said = (folder / "said").read_text()
        windows = sorted((folder / "spool").glob("*.wick"), key=lambda path: path.stat().st_mtime)
        counted = [second for second in seen if second.time >= seconds / 3]
        first, last = counted[0], counted[-1]
        kept = [facts(wick, path) for path in windows[:-1]]  # the last one was cut short
        totals = [sum(column) for column in zip(*(unnamed(wick, path) for path in windows))]
        end = metrics(folder / "metrics")
    share = 100 * (last.cpu_s - first.cpu_s) / (last.time - first.time)
    parts = [statistics.median(s.rss_mb for s in part) for part in tenths(counted)]
    return {
        "seconds": seconds,
        "host busy %": 100 * (last.busy[0] - first.busy[0]) / (last.busy[1] - first.busy[1]),
        "programs run": runs,
        "started each second": (last.starts - first.starts) / (last.time - first.time),
        "own CPU s for 1000 started": 1000 * (last.cpu_s - first.cpu_s) / (last.starts - first.starts),
        "own CPU s for 1000 samples": 1000 * seen[-1].cpu_s / max(end["samples_total"], 1),
        "own CPU %": share,
        "own CPU % from the start": 100 * last.cpu_s / last.time,
        "CPU % of windows": [float(value(info, "agent.cpu_percent")) for info in kept],
        "RSS MB, most": max(second.rss_mb for second in seen),
        "RSS MB, start and end": [parts[0], parts[-1]],
        "RSS MB, counted": [min(s.rss_mb for s in counted), statistics.median(s.rss_mb for s in counted),
                            max(s.rss_mb for s in counted)],
        "RSS MB, by tenth": [round(statistics.median(s.rss_mb for s in part), 1) for part in tenths(seen)],
        "anonymous MB, most": max(second.anon_mb for second in seen),
        "rate": [float(value(info, "rate.achieved")) for info in kept],
        "steps": sorted({value(info, "agent.memory_step") for info in kept} - {None}),
        "samples": int(end["samples_total"]), "lost": int(end["samples_lost_total"]),
        "renewals": int(end["renewals_total"]), "processes": int(end["processes_total"]),
        "leaves without a name %": 100 * totals[1] / max(totals[0], 1),
        "frames without a name %": 100 * totals[3] / max(totals[2], 1),
        "said": said.strip(),
    }


def tenths(seen):
    size = max(1, len(seen) // 10)
    return [seen[at:at + size] for at in range(0, len(seen), size)]


def value(info, key):
    return info["session"].get(key)


def rows(wick, seconds):
    """The rows of the table."""
    if os.geteuid() != 0:
        return [Row("agent", NONE, "needs root", NONE, NONE, None)]
    table = []
    for percent in LOADS:
        found = measure(wick, seconds, percent)
        windows = found["CPU % of windows"]
        counted = windows[len(windows) // 3:]
        cpu = statistics.mean(counted)
        rates = found["rate"][len(found["rate"]) // 3:]
        begin, end = found["RSS MB, start and end"]
        what = f"agent, {IDLE} processes, host {percent} % busy"
        table += [
            Row(f"{what}: share of one CPU, with sampling", NONE,
                f"{cpu:.2f} %, {max(counted):.2f} % at most; host {found['host busy %']:.0f} %, "
                f"{found['started each second']:.0f} processes started each second", NONE,
                f"≤ {CPU_GOAL} %", cpu <= CPU_GOAL),
            Row(f"{what}: rate", NONE, f"{statistics.mean(rates):.0f} Hz, {min(rates):.0f} at least", NONE,
                f"{RATE_HZ} Hz", statistics.mean(rates) >= RATE_GOAL_HZ),
            Row(f"{what}: memory", NONE,
                f"{found['RSS MB, most']:.0f} MB at most; {begin:.0f} MB at first, {end:.0f} MB at the end", NONE,
                f"≤ {MEMORY_GOAL_MB} MB", found["RSS MB, most"] <= MEMORY_GOAL_MB and end - begin <= GROWTH_GOAL_MB),
            Row(f"{what}: lost, leaves without a name", NONE,
                f"{found['lost']}, {found['leaves without a name %']:.1f} %", NONE, NONE, None)]
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--load", type=int, default=100)
    parser.add_argument("--json", type=pathlib.Path, help="also write the figures to this file")
    parser.add_argument("options", nargs="*", help="options for the agent, after --")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # end what was started
    found = measure((ROOT / options.build).resolve() / "wick", options.seconds, options.load, options.options)
    for name, figure in found.items():
        print(f"{name:28} {figure:.2f}" if isinstance(figure, float) else f"{name:28} {figure}")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

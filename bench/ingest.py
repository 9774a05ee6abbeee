#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Measures the server of the continuous profiler under the load of a fleet.

    bench/ingest.py [--build DIR] [--quick]

500 agents send one window every 10 s for 10 minutes over loopback; --quick: 50 agents, one a second for 10 s. Then the
server is killed and started again, and what it answers for each host is compared with the sum of what was
acknowledged: a difference is a loss. Without libduckdb.so nothing is measured.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

from results import NONE, Row

ROOT = pathlib.Path(__file__).resolve().parent.parent
P99_GOAL_MS = 200
TIMEOUT_S = 120

Load = collections.namedtuple("Load", "agents every_s windows rows")
LONG = Load(500, 10, 60, 600)
QUICK = Load(50, 1, 10, 600)
Found = collections.namedtuple("Found", "said hosts lost cpu_s took_s memory_mb commits")


class Server:
    """wick server on a port of loopback, which it keeps when it is started again."""

    def __init__(self, build, folder):
        self.build, self.folder, self.port = build, folder, 0
        self.start()

    def start(self):
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            self.process = subprocess.Popen(
                [self.build / "wick", "server", "--listen", f"127.0.0.1:{self.port}", "--data", self.folder,
                 "--duckdb", self.build / "libduckdb.so"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            line = self.process.stdout.readline()
            found = re.match(r"listening on (\S+:(\d+)),", line)
            if found:
                break
            self.process.wait()  # the port is in use for a moment after a crash
            if time.monotonic() > deadline:
                raise RuntimeError("wick server does not start: " + line)
            time.sleep(0.1)
        self.url, self.port = found.group(1), int(found.group(2))

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=TIMEOUT_S) as answer:
            return json.load(answer)

    def commits(self):
        """How many transactions the store took."""
        with urllib.request.urlopen(self.url + "/metrics", timeout=TIMEOUT_S) as answer:
            return int(re.search(r"^wick_store_commits_total (\d+)", answer.read().decode(), re.M).group(1))

    def cpu_s(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mb(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", text).group(1)) / 1024


def read_output(lines):
    """({name: numbers}, {host: (samples, value)}) of ingest_bench."""
    said, hosts = {}, {}
    for words in map(str.split, lines):
        if words[0] == "host":
            hosts[words[1]] = (int(words[2]), int(words[3]))
        else:
            said[words[0]] = [float(word) for word in words[1:]]
    return said, hosts


def answered(server):
    """{host: (samples, value)} of the store."""
    found = server.get(f"/api/hosts?from=0&to={int(time.time()) + 86400}")
    assert not found["more"]
    return {item["name"]: (item["samples"], item["value"]) for item in found["hosts"]}


def run(build, folder, load, crash=False):
    """Puts a load on a server with a new store, and compares."""
    server = Server(build, folder)
    client = subprocess.Popen([build / "bench/ingest_bench", server.url, *map(str, load)], stdout=subprocess.PIPE,
                              text=True)
    try:
        assert client.stdout.readline() == "ready\n", "ingest_bench has failed"
        begin, cpu_s = time.monotonic(), server.cpu_s()
        if crash:
            time.sleep(1 + load.every_s * load.windows / 2)
            server.kill()
            server.start()
            cpu_s = 0
        said, hosts = read_output(client.stdout)
        assert client.wait() == 0, "ingest_bench has failed"
        found = Found(said, hosts, None, server.cpu_s() - cpu_s, time.monotonic() - begin, server.memory_mb(),
                      server.commits())
        server.kill()
        server.start()  # what was acknowledged is on disk
        there = answered(server)
    finally:
        client.kill()
        client.wait()
        client.stdout.close()
        server.kill()
    lost = {host: (sums, there.get(host)) for host, sums in hosts.items() if there.get(host) != sums}
    return found._replace(lost=lost)


def rows(build, folder, quick):
    """The rows of the table."""
    if not (build / "libduckdb.so").exists():
        return [Row("server under load", NONE, "no libduckdb.so (scripts/fetch-duckdb)", NONE, NONE, None)]
    load = QUICK if quick else LONG
    data = pathlib.Path(tempfile.mkdtemp(prefix="ingest-", dir=folder))
    try:
        found = run(build, data / "store", load)
    finally:
        shutil.rmtree(data)
    windows = int(found.said["acknowledged"][0])
    p50, p99, most = found.said["latency-ms"]
    what = (f"server, {load.agents} agents, a window of {load.rows} rows "
            f"({found.said['bytes-of-a-window'][0] / 1000:.0f} kB) in {load.every_s} s")
    complete = not found.lost and windows == load.agents * load.windows
    return [Row(f"{what}: lost", NONE, f"{len(found.lost)} hosts differ, {windows} windows acknowledged", NONE, "0",
                complete),
            Row(f"{what}: latency p50, p99, max", NONE,
                f"{p50:.0f} ms, {p99:.0f} ms, {most:.0f} ms (sent late by {found.said['sent-late-ms'][1]:.0f} ms at p99)",
                NONE, f"p99 ≤ {P99_GOAL_MS} ms", p99 <= P99_GOAL_MS),
            Row(f"{what}: server's CPU and memory", NONE,
                f"{found.cpu_s / windows * 1000:.1f} ms a window, {found.cpu_s / found.took_s * 100:.0f} % of a core, "
                f"{found.memory_mb:.0f} MB, {windows / found.commits:.1f} windows a transaction (the agents took "
                f"{found.said['cpu-s'][0] / windows * 1000:.1f} ms a window)", NONE, NONE, None)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    build = (ROOT / options.build).resolve()
    folder = build / "bench-data"
    folder.mkdir(exist_ok=True)
    for row in rows(build, folder, options.quick):
        print(f"{row.what}\n    {row.wick}   goal {row.goal}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

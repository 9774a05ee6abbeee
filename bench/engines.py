# SPDX-License-Identifier: BSD-2-Clause
"""Measures what engines cost the programs they watch, and how accurate their samples are.

Fractions of a per cent are lost in the noise of runs one after the other. So all sides run
at the same time: the scheduler alternates every few milliseconds, and whatever else
happens on the machine affects all of them alike. Two plain runs differ by 0.1 %.
"""
import concurrent.futures
import ctypes.util
import json
import pathlib
import re
import socket
import statistics
import struct
import subprocess
import time

SHARES = 64     # threads of the crowd
FRAMES = 5      # of a stack of the crowd, besides those that it is asked for
UNITS_A_SECOND = 21000


def together(run, sides, command):
    """{side: Run} of all sides, started at once; a side is a prefix of the command."""
    with concurrent.futures.ThreadPoolExecutor(len(sides)) as pool:
        runs = {name: pool.submit(run, [*prefix, *command]) for name, prefix in sides.items()}
        return {name: one.result() for name, one in runs.items()}


def added(rounds, side, cpu):
    """Median of what a side takes more than the plain run next to it, as a share."""
    return statistics.median(cpu(one[side]) / cpu(one["bare"]) - 1 for one in rounds)


def signal_ticks(done):
    """(ticks, ns of the handler for one, ns of its delivery): needs WICK_LOG=debug."""
    found = re.search(r"signal: (\d+) ticks of (\d+) ns, delivered in (\d+) ns", done.stderr)
    return tuple(int(text) for text in found.groups())


def mean_frames(done):
    return float(re.search(r"stacks +([\d.]+) frames", done.stderr).group(1))


def deviation(weights, truth):
    """
    The largest difference between a thread's share of samples and its share of CPU time, relative to the latter.
    Both by thread; a thread without any weight is 1.
    """
    whole, true_whole = sum(weights.values()), sum(truth.values())
    return max(abs(weights.get(thread, 0) / whole / (cpu / true_whole) - 1)
               for thread, cpu in truth.items())


def weights_by_thread(run, wick, path):
    weights = {}
    for line in run([wick, "export", "--format", "samples", path]).stdout.splitlines():
        sample = json.loads(line)
        weights[sample["tid"]] = weights.get(sample["tid"], 0) + sample["weight"]
    return weights


# gperftools' CPU profiler

def gperftools():
    """The gperftools library to preload, or None."""
    return ctypes.util.find_library("profiler")


def gperftools_prefix(library, rate_hz, path):
    return ["env", f"LD_PRELOAD={library}", f"CPUPROFILE={path}", f"CPUPROFILE_FREQUENCY={rate_hz}"]


def gperftools_stacks(path):
    """[(count, [address, leaf first])] and the mapping lines of a gperftools profile."""
    data = pathlib.Path(path).read_bytes()
    words = struct.unpack(f"<{len(data) // 8}Q", data[:len(data) // 8 * 8])
    stacks, at = [], 2 + words[1]
    while words[at:at + 3] != (0, 1, 0):
        count, depth = words[at:at + 2]
        stacks.append((count, words[at + 2:at + 2 + depth]))
        at += 2 + depth
    return stacks, data[(at + 3) * 8:].decode(errors="replace").splitlines()


def gperftools_weights(run, program, stacks, mappings):
    """{index of a thread of the crowd: samples}; each thread has a leaf function of its own."""
    base = min(int(line.split("-")[0], 16) for line in mappings if line.endswith(str(program)))
    symbols = [line.split() for line in run(["nm", "-S", "--defined-only", program])
               .stdout.splitlines() if " burn_" in line]
    ranges = [(int(start, 16), int(size, 16), int(name[5:]) - 10)  # they begin with burn_10
              for start, size, _, name in symbols]
    weights = {}
    for count, addresses in stacks:
        for start, size, thread in ranges:
            if start <= addresses[0] - base < start + size:
                weights[thread] = weights.get(thread, 0) + count
    return weights


# Latency of redis

class Redis:
    """A redis server on a free port, without a file."""

    def __init__(self, prefix):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process = subprocess.Popen(
            [str(word) for word in [*prefix, "redis-server", "--port", self.port, "--save", "",
                                    "--appendonly", "no"]],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)

    def latency_ms(self, run, requests):
        """(p50, p99) of GET."""
        done = run(["redis-benchmark", "-p", self.port, "-t", "get", "-n", requests, "-c", 20,
                    "--csv"])
        head, values = [[word.strip('"') for word in line.split(",")]
                        for line in done.stdout.splitlines()[:2]]
        return tuple(float(values[head.index(f"p{part}_latency_ms")]) for part in (50, 99))

    def close(self):
        subprocess.run(["redis-cli", "-p", str(self.port), "shutdown", "nosave"], check=False,
                       capture_output=True)
        self.process.wait(30)

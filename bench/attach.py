# SPDX-License-Identifier: BSD-2-Clause
"""Measures what it costs a running process to have its heap followed by probes at its allocator.

Beside it: probes at the same places whose program does nothing (probe_bench), where the kernel has uprobe sessions.
"""
import collections
import json
import os
import statistics
import subprocess
import time

SAMPLE = "512K"
WAYS = {"bare": None, "sampled": ("--sample", SAMPLE), "full": ("--force",)}
EMPTY = {"sampled": "entries", "full": "returns"}  # what probe_bench probes to compare with
GOALS_US = {"sampled": 1.0, "full": 2.5}
GOAL_RATIO = 1.3  # to empty probes, where those are slower


def wait_until_it_reads(pid):
    """Waits until a process is in read() of its standard input: number of the call, first argument."""
    while open(f"/proc/{pid}/syscall", encoding="ascii").read().split()[:2] not in (["0", "0x0"], ["63", "0x0"]):
        time.sleep(0.01)


def storm(build, pairs, depth, probe):
    """(us of CPU per pair, the prober's output) of a storm that starts once probe(pid) has placed its probes."""
    target = subprocess.Popen([build / "bench/storm", str(pairs), str(depth), "1", "64", "wait"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    wait_until_it_reads(target.pid)
    prober = probe(target.pid)
    out, _ = target.communicate("x")
    said = prober.communicate()[1] if prober else ""
    return json.loads(out)["cpu_us"] / pairs, said


def empty_probes(build, pid, what):
    """Places empty probes in a process; None if that is not possible here."""
    if not (build / "bench/probe_bench").exists():
        return None
    prober = subprocess.Popen([build / "bench/probe_bench", str(pid), what], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if prober.stdout.readline():
        return prober
    prober.communicate()
    return None


def storms(wick, build, recording, depth, pairs, rounds):
    """{way: median us of CPU per pair}, and the last output of wick. Ways without probes here are left out."""
    taken, said = collections.defaultdict(list), {}
    for i in range(rounds):
        for way in list(WAYS)[i % 3:] + list(WAYS)[:i % 3]:
            us, said[way] = storm(build, pairs, depth, lambda pid, way=way: follow(wick, pid, recording, WAYS[way]))
            if WAYS[way] and "lost" not in said[way]:
                raise ValueError(said[way])
            taken[way].append(us)
        for what in EMPTY.values():
            probed = []
            us, _ = storm(build, pairs, depth, lambda pid, what=what, probed=probed:
                          probed.append(empty_probes(build, pid, what)) or probed[0])
            if probed[0]:
                taken[what].append(us)
    return {way: statistics.median(values) for way, values in taken.items()}, said


def follow(wick, pid, recording, options):
    """Starts wick on a process and returns it once it follows; None if there is nothing to do."""
    if options is None:
        return None
    recorder = subprocess.Popen([wick, "heap", "-p", str(pid), "-o", recording, *options],
                                stderr=subprocess.PIPE, text=True)
    recorder.stderr.readline()  # the notice, which --quiet leaves out
    return recorder


def let_go(recorder):
    if recorder:
        os.kill(recorder.pid, 2)
        recorder.communicate()

# SPDX-License-Identifier: BSD-2-Clause
"""Measures what it costs a running process to have its heap followed by probes at its allocator."""
import json
import os
import statistics
import subprocess
import time

SAMPLE = "512K"
WAYS = {"bare": None, "sampled": ("--sample", SAMPLE), "full": ("--force",)}
GOALS_US = {"sampled": 1.5, "full": 6.0}


def wait_until_it_reads(pid):
    """Waits until a process is in read() of its standard input: number of the call, first argument."""
    while open(f"/proc/{pid}/syscall", encoding="ascii").read().split()[:2] not in (["0", "0x0"], ["63", "0x0"]):
        time.sleep(0.01)


def storm(wick, build, recording, options, pairs, depth):
    """(us of CPU per pair, wick's output) of a storm that starts once wick follows it."""
    target = subprocess.Popen([build / "bench/storm", str(pairs), str(depth), "1", "64", "wait"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    wait_until_it_reads(target.pid)
    recorder = None
    if options is not None:
        recorder = subprocess.Popen([wick, "heap", "-p", str(target.pid), "-o", recording, *options],
                                    stderr=subprocess.PIPE, text=True)
        first = recorder.stderr.readline()
    out, _ = target.communicate("x")
    said = recorder.communicate()[1] if recorder else ""
    if recorder and "lost" not in said:
        raise ValueError(first + said)
    return json.loads(out)["cpu_us"] / pairs, said


def storms(wick, build, recording, depth, pairs, rounds):
    """{way: median us of CPU per pair}, and the last output of wick."""
    taken, said = {way: [] for way in WAYS}, {}
    for i in range(rounds):
        for way in list(WAYS)[i % 3:] + list(WAYS)[:i % 3]:
            us, said[way] = storm(wick, build, recording, WAYS[way], pairs, depth)
            taken[way].append(us)
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

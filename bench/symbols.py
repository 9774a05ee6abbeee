#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares full answers (lines, inlined calls, readable names) with other tools.

    bench/symbols.py [--build DIR] [--rounds N] [--program ELF]

All tools resolve the same addresses of the same program alternately; a figure is the median CPU
time (user + system) of the rounds. "cached" is wick with the answers in its disk cache,
"filling" is the run that fills it. Plain names are looked up in a program and in a library of
15,000 functions; two threads share the addresses of the program.
eu-addr2line gets no more than a thousand addresses, once: it takes ten seconds for them.
Without --program, make_bigcxx.py makes one in BUILD/bench-bigcxx, once. A tool that is not
installed leaves a dash.
"""
import argparse
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
COUNTS = (1, 1000, 10000, 100000)
GOALS = {1: 0.020, 1000: 0.12, 10000: 0.25, 100000: 0.4}
CACHED_GOALS = {100000: 0.05}
SLOW = {"eu": 1000}  # tools that are not asked for more
GOAL_MB = 100
NAMES = 15000
NAMES_GOALS = (3, 10)  # ms to index, million lookups per second
THREADS_GOAL = 1.6
NONE = "–"


def pick_addresses(program, count):
    listed = subprocess.run(["nm", "-S", "--defined-only", program], capture_output=True, text=True,
                            check=True).stdout
    places = set()
    for line in listed.splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tTwW":
            start, size = int(words[0], 16), int(words[1], 16)
            places.update(range(start, start + size, 4))
    return random.Random(1).sample(sorted(places), min(count, len(places)))


# A program begins with the peak of who starts it, and the bench itself is large: this one is small.
WATCH = """
import os, sys
nothing = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=nothing)
_, status, usage = os.wait4(pid, 0)
print(status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
"""


def run(command, lines, cache):
    """(CPU seconds, peak MB) of a command that reads the lines."""
    done = subprocess.run([sys.executable, "-S", "-c", WATCH, *map(str, command)], input=lines,
                          stdout=subprocess.PIPE, check=True, env={**os.environ, "XDG_CACHE_HOME": cache})
    status, seconds, peak_kb = done.stdout.split()
    if int(status) != 0:
        raise RuntimeError(f"{command[0]} failed")
    return float(seconds), int(peak_kb) / 1024


def tools(build, program):
    return {
        "wick": [build / "wick", "symbolize", "--no-cache", "-fiC", "-e", program],
        "cached": [build / "wick", "symbolize", "-fiC", "-e", program],
        "addr2line": ["addr2line", "-fiC", "-e", program],
        "llvm": ["llvm-symbolizer-14", "--inlines", "-e", program],
        "eu": ["eu-addr2line", "-fiC", "-e", program],
    }


def measure(commands, addresses, rounds):
    """{tool: (CPU seconds, peak MB)}; the tools alternate."""
    lines = "".join(f"{address:#x}\n" for address in addresses).encode()
    found = {}
    with tempfile.TemporaryDirectory() as cache:
        found["filling"] = [run(commands["cached"], lines, cache)]
        for i in range(rounds):
            for name, command in commands.items():
                if len(addresses) > SLOW.get(name, len(addresses)) or (i and name in SLOW):
                    continue
                if shutil.which(str(command[0])):
                    found.setdefault(name, []).append(run(command, lines, cache))
    return {name: (statistics.median(cpu for cpu, _ in runs), max(peak for _, peak in runs))
            for name, runs in found.items()}


def measure_names(build):
    """(ms to index the names of a program, of a library, million lookups per second)"""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "names.c"
        source.write_text("".join(f"int function_{i}_of_many(int x) {{ return x + {i}; }}\n"
                                  for i in range(NAMES)) + "int main(void) { return 0; }\n")
        found = []
        for flags in ([], ["-shared", "-fPIC"]):
            subprocess.run(["cc", "-O1", *flags, "-o", f"{folder}/names", source], check=True)
            text = subprocess.run([build / "bench/names_bench", f"{folder}/names"], check=True,
                                  capture_output=True, text=True).stdout
            match = re.search(r"in ([\d.]+) ms, ([\d.]+) million", text)
            found.append((float(match[1]), float(match[2])))
    return found[0][0], found[1][0], min(rate for _, rate in found)


def measure_threads(build, program, addresses):
    """How many times as fast two threads are: (by wall time, by CPU time)"""
    text = subprocess.run([build / "bench/threads_bench", program], check=True, text=True,
                          input="".join(f"{address:#x}\n" for address in addresses),
                          capture_output=True).stdout
    match = re.search(r"([\d.]+) times as fast, by CPU ([\d.]+)", text)
    return float(match[1]), float(match[2])


def get_program(build):
    """The program to ask about, made once."""
    program = build / "bench-bigcxx/bigcxx"
    if not program.exists():
        subprocess.run([sys.executable, ROOT / "bench/make_bigcxx.py", program.parent], check=True)
    return program


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--program", type=pathlib.Path)
    options = parser.parse_args()
    program = options.program or get_program(options.build)
    commands = tools(options.build, program)
    failed = False
    print(f"{'addresses':>9} " + " ".join(f"{name + ' s':>12} {'MB':>5}" for name in commands)
          + "   goal s")
    for count in COUNTS:
        results = measure(commands, pick_addresses(program, count), options.rounds)
        cells = " ".join(f"{results[name][0]:12.3f} {results[name][1]:5.0f}" if name in results
                         else f"{NONE:>12} {NONE:>5}" for name in commands)
        met = results["wick"][0] <= GOALS[count] and results["wick"][1] <= GOAL_MB
        failed |= not met
        print(f"{count:9} {cells}   {GOALS[count]:.3f} {'met' if met else 'MISSED'}", flush=True)
        print(f"{'':9} filling: {results['filling'][0]:.3f} s, {results['filling'][1]:.0f} MB")
    program_ms, library_ms, rate = measure_names(options.build)
    print(f"names: {NAMES} indexed in {program_ms:.2f} ms, of a library in {library_ms:.2f} ms "
          f"(goal {NAMES_GOALS[0]}), {rate:.1f} million lookups per second (goal {NAMES_GOALS[1]})")
    wall, cpu = measure_threads(options.build, program, pick_addresses(program, COUNTS[-1]))
    print(f"two threads: {wall:.2f} times as fast, by CPU {cpu:.2f} (goal {THREADS_GOAL})")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

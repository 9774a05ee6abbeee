# SPDX-License-Identifier: BSD-2-Clause
"""A Python program that makes known calls for the measurements: python_calls.py ROUNDS LEVELS

Each level is a Python function that C code calls, so that Python and native frames alternate. Prints the CPU time
of the rounds alone.
"""
import json
import sys
import time


def work():
    total = 0
    for i in range(2000):
        total += i * i
    return total


def level(left):
    if left == 0:
        return work()
    return max([left - 1], key=level)


def run(rounds, levels):
    for _ in range(rounds):
        level(levels)


start = time.process_time()
begin = time.monotonic()
run(int(sys.argv[1]), int(sys.argv[2]))
print(json.dumps({"cpu_us": (time.process_time() - start) * 1e6, "wall_s": time.monotonic() - begin}))

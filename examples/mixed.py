#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""mixed: a Python program that calls a C library. It spends three quarters of its CPU time in
smooth() of mixed.c, and one quarter in Python code.

    cc -g -shared -fPIC mixed.c -o mixed.so
    wick record -o mixed.wick -- python3 mixed.py ./mixed.so
    wick report mixed.wick                which functions cost most
    wick report --by module mixed.wick    the library against the interpreter
    wick flame mixed.wick                 who called it

smooth() appears below the Python functions that called it: <module> and main.
"""
import ctypes
import sys
import time

ROUNDS = 20


def count(cpu_ms):
    """Uses the CPU for this long, in Python."""
    end_ns = time.process_time_ns() + cpu_ms * 1_000_000
    total = 0
    while time.process_time_ns() < end_ns:
        for number in range(1000):
            total += number * number
    return total


def main():
    library = ctypes.CDLL(sys.argv[1])
    for _ in range(ROUNDS):
        library.smooth(30)
        count(10)
    print(f"{time.process_time():.2f} s of CPU time: {ROUNDS * 30} ms in C, {ROUNDS * 10} ms in Python")


if __name__ == "__main__":
    main()

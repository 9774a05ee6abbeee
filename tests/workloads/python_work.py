# SPDX-License-Identifier: BSD-2-Clause
"""Calls that a test looks for: outer() calls inner(), which works for the seconds given as the argument."""
import sys
import time


def inner(seconds):
    end = time.process_time() + seconds
    count = 0
    while time.process_time() < end:
        count += 1
    return count


def outer(seconds):
    return inner(seconds)


if __name__ == "__main__":
    outer(float(sys.argv[1]))

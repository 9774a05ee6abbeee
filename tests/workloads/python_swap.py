# SPDX-License-Identifier: BSD-2-Clause
"""Two callers that take turns calling the same function, every few microseconds, for some CPU time.

python_swap.py SECONDS

One calls it through max(), the other through sorted(): the native part of a stack says who called,
whatever the Python part says.
"""
import sys
import time


def leaf(total):
    for i in range(9):
        total += i
    return total


def by_max(number):
    return leaf(number)


def by_sort(number):
    return leaf(number)


def left():
    return max((1,), key=by_max)


def right():
    return sorted((1,), key=by_sort)


def turns():
    for _ in range(100):
        left()
        right()


END = time.process_time() + float(sys.argv[1])
while time.process_time() < END:
    turns()

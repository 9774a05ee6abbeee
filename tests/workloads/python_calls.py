# SPDX-License-Identifier: BSD-2-Clause
"""Python calls of every kind, each scene for some CPU time: who calls whom is known.

python_calls.py SECONDS [SCENE...]
"""
import asyncio
import ctypes
import ctypes.util
import functools
import re
import sys
import threading
import time

SECONDS = float(sys.argv[1])
LIBC = ctypes.CDLL(ctypes.util.find_library("c") or "libc.so.6")
COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


def work():
    total = 0
    for i in range(300):
        total += i * i
    return total


def recursion(depth=30):
    if depth > 0:
        return recursion(depth - 1)
    return work()


def threads():
    helpers = [threading.Thread(target=helper, name=f"helper {i}") for i in range(3)]
    for one in helpers:
        one.start()
    for one in helpers:
        one.join()


def helper():
    for _ in range(20):
        work()


def numbers():
    for _ in range(10):
        yield work()


def relayed():
    yield from numbers()


def generators():
    for _ in relayed():
        pass


async def inner():
    work()
    await asyncio.sleep(0)
    return work()


async def outer():
    return await inner()


def coroutines():
    return LOOP.run_until_complete(outer())


def key(number):
    return work() + number


def sorting():
    return sorted(range(10), key=key)


def replacement(match):
    work()
    return match.group()


def replacing():
    return re.sub("a", replacement, "aaaaa")


def compare(left, right):
    return (work() + left > right) - 1


COMPARE_IN_C = COMPARE(compare)


def foreign():
    array = (ctypes.c_int * 6)(*range(6))
    LIBC.qsort(array, 6, 4, COMPARE_IN_C)


def failing():
    work()
    raise ValueError


def exceptions():
    try:
        failing()
    except ValueError:
        work()


SOURCE = "def made():\n    return work()\nmade()\n"


def executed():
    exec(compile(SOURCE, "<made>", "exec"), {"work": work})


def twice(function):
    @functools.wraps(function)
    def wrapper(*args):
        function(*args)
        return function(*args)
    return wrapper


@twice
def decorated():
    return work()


class Shape:
    def __init__(self):
        self.size = work()

    @property
    def area(self):
        return work() + self.size

    def __lt__(self, other):
        return work() > self.size


def objects():
    return Shape().area, Shape() < Shape(), [work() for _ in range(3)]


def scene(function):
    while time.process_time() < END:
        function()


SCENES = [recursion, threads, generators, coroutines, sorting, replacing, foreign, exceptions,
          executed, decorated, objects]
LOOP = asyncio.new_event_loop()
END = 0.0
for each in SCENES:
    if len(sys.argv) == 2 or each.__name__ in sys.argv[2:]:
        END = time.process_time() + SECONDS
        scene(each)

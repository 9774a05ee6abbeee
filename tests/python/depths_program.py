# SPDX-License-Identifier: BSD-2-Clause
"""Allocates in one function at many depths, with a size of its own each time, and prints the depths.

The function is called by Python functions, C functions, generators and coroutines: stacks of different depth
often have the function at the same address and the same level of recursion.

    depths_program.py MODULE FRAMES
"""
import importlib
import json
import sys

module, nframe = sys.argv[1], int(sys.argv[2])
t = importlib.import_module(module)
kept = []
SIZE = [50000]


def leaf(*_):
    SIZE[0] += 16
    kept.append(bytearray(SIZE[0]))
    return 0


def through(*_):
    return leaf()


def deeper(*_):
    return through()


def generator(function):
    while True:
        yield function()


def delegating(function):
    yield from generator(function)


async def coroutine(function):
    return function()


async def awaiting(function):
    return await coroutine(function)


class Slot:
    def __init__(self, function):
        self.function = function

    def __len__(self):
        return self.function()

    def __call__(self, *_):
        return self.function()


def send(started):
    try:
        started.send(None)
    except StopIteration:
        pass


def by_for(function):
    for _ in generator(function):
        break


def recursive(n, function):
    return recursive(n - 1, function) if n else function()


opened, other = generator(leaf), delegating(leaf)


def ways(function):
    function()
    sorted([1], key=function)
    next(generator(function))
    for _ in generator(function):
        break
    for _ in delegating(function):
        break
    list(map(function, [1]))
    by_for(function)
    max([1], key=function)
    sorted([1], key=lambda _: function())
    len(Slot(function))
    Slot(function)()
    send(coroutine(function))
    send(awaiting(function))
    next(opened)
    next(other)
    sorted([1], key=lambda _: next(opened))
    sorted([1], key=lambda _: next(other))
    recursive(3, function)
    recursive(2, lambda: sorted([1], key=function))
    [function() for _ in range(1)]
    sum(function() for _ in range(2))


def inside(function):
    ways(function)


def all_ways():
    for _ in range(3):
        for function in (leaf, through, deeper):
            ways(function)
            inside(function)
            sorted([1], key=lambda _: ways(function) or 0)
            for _ in generator(lambda: ways(function)):
                break


all_ways()  # the interpreter specialises calls that it has seen before
del kept[:]
SIZE[0] = 50000
t.start(nframe)
all_ways()
found = {size: total for _, size, _, total in t._get_traces() if size > 50000}
t.stop()
print(json.dumps(found, sort_keys=True))

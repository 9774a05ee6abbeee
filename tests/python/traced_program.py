# SPDX-License-Identifier: BSD-2-Clause
"""Allocates in many ways under a tracemalloc module; prints what it holds, by line, as JSON.

    traced_program.py MODULE FRAMES
"""
import gc
import importlib
import json
import re
import sys
import threading

tracemalloc = importlib.import_module(sys.argv[1])
HELD = []


class Node:
    def __init__(self, value, following):
        self.value = value
        self.following = following


def deep(depth):
    if depth == 0:
        return [bytearray(100)]
    return deep(depth - 1)


def chain(count):
    node = None
    for value in range(count):
        node = Node(value * 1.5, node)
    return node


def grow():
    items = []
    for value in range(3000):
        items.append(str(value))
    return items


def in_thread():
    HELD.append({value: bytes(value) for value in range(200)})


def work():
    HELD.append(json.loads(json.dumps({str(value): [value, value * 0.5, None] for value in range(500)})))
    HELD.append(grow())
    HELD.append(chain(1000))
    HELD.append(deep(40))
    HELD.append(["x" * value for value in range(0, 5000, 50)])
    HELD.append([(value, frozenset((value, -value))) for value in range(300)])
    HELD.append(re.compile("(a|b)+c{2,5}[d-z]*"))
    HELD.append([object() for _ in range(1000)])
    HELD.append([lambda: None for _ in range(100)])
    HELD.append({"a": {value for value in range(1000)}})
    HELD.append([value ** 40 for value in range(100)])
    HELD[1] = HELD[1][::2]
    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
    big = bytearray(1 << 20)
    big.extend(b"y" * 100000)
    HELD.append(big)


def is_work(traceback):
    """Not main() below: what it does itself depends on the module."""
    frame = traceback[-1]
    return frame.filename != __file__ or frame.lineno < is_work.__code__.co_firstlineno


def rows(snapshot, key_type):
    return sorted([[str(frame) for frame in one.traceback], one.size, one.count]
                  for one in snapshot.statistics(key_type) if is_work(one.traceback))


def main():
    work()  # what modules create once is created before
    HELD.clear()
    tracemalloc.start(int(sys.argv[2]))
    gc.collect()  # empties the free lists: what they held before is not traced, and depends on the module
    work()
    gc.collect()  # what the module takes from them now is no longer of the lines above
    snapshot = tracemalloc.take_snapshot()
    current, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    mine = snapshot.filter_traces([tracemalloc.Filter(True, __file__), tracemalloc.Filter(True, json.decoder.__file__)])
    print(json.dumps({"lines": rows(mine, "lineno"), "stacks": rows(mine, "traceback"),
                      "total": sum(trace.size for trace in snapshot.traces) <= current}))


main()

# SPDX-License-Identifier: BSD-2-Clause
"""Python functions that allocate blocks of known sizes, each through the same C code: python_blocks.py"""
import threading

KEPT = []


def block(size):
    KEPT.append(bytearray(size))


def first():
    block(1 << 20)


def second():
    block(3 << 20)
    block(1 << 20)


def nested(depth):
    if depth > 0:
        return nested(depth - 1)
    return block(5 << 20)


def key(size):
    block(size)
    return -size


def sorting():
    sorted([7 << 20, 7 << 20], key=key)


def made(name, size):
    """Calls a new function of this name; the code of the last one is gone."""
    space = {"block": block}
    exec(compile(f"def {name}():\n    block({size})\n", "<made>", "exec"), space)
    space[name]()


def helper():
    block(9 << 20)


def main():
    for _ in range(3):
        first()
        second()
    nested(20)
    sorting()
    for i in range(20):
        made(f"made_{i}", 2 << 20)
    helpers = [threading.Thread(target=helper) for _ in range(2)]
    for one in helpers:
        one.start()
        one.join()


main()

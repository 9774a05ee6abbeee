# SPDX-License-Identifier: BSD-2-Clause
"""Threads that are held at known points: python_held.py FOLDER

On SIGUSR1 the stacks of all threads, as the interpreter sees them, are added to FOLDER/dump. The file
FOLDER/ready appears when all threads are where they stay.
"""
import faulthandler
import pathlib
import signal
import sys
import threading
import time

FOLDER = pathlib.Path(sys.argv[1])
HELD = []
LOCK = threading.Lock()


def hold():
    HELD.append(1)
    time.sleep(600)


def recursion(depth=20):
    if depth:
        return recursion(depth - 1)
    return hold()


def numbers():
    yield 1
    yield hold()


def generators():
    for _ in (number for number in numbers()):
        pass


def key(item):
    if item == 3:
        hold()
    return item


def sorting():
    sorted([1, 2, 3], key=key)


def failing():
    raise ValueError


def exceptions():
    try:
        failing()
    except ValueError:
        hold()
    finally:
        hold()


def executed():
    exec(compile("def made():\n    hold()\n\n\nmade()\n", "<made>", "exec"), {"hold": hold})


class Shape:
    def __enter__(self):
        return self.area

    def __exit__(self, *_):
        pass

    @property
    def area(self):
        return (lambda: hold())()


def objects():
    with Shape():
        pass


def waiting():
    HELD.append(1)
    LOCK.acquire()


SCENES = (recursion, generators, sorting, exceptions, executed, objects, waiting)
LOCK.acquire()
for scene in SCENES:
    threading.Thread(target=scene, daemon=True).start()
with open(FOLDER / "dump", "w", encoding="utf-8") as dump:
    faulthandler.register(signal.SIGUSR1, file=dump, all_threads=True)
    while len(HELD) < len(SCENES):
        time.sleep(0.01)
    time.sleep(0.2)
    (FOLDER / "ready").touch()
    while True: time.sleep(600)  # one line: where it is, whether a signal ended a sleep or not

# SPDX-License-Identifier: BSD-2-Clause
"""Threads of which some hold the GIL, one computes without it and one sleeps: python_gil.py SECONDS"""
import hashlib
import sys
import threading
import time

END = time.monotonic() + float(sys.argv[1])
DATA = bytes(1 << 22)


def holding():
    while time.monotonic() < END:
        sum(range(2000))


def releasing():
    while time.monotonic() < END:
        hashlib.sha256(DATA).digest()


def sleeping():
    time.sleep(max(0, END - time.monotonic()))


# Those that hold it let no other thread start soon.
THREADS = [threading.Thread(target=each) for each in (sleeping, releasing, holding, holding)]
for thread in THREADS:
    thread.start()
for thread in THREADS:
    thread.join()

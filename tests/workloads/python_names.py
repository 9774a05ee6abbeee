# SPDX-License-Identifier: BSD-2-Clause
"""Threads with names, which compute: python_names.py SECONDS"""
import sys
import threading
import time

END = time.monotonic() + float(sys.argv[1])


class Worker(threading.Thread):
    """Has attributes of its own, and its name is given later."""

    def __init__(self):
        super().__init__()
        self.done = 0
        self.name = "worker of a class"

    def run(self):
        while time.monotonic() < END:
            self.done += sum(range(500))


def computing():
    while time.monotonic() < END:
        sum(range(500))


THREADS = [threading.Thread(target=computing, name="reader of a very long list"),
           threading.Thread(target=computing, name="schrei\u00df-\u043f\u043e\u0442\u043e\u043a"),
           threading.Thread(target=computing), Worker()]
THREADS[2].several = "attributes"
THREADS[2].__dict__["more"] = 1
for thread in THREADS:
    thread.start()
while len(threading._active) <= len(THREADS) and time.monotonic() < END:  # pylint: disable=protected-access
    time.sleep(0.001)
print("all run", flush=True)
for thread in THREADS:
    thread.join()

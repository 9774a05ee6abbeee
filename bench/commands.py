# SPDX-License-Identifier: BSD-2-Clause
"""Runs commands and measures them."""
import collections
import json
import os
import subprocess
import threading
import time

Run = collections.namedtuple("Run", "status cpu wall peak_kb stdout stderr")


class Failed(Exception):
    pass


def peak_of(pid, stop, ret):
    """Tracks the highest VmHWM of a process, without that of its children."""
    while not stop.is_set():
        try:
            with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
                for line in status:
                    if line.startswith("VmHWM:"):
                        ret[0] = max(ret[0], int(line.split()[1]))
        except OSError:
            return
        stop.wait(0.02)


def run(command, check=True, watch=False):
    """Runs a command; CPU is its own and that of the children it waited for."""
    command = [str(word) for word in command]
    start = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    output, peak, stop = {}, [0], threading.Event()
    readers = [threading.Thread(target=lambda name=name: output.__setitem__(
        name, getattr(process, name).read())) for name in ("stdout", "stderr")]
    if watch:
        readers.append(threading.Thread(target=peak_of, args=(process.pid, stop, peak)))
    for reader in readers:
        reader.start()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - start
    stop.set()
    process.returncode = os.waitstatus_to_exitcode(status)
    for reader in readers:
        reader.join()
    process.stdout.close()
    process.stderr.close()
    done = Run(process.returncode, usage.ru_utime + usage.ru_stime, wall,
               peak[0] or usage.ru_maxrss, output["stdout"].decode(errors="replace"),
               output["stderr"].decode(errors="replace"))
    if check and done.status != 0:
        raise Failed(f"{' '.join(command)}: status {done.status}: {done.stderr.strip()[-300:]}")
    return done


def truth_of(done):
    return json.loads([line for line in done.stdout.splitlines() if line.startswith("{")][-1])

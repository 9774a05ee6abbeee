# SPDX-License-Identifier: BSD-2-Clause
"""Runs a live view as a person would, on a terminal, and measures what it costs."""
import fcntl
import os
import pathlib
import pty
import struct
import subprocess
import termios
import threading
import time


def cpu_ticks(pid):
    """User and system time of a process."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def watched_top(command, seconds):
    """Runs a live view on a terminal of 80x24. Returns its share of a CPU in percent, and the bytes sent."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen([str(word) for word in command], stdin=theirs, stdout=theirs,
                               env=os.environ | {"TERM": "xterm"}, start_new_session=True)
    os.close(theirs)
    sent = [0]

    def read():
        try:
            while data := os.read(ours, 65536):
                sent[0] += len(data)
        except OSError:
            pass  # the other end is closed
    reader = threading.Thread(target=read)
    reader.start()
    time.sleep(3)  # names are found, and the window begins to fill
    before, before_sent = cpu_ticks(process.pid), sent[0]
    time.sleep(seconds)
    ticks, sent_then = cpu_ticks(process.pid) - before, sent[0] - before_sent
    os.write(ours, b"q")
    if process.wait(timeout=10) != 0:
        raise OSError("wick top failed")
    reader.join()
    os.close(ours)
    return 100 * ticks / os.sysconf("SC_CLK_TCK") / seconds, sent_then

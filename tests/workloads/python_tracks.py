# SPDX-License-Identifier: BSD-2-Clause
"""Works, then sleeps twice; 5,000,000 bytes are live until the first sleep ends."""
import time


def busy():
    end = time.process_time() + 0.15
    while time.process_time() < end:
        sum(range(500))


def asleep():
    time.sleep(0.2)


kept = [bytearray(1_000_000) for _ in range(5)]
busy()
asleep()
del kept
asleep()

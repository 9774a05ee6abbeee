# SPDX-License-Identifier: BSD-2-Clause
"""A pytest plug-in: a test that fails while the host takes the CPUs away is repeated, and listed.

The host of a virtual machine may give its CPUs to others. That time is in no program's CPU time and in no
wait, but clocks and timers continue, so a test that compares them measures the host. A failed test during
which more than a fiftieth of the machine was taken away is repeated, up to twice, with all its fixtures;
a test that fails without stolen time fails at once.
"""
import os
import time

from _pytest.runner import runtestprotocol

MOST_REPEATS = 2
MOST_TAKEN = 0.02


def column_ns(*columns):
    """The sum of columns of /proc/stat for all CPUs (8: stolen by the host)."""
    with open("/proc/stat", encoding="ascii") as file:
        ticks = file.readline().split()
    return sum(int(ticks[i]) for i in columns) * 10 ** 9 // os.sysconf("SC_CLK_TCK")


def stolen_ns():
    """The CPU time that the host of a virtual machine has taken: neither time on a CPU nor off it."""
    return column_ns(8)


def nobodys_ns():
    """CPU time that belongs to no program: interrupts, and what the host has taken."""
    return column_ns(6, 7, 8)


def run_once(item, nextitem):
    """The reports, and the share of CPU time that the host took meanwhile."""
    before_ns, start = stolen_ns(), time.monotonic()
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    wall_ns = (time.monotonic() - start) * 1e9 * os.cpu_count()
    return reports, (stolen_ns() - before_ns) / max(wall_ns, 1)


def pytest_runtest_protocol(item, nextitem):
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for repeat in range(MOST_REPEATS + 1):
        reports, taken = run_once(item, nextitem)
        if repeat == MOST_REPEATS or taken <= MOST_TAKEN or not any(report.failed for report in reports):
            break
        item.user_properties.append(("repeated", f"the host took {100 * taken:.0f} % of the CPUs"))
        # What the module's tests share was made while the CPUs were away.
        item.session._setupstate.teardown_exact(None)
        item._initrequest()
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True

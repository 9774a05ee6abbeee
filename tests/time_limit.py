# SPDX-License-Identifier: BSD-2-Clause
"""A pytest plug-in: each test has a time limit of its own, so a hang is one failure with a name.

WICK_TEST_SECONDS sets the limit of each phase (set-up, call, tear-down); WICK_PATIENCE multiplies it. Tests
marked "long" have as many minutes as others have seconds. The limit is for hangs: it is many times longer
than any test takes on a busy machine.
"""
import os
import signal

import pytest

SECONDS = int(os.environ.get("WICK_TEST_SECONDS") or 240) * int(os.environ.get("WICK_PATIENCE") or 1)


def limited(item, phase):
    seconds = SECONDS * 60 if item.get_closest_marker("long") else SECONDS

    def fail(_number, _frame):
        pytest.fail(f"{phase} of {item.name} took longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_setup(item):
    yield from limited(item, "set-up")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    yield from limited(item, "call")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_teardown(item):
    yield from limited(item, "tear-down")

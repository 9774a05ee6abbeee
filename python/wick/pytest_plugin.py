# SPDX-License-Identifier: BSD-2-Clause
"""A pytest plugin: limits on the memory of tests, and profiles of slow ones.

    @pytest.mark.limit_memory("24 MB")            the most memory that is allocated at any one time
    @pytest.mark.limit_leaks("1 KB", warmups=1)   what is left when the test has ended

    pytest --wick [--wick-slow SECONDS] [--wick-folder DIR]
"""
import os
import re
import time

import pytest

SLOWEST = 5
LONGEST_NAME = 120


def pytest_addoption(parser):
    group = parser.getgroup("wick", "wick, the profiler")
    group.addoption("--wick", action="store_true", help="record the tests, and write a profile of each slow one")
    group.addoption("--wick-slow", type=float, default=1.0, metavar="SECONDS",
                    help="with --wick: tests that take this long get a profile (default: 1.0)")
    group.addoption("--wick-folder", default="wick-profiles", metavar="DIR",
                    help="with --wick: where to write the profiles (default: wick-profiles)")


def pytest_configure(config):
    config.addinivalue_line("markers", "limit_memory(size): fail the test if more than this much Python memory, such "
                                       "as '24 MB', is allocated at a time")
    config.addinivalue_line("markers", "limit_leaks(size, warmups=0): fail the test if it leaves more than this much "
                                       "Python memory behind; run it warmups times before, to fill caches")
    if config.getoption("--wick"):
        config.pluginmanager.register(SlowTests(config), "wick-slow-tests")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item):
    """Checks limits where the test itself runs: the memory of fixtures and of pytest does not count."""
    markers = [item.get_closest_marker(name) for name in ("limit_memory", "limit_leaks")]
    if any(markers):
        from . import _pytest_limits  # pylint: disable=import-outside-toplevel
        _pytest_limits.limit(item, *markers)


class SlowTests:
    """One recording of all tests. A profile of a test is the part of it during which the test ran.

    Under xdist the tests run in workers: each records its own, and sends its rows to the controller.
    """

    def __init__(self, config):
        self.slow_seconds = config.getoption("--wick-slow")
        self.folder = config.getoption("--wick-folder")
        self.collect_only = config.getoption("collectonly", False)
        self.config = config
        worker = getattr(config, "workerinput", {}).get("workerid")
        self.path = os.path.join(self.folder, f"session-{worker}.wick" if worker else "session.wick")
        self.tests = []  # (seconds, name, start and end in ns of the time of day)
        self.rows = []  # (seconds, name, hottest function, path)
        self.problem = None

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtestloop(self, session):  # pylint: disable=unused-argument
        if self.config.pluginmanager.hasplugin("dsession"):
            self.path = os.path.join(self.folder, "session-*.wick")
            yield
            return
        if self.collect_only:
            yield
            return
        import wick  # pylint: disable=import-outside-toplevel
        try:
            os.makedirs(self.folder, exist_ok=True)
            recording = wick.profile(self.path).start()
        except (wick.WickError, ImportError, OSError) as error:
            raise pytest.UsageError(f"--wick: {error}") from error
        yield
        try:
            recording.stop()
            self.write_profiles(wick)
        except wick.WickError as error:
            self.problem = str(error)
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["wick"] = (self.rows, self.problem)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node, error):  # pylint: disable=unused-argument
        rows, problem = getattr(node, "workeroutput", {}).get("wick", ([], None))
        self.rows = sorted([*self.rows, *map(tuple, rows)], reverse=True)
        self.problem = self.problem or problem

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        start_ns, start = time.time_ns(), time.perf_counter()
        yield
        seconds = time.perf_counter() - start
        self.tests.append((seconds, item.nodeid, start_ns, start_ns + round(seconds * 1e9)))

    def write_profiles(self, wick):
        begin_ns = wick.load_profile(self.path)._start_ns
        taken = set()
        for seconds, name, start_ns, end_ns in sorted(self.tests, reverse=True):
            if seconds < self.slow_seconds:
                break
            profile = wick.load_profile(self.path, start=max(0, start_ns - begin_ns) / 1e9,
                                        end=max(1, end_ns - begin_ns) / 1e9)
            stem = os.path.join(self.folder, file_name(name, taken))
            profile.export("pprof", f"{stem}.pb.gz")
            profile.flame_graph(f"{stem}.html", title=name)
            self.rows.append((seconds, name, hottest(profile), f"{stem}.html"))

    def pytest_terminal_summary(self, terminalreporter):
        if self.collect_only:
            return
        terminalreporter.section("slow tests")
        if self.problem:
            terminalreporter.write_line(f"wick: {self.problem}", red=True)
        for seconds, name, function, path in self.rows[:SLOWEST]:
            terminalreporter.write_line(f"{seconds:8.2f} s  {name}")
            terminalreporter.write_line(f"{'':12}{function}; {path}")
        if not self.rows and not self.problem:
            terminalreporter.write_line(f"no test took {self.slow_seconds:g} s or longer; all tests: {self.path}")
        elif self.rows:
            more = f"{len(self.rows) - SLOWEST} more profiles in {self.folder}; " if len(self.rows) > SLOWEST else ""
            terminalreporter.write_line(f"{more}all tests: {self.path}")


def file_name(name, taken):
    """A file name for a test that no other test has."""
    stem = re.sub(r"[^\w.\[\]=-]+", "-", name).strip("-.")[:LONGEST_NAME]
    found, number = stem, 2
    while found in taken:
        found, number = f"{stem}-{number}", number + 1
    taken.add(found)
    return found


def hottest(profile):
    """The function with the most time of its own, in words."""
    functions = profile.functions()
    whole = profile.totals[profile.main_value.name]
    if not functions or whole <= 0:
        return "it used no CPU"
    return f"{100 * functions[0].self_value / whole:.0f} % in {functions[0].name}"

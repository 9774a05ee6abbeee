# SPDX-License-Identifier: BSD-2-Clause
"""Runs the real program on the workloads of tests/workloads, whose correct results are known.

WICK names the program (default: build/wick), WICK_BUILD the build folder. Tests that the
machine cannot run are skipped with a reason.
"""
import ctypes
import errno
import json
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import sys
import time

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parent.parent)]
import contract  # noqa: E402
import inherited  # noqa: E402
from stolen_time import nobodys_ns  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("WICK_BUILD") or ROOT / "build")
WICK = pathlib.Path(os.environ.get("WICK") or BUILD / "wick")
LIBRARY = BUILD / "libwick-preload.so"
WORKLOADS = BUILD / "tests/workloads"
LONG = bool(os.environ.get("WICK_LONG"))
# How many times longer than elsewhere starting a program takes: emulated machines.
PATIENCE = int(os.environ.get("WICK_PATIENCE") or 1)
# Tables in the user's own cache may be of another version of the compiler.
os.environ["XDG_CACHE_HOME"] = str(BUILD / "test-cache")
# What was started by these tests and not by others that run beside them.
os.environ["WICK_TESTS"] = str(os.getpid())
TIMEOUT = 60


def perf_events_refusal():
    """Why this process may not count its own CPU clock, or None."""
    number = {"x86_64": 298, "aarch64": 241}.get(platform.machine())
    if number is None:
        return f"unknown machine {platform.machine()}"
    # struct perf_event_attr: type software, size, config cpu-clock, exclude_kernel.
    attr = (ctypes.c_uint32 * 32)(1, 128, 0, 0)
    attr[10] = 1 << 0 | 1 << 5
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(number, ctypes.byref(attr), 0, -1, -1, 8)
    if fd < 0:
        return os.strerror(ctypes.get_errno() or errno.EPERM)
    os.close(fd)
    return None


REFUSAL = perf_events_refusal()


def pytest_configure(config):
    inherited.restore_signals()
    config.addinivalue_line("markers", "perf: needs perf events")
    config.addinivalue_line("markers", "root: needs root")
    config.addinivalue_line("markers", "long: only in make test-long")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("perf") and REFUSAL:
            item.add_marker(pytest.mark.skip(reason=f"perf events are refused here: {REFUSAL}"))
        if item.get_closest_marker("root") and os.geteuid() != 0:
            item.add_marker(pytest.mark.skip(reason="needs root"))
        if item.get_closest_marker("long") and not LONG:
            item.add_marker(pytest.mark.skip(reason="long: runs in make test-long"))


def workload(name, *args):
    """The command of a workload."""
    path = WORKLOADS / name
    if not path.exists():
        pytest.skip(f"workload {name} was not built")
    return [str(path), *map(str, args)]


class Recording:
    """A .wick file and how its recording went."""

    def __init__(self, wick, path, process):
        self.wick = wick
        self.path = path
        self.status = process.returncode
        self.stdout = process.stdout
        self.stderr = process.stderr

    @property
    def truth(self):
        """What the workload reported about itself."""
        return json.loads(self.stdout.strip().splitlines()[-1])

    def report(self, *options):
        return self.wick.json("report", self.path, "--format", "json", *options)

    def info(self, *options):
        return self.wick.json("info", self.path, "--format", "json", *options)

    def folded(self, *options):
        """[(frames from the root, count)]"""
        text = self.wick.ok("export", self.path, "--format", "folded", *options).stdout
        stacks = []
        for line in text.splitlines():
            stack, _, count = line.rpartition(" ")
            stacks.append((stack.split(";"), int(count)))
        return stacks


class Wick:
    """The program under test."""

    def __init__(self, folder):
        self.folder = folder
        self.count = 0
        self.started = []
        self.pids = set()  # of all that were started

    def run(self, *args, timeout=TIMEOUT, prefix=(), **options):
        given = options.pop("input", None)
        options.setdefault("stdin", subprocess.DEVNULL if given is None else subprocess.PIPE)
        with subprocess.Popen([*prefix, str(WICK), *map(str, args)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, cwd=self.folder, **options) as process:
            self.pids.add(process.pid)
            try:
                out, err = process.communicate(given, timeout)
            except BaseException:
                process.kill()
                raise
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def ok(self, *args, **options):
        done = self.run(*args, **options)
        assert done.returncode == 0, f"wick {' '.join(map(str, args))}:\n{done.stderr}"
        return done

    def json(self, *args):
        return json.loads(self.ok(*args).stdout)

    def start(self, *args, **options):
        """Starts wick in the background, in a process group of its own."""
        options.setdefault("stdin", subprocess.DEVNULL)
        process = subprocess.Popen([str(WICK), *map(str, args)], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, cwd=self.folder,
                                   start_new_session=True, **options)
        self.started.append(process)
        self.pids.add(process.pid)
        return process

    def end(self):
        """Ends what a failed test has left running, with its children."""
        for process in self.started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def new_path(self):
        self.count += 1
        return self.folder / f"{self.count}.wick"

    def record(self, command, *options, status=0, **kwargs):
        """Records a command until it ends; status=None accepts any."""
        path = self.new_path()
        before_ns = nobodys_ns()
        done = self.run("record", *options, "-o", path, "--", *command, **kwargs)
        if status is not None:
            assert done.returncode == status, f"status {done.returncode}:\n{done.stderr}"
        recording = Recording(self, path, done)
        recording.outside_ns = nobodys_ns() - before_ns
        return recording

    def record_together(self, jobs):
        """{name: recording} of {name: (command, *options)}, made at the same time."""
        started = {}
        for name, (command, *options) in jobs.items():
            path = self.new_path()
            started[name] = path, self.start("record", *options, "-o", path, "--", *command)
        made = {}
        for name, (path, process) in started.items():
            process.stdout, process.stderr = process.communicate(timeout=TIMEOUT)
            assert process.returncode == 0, f"{name}: {process.stderr}"
            made[name] = Recording(self, path, process)
        return made

    def attach(self, *options, status=0, **kwargs):
        """Records something that is already running (-p, -t, -a, -d in options)."""
        path = self.new_path()
        done = self.run("record", *options, "-o", path, **kwargs)
        if status is not None:
            assert done.returncode == status, f"status {done.returncode}:\n{done.stderr}"
        return Recording(self, path, done)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The library under a name without spaces, which LD_PRELOAD requires, with the tool next to it."""
    folder = tmp_path_factory.mktemp("installed")
    for path in (LIBRARY, WICK):
        (folder / path.name).symlink_to(path.resolve())
    return folder / LIBRARY.name


@pytest.fixture(scope="session")
def wick_exists():
    if not WICK.exists():
        pytest.fail(f"{WICK} is not built")


@pytest.fixture
def wick(wick_exists, tmp_path):
    program = Wick(tmp_path)
    yield program
    program.end()


@pytest.fixture(scope="module")
def shared_wick(wick_exists, tmp_path_factory):
    """A folder for recordings that several tests of a module share."""
    program = Wick(tmp_path_factory.mktemp("shared"))
    yield program
    program.end()


@pytest.fixture
def background():
    """Starts programs that are ended after the test."""
    started = []

    def start(command, **options):
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stdin", subprocess.DEVNULL)
        process = subprocess.Popen(command, text=True, **options)
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


@pytest.fixture
def as_nobody(tmp_path):
    """The prefix that runs a command as the user nobody; needs root and setpriv.

    tmp_path is opened to that user, parents included.
    """
    if os.geteuid() != 0:
        pytest.skip("needs root to become another user")
    if not shutil.which("setpriv"):
        pytest.skip("setpriv is not installed")
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == 0 and str(folder).startswith("/tmp/"):
            folder.chmod(0o777 if folder == tmp_path else 0o755)
    prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    reachable = subprocess.run([*prefix, "test", "-x", str(WICK)], check=False).returncode == 0
    if not reachable:
        pytest.skip(f"user nobody cannot reach {WICK}")
    return prefix


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 64 KB."""
    folder = tmp_path / "small"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"cannot mount a small file system: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


CLOCK_SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	static int (*real)(clockid_t, struct timespec *);
	long offset = 0;
	FILE *file;
	int r;

	if (!real)
		real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	r = real(clock, ret);
	if (clock != CLOCK_REALTIME)
		return r;
	file = fopen(getenv("CLOCK_OFFSET"), "r");
	if (file && fscanf(file, "%ld", &offset) == 1)
		ret->tv_sec += offset;
	if (file)
		fclose(file);
	return r;
}
"""


@pytest.fixture
def clock(tmp_path):
    """A clock that can be set, for programs with this environment."""
    compiler = shutil.which("cc")
    if not compiler:
        pytest.skip("there is no compiler for a clock that can be set")
    (tmp_path / "clock.c").write_text(CLOCK_SOURCE)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", tmp_path / "clock.so", tmp_path / "clock.c", "-ldl"], check=True,
                   timeout=TIMEOUT)
    offset = tmp_path / "offset"
    offset.write_text("0")

    class Clock:
        env = {"LD_PRELOAD": str(tmp_path / "clock.so"), "CLOCK_OFFSET": str(offset)}

        @staticmethod
        def step(seconds):
            fresh = tmp_path / "offset.new"
            fresh.write_text(str(seconds))
            fresh.rename(offset)

    return Clock


@pytest.fixture
def cgroup():
    """The folder of a new control group."""
    mounts = pathlib.Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
    roots = [line.split()[1] for line in mounts if line.split()[2] == "cgroup2"]
    if not roots:
        pytest.skip("no cgroup2 is mounted")
    folder = pathlib.Path(roots[0]) / f"wick-test-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made: {error}")
    yield folder
    wait_for(lambda: not (folder / "cgroup.procs").read_text(encoding="ascii").split(),
             what="an empty group")
    folder.rmdir()


def wait_for(condition, seconds=10, what="condition"):
    """Polls until condition() is true and returns its value."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    pytest.fail(f"{what} did not come true within {seconds} s")


def state_of(pid):
    """The letter of /proc/PID/stat: R, S, T, Z ..."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def children_of(pid):
    try:
        return [int(word) for word in
                pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def has_events(pid):
    """Whether a process has opened events for sampling."""
    def target(link):
        try:
            return os.readlink(link)
        except OSError:
            return ""

    return any("perf_event" in target(link) for link in pathlib.Path(f"/proc/{pid}/fd").iterdir())


def state_of_recorder(wick, pid):
    """What wick status says about the recorder of a process, or about a recorder; None: there is none."""
    done = wick.run("status", pid, "--format", "json")
    return json.loads(done.stdout)[0] if done.returncode == 0 else None


def wait_for_samples(wick, pid, more_than=20):
    """Waits until the recorder of a process has samples, however busy the machine is."""
    def has_enough():
        state = state_of_recorder(wick, pid)
        return state if state and state["samples"] > more_than else None

    return wait_for(has_enough, 30 * PATIENCE, f"more than {more_than} samples of {pid}")


def says(process, key):
    """Whether stderr holds one of the words of a message of the contract."""
    text = process.stderr.lower()
    return any(word in text for word in contract.MESSAGES[key])


def assert_short_message(process, key):
    assert says(process, key), process.stderr
    own = [line for line in process.stderr.splitlines() if line.strip()]
    assert len(own) <= 3, f"a message has one or two lines:\n{process.stderr}"
    assert process.stderr.startswith("wick: "), process.stderr


def thread_names(pid):
    """The names that the threads of a process have set so far."""
    names = set()
    for tid in os.listdir(f"/proc/{pid}/task"):
        names.add(pathlib.Path(f"/proc/{pid}/task/{tid}/comm").read_text(encoding="utf-8").strip())
    return names

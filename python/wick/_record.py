# SPDX-License-Identifier: BSD-2-Clause
"""Record this process or another one. The work is done by _recorder.py, in a process of its own."""
from __future__ import annotations

import ctypes
import functools
import inspect
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
import weakref
from typing import Any, Callable, Dict, Optional, Set, Tuple

from . import _library
from ._errors import WickError, WickValueError, failure
from ._profile import Path, Profile

MODES = ("cpu", "wall", "offcpu")
# Limits, so that nothing hangs when a machine is stuck; usually each step takes a fraction of a second.
START_SECONDS = 60
STOP_SECONDS = 60
_PR_SET_PTRACER = 0x59616D61
_CODE = "import sys; sys.path.insert(0, sys.argv[1]); from wick._recorder import main; main(sys.argv[2])"


def _interpreter() -> str:
    """A Python that can run the recorder. A program that embeds Python cannot run it."""
    own = None if getattr(sys, "frozen", False) else sys.executable
    found = os.environ.get("WICK_PYTHON") or own or shutil.which("python3")
    if found:
        return found
    raise WickError("there is no Python interpreter to run the recorder",
                    "set WICK_PYTHON to the path of a python3 program")


def _request(pid: int, output: str, duration: Optional[float], frequency: Optional[int], mode: str,
             engine: Optional[str], children: bool) -> Dict[str, Any]:
    if mode not in MODES:
        raise WickValueError(f"unknown mode {mode!r}", f"use one of: {', '.join(MODES)}")
    if duration is not None and duration <= 0:
        raise WickValueError(f"invalid duration: {duration} s", "use a positive number of seconds, or None")
    return {"pid": pid, "output": os.path.abspath(output), "frequency": frequency or 0, "mode": MODES.index(mode),
            "engine": engine, "children": children,
            "duration_ns": 0 if duration is None else max(1, round(duration * 1e9)),
            "library": _library.load()._name}


def _allow_tracing(pid: int) -> None:
    """Yama lets a process look into another's memory only if it is an ancestor, or is named like this."""
    # Without Yama the call fails, and is not needed.
    ctypes.CDLL(None).prctl(_PR_SET_PTRACER, ctypes.c_ulong(pid), 0, 0, 0)


def _open_process(pid: int) -> int:
    """A descriptor of a process, or -1 where the kernel or Python is too old for it."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return -1


def _stuck(what: str) -> WickError:
    return WickError(f"the recorder did not {what} in time",
                     "the machine may be overloaded; the file keeps what was written until then")


class _Recorder:
    """A running recorder, seen from the process that started it."""

    def __init__(self, request: Dict[str, Any]) -> None:
        self._own = request["pid"] == os.getpid()
        self._lines = b""
        self._pid = 0
        self._pid_fd = -1
        self._control, theirs = socket.socketpair()
        self._started, writable = os.pipe()
        try:
            self._launch({**request, "control": theirs.fileno(), "started": writable},
                         (theirs.fileno(), writable))
            theirs.close()
            os.close(writable)
            writable = -1
            self._begin()
        except BaseException:
            self._kill()
            raise
        finally:
            theirs.close()
            if writable >= 0:
                os.close(writable)

    @staticmethod
    def _launch(request: Dict[str, Any], descriptors: Tuple[int, int]) -> None:
        folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        # Standard error is for people who set WICK_LOG to see what wick does.
        process = subprocess.Popen(  # pylint: disable=consider-using-with
            [_interpreter(), "-I", "-S", "-c", _CODE, folder, json.dumps(request)], pass_fds=descriptors,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=None if os.environ.get("WICK_LOG") else subprocess.DEVNULL, start_new_session=True, cwd="/")
        try:
            status = process.wait(START_SECONDS)  # it leaves the recorder behind at once
        except BaseException as why:
            process.kill()
            process.wait()
            if isinstance(why, subprocess.TimeoutExpired):
                raise _stuck("start") from None
            raise
        if status != 0:
            raise WickError(f"{_interpreter()} cannot run the recorder: exit status {status}",
                            "set WICK_PYTHON to the path of a python3 program; WICK_LOG=debug shows its messages")

    def _begin(self) -> None:
        """Waits until sampling has started."""
        deadline = time.monotonic() + START_SECONDS
        self._pid = self._answer(deadline)["pid"]
        self._pid_fd = _open_process(self._pid)
        if self._own:
            _allow_tracing(self._pid)
        self._control.sendall(b"g")
        if not self._wait(deadline, self._started):
            raise _stuck("start")
        if not os.read(self._started, 8):
            self._raise(self._answer(deadline))
        os.close(self._started)
        self._started = -1

    @staticmethod
    def _wait(deadline: Optional[float], descriptor: int) -> bool:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        rest = None if deadline is None else max(0, deadline - time.monotonic()) * 1000
        return bool(poll.poll(rest))

    def _answer(self, deadline: Optional[float]) -> Dict[str, Any]:
        """The next line of the recorder. A recorder that has died gives an end of file, so this never hangs."""
        while b"\n" not in self._lines:
            if not self._wait(deadline, self._control.fileno()):
                raise _stuck("answer")
            try:
                data = self._control.recv(65536)
            except ConnectionError:
                data = b""
            if not data:
                raise WickError("the recorder ended without a result",
                                "set WICK_LOG=debug to see why; the file keeps what was written until then")
            self._lines += data
        line, _, self._lines = self._lines.partition(b"\n")
        answer: Dict[str, Any] = json.loads(line)
        return answer

    @staticmethod
    def _raise(answer: Dict[str, Any]) -> None:
        if answer["code"]:
            raise failure(answer["code"], answer["text"], answer["remedy"])

    def stop(self) -> None:
        """Ends the recording, and waits until the file is complete."""
        try:
            self._control.sendall(b"s")
        except OSError:
            pass  # it has ended already, and its answer is waiting
        try:
            self.wait(STOP_SECONDS)
        except KeyboardInterrupt:  # the user does not want to wait
            self._kill()
            raise

    def wait(self, seconds: Optional[float] = None) -> None:
        """Waits for the end of the recording; an interrupt leaves it running."""
        try:
            answer = self._answer(None if seconds is None else time.monotonic() + seconds)
        except WickError:
            self._kill()
            raise
        self._end()
        self._raise(answer)

    def _kill(self) -> None:
        """Ends a recorder that we do not want to wait for."""
        if self._pid_fd >= 0:
            try:
                signal.pidfd_send_signal(self._pid_fd, signal.SIGKILL)
            except OSError:
                pass  # it has ended
        self._end()

    def _end(self) -> None:
        if self._own:
            _allow_tracing(0)
        self._reap()
        self.close()

    def _reap(self) -> None:
        """Process 1 of a container inherits orphans, the recorder too: it must not become a zombie there."""
        try:
            if self._pid and os.waitpid(self._pid, os.WNOHANG)[0] == 0 and self._pid_fd >= 0:
                self._wait(time.monotonic() + STOP_SECONDS, self._pid_fd)
                os.waitpid(self._pid, os.WNOHANG)
        except ChildProcessError:
            pass  # not ours, as usual

    def close(self) -> None:
        """Closes our ends, and nothing else: the recorder of a parent must not notice."""
        self._control.close()
        for name in ("_started", "_pid_fd"):
            if getattr(self, name) >= 0:
                os.close(getattr(self, name))
                setattr(self, name, -1)


class _TemporaryFile:
    """A file that goes away when the last profile of it does."""

    def __init__(self) -> None:
        descriptor, self.path = tempfile.mkstemp(prefix="wick-", suffix=".wick")
        os.close(descriptor)
        self._finalizer = weakref.finalize(self, self._remove, self.path, os.getpid())

    @staticmethod
    def _remove(path: str, pid: int) -> None:
        if os.getpid() != pid:
            return  # a forked child: the file belongs to its parent
        try:
            os.unlink(path)
        except OSError:
            pass


# A recording that was started goes on until the process ends, even if nobody holds it any more.
_running: Set["Recording"] = set()
_recordings: "weakref.WeakSet[Recording]" = weakref.WeakSet()


def _after_fork() -> None:
    _running.clear()
    for recording in list(_recordings):
        recording._abandon()


os.register_at_fork(after_in_child=_after_fork)


class Recording:
    """A recording of this process: profile() makes it. A context manager, and a decorator.

    path     the file
    profile  the Profile, once the recording has ended
    """

    def __init__(self, output: Optional[Path] = None, **options: Any) -> None:
        self._temporary = _TemporaryFile() if output is None else None
        self.path: str = os.fsdecode(output) if output is not None else self._temporary.path  # type: ignore[union-attr]
        self._options = options
        self._recorder: Optional[_Recorder] = None
        self._profile: Optional[Profile] = None
        self._depth = 0
        self._lock = threading.Lock()
        _request(os.getpid(), self.path, None, **self._options)  # wrong arguments fail here, not in a with
        _recordings.add(self)

    def start(self) -> "Recording":
        """Starts recording. If this object is recording already, stop() has to be called once more."""
        with self._lock:
            self._depth += 1
            if self._depth > 1:
                return self
            try:
                self._profile = None
                self._recorder = _Recorder(_request(os.getpid(), self.path, None, **self._options))
            except BaseException:
                self._depth = 0
                raise
            _running.add(self)
        return self

    def stop(self) -> None:
        """Ends the recording, when called as often as start(). Does nothing in a forked child: the parent records."""
        with self._lock:
            if self._depth == 0:
                return
            self._depth -= 1
            if self._depth > 0:
                return
            _running.discard(self)
            recorder, self._recorder = self._recorder, None
            if recorder:
                recorder.stop()

    def _abandon(self) -> None:
        """In a forked child: the recorder is the parent's, and another thread may have held the lock."""
        self._lock = threading.Lock()
        recorder, self._recorder = self._recorder, None
        self._depth = 0
        if recorder:
            recorder.close()

    @property
    def profile(self) -> Profile:
        if self._depth > 0:
            raise WickError("the recording has not ended yet", "ask for the profile after the with block, or stop()")
        if self._profile is None:
            self._profile = Profile(self.path, _keeps=self._temporary)
        return self._profile

    def __enter__(self) -> "Recording":
        return self.start()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            self.stop()
        except WickError as why:
            if kind is None:
                raise
            # The exception of the block is the more important one.
            warnings.warn(f"the recording failed: {why}", RuntimeWarning, stacklevel=2)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Records every call of a function. Each call replaces the file; nested calls are part of the outer one."""
        if inspect.iscoroutinefunction(function):
            @functools.wraps(function)
            async def wrapper(*args: Any, **kwargs: Any) -> Any:
                with self:
                    return await function(*args, **kwargs)
        elif inspect.isgeneratorfunction(function):
            @functools.wraps(function)
            def wrapper(*args: Any, **kwargs: Any) -> Any:
                with self:
                    return (yield from function(*args, **kwargs))
        else:
            @functools.wraps(function)
            def wrapper(*args: Any, **kwargs: Any) -> Any:
                with self:
                    return function(*args, **kwargs)
        return wrapper

    def __repr__(self) -> str:
        return f"<wick.Recording to {self.path}{': running' if self._depth else ''}>"


def profile(output: Optional[Path] = None, *, frequency: Optional[int] = None, mode: str = "cpu",
            engine: Optional[str] = None, children: bool = True) -> Recording:
    """Records this process: all its threads, and the processes it starts.

        with wick.profile("out.wick"):
            work()

        @wick.profile("out.wick")
        def work(): ...

        with wick.profile() as recording:
            work()
        recording.profile.functions()

    output     the file to write; an existing one is replaced. None: a temporary file
    frequency  samples per second for each thread, 10 to 10000; None: 997
    mode       "cpu": time on a CPU; "wall": all time; "offcpu": time asleep or waiting for a CPU
    engine     how to sample, such as "perf"; None: the best that works here
    children   False leaves out processes that are started during the recording

    The body of the with statement runs once sampling has started; the statement ends when the file is complete.
    A failure to record raises WickError.
    """
    return Recording(output, frequency=frequency, mode=mode, engine=engine, children=children)


def profile_function(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Tuple[Any, Profile]:
    """Calls function(*args, **kwargs) and records it. Returns its result and the profile.

    To choose options, or to keep the file, use profile() as a decorator or context manager.
    """
    with Recording(frequency=None, mode="cpu", engine=None, children=True) as recording:
        result = function(*args, **kwargs)
    return result, recording.profile


def profile_process(pid: int, duration: Optional[float] = None, output: Optional[Path] = None, *,
                    frequency: Optional[int] = None, mode: str = "cpu", engine: Optional[str] = None,
                    children: bool = True) -> Profile:
    """Records a running process for a number of seconds, or until it ends. Returns its profile.

    output keeps the recording in a file; the other options are those of profile(). It needs the same permissions
    as wick record -p, see wick doctor. Ctrl-C ends the recording, and raises KeyboardInterrupt as usual; the
    output then has what was recorded.
    """
    temporary = _TemporaryFile() if output is None else None
    path = temporary.path if temporary else os.fsdecode(output)  # type: ignore[arg-type]
    recorder = _Recorder(_request(pid, path, duration, frequency, mode, engine, children))
    try:
        recorder.wait(None if duration is None else duration + STOP_SECONDS)
    except KeyboardInterrupt:
        recorder.stop()
        raise
    return Profile(path, _keeps=temporary)

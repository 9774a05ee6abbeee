# SPDX-License-Identifier: BSD-2-Clause
"""Leak scans: the same classes as memcheck, to the byte, and programs do not notice the scan."""
import os
import re
import shutil
import signal
import subprocess
import xml.etree.ElementTree

import contract
import pytest
from conftest import TIMEOUT, children_of, wait_for, workload

KINDS = {"Leak_DefinitelyLost": "definite", "Leak_IndirectlyLost": "indirect",
         "Leak_PossiblyLost": "possible", "Leak_StillReachable": "reachable"}
CASES = ("lost global tls inside xor mapping list ring tree held moved freed large sleeping ended "
         "register").split()
IN_USE = ("reachable", "lifetime")  # by when it was allocated


def found(wick, path):
    """{class: [bytes, blocks]} of a recording; probable is definite for memcheck."""
    sums = {kind: [0, 0] for kind in KINDS.values()}
    told = wick.json("leaks", path, "--format", "json")["sums"]
    for kind in (*sums, "probable"):
        name = "definite" if kind == "probable" else kind
        sums[name] = [sums[name][0] + told[kind]["bytes"], sums[name][1] + told[kind]["blocks"]]
    return sums


def recorded(wick, command):
    path = wick.new_path()
    stderr = wick.ok("heap", "-q", "--leaks", "-o", path, "--", *command).stderr
    assert not stderr.startswith("wick: ")  # there is the report, and no summary
    return path


def start_memcheck(command, path):
    return subprocess.Popen(
        ["valgrind", "-q", "--leak-check=full", "--show-leak-kinds=all", "--run-libc-freeres=no",
         "--run-cxx-freeres=no", "--xml=yes", f"--xml-file={path}", *command],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def memcheck(path):
    sums = {kind: [0, 0] for kind in KINDS.values()}
    for error in xml.etree.ElementTree.parse(path).getroot().iter("error"):
        kind = KINDS.get(error.findtext("kind"))
        if not kind:
            continue
        text = error.findtext("xwhat/text")
        size = int((re.search(r"\(([\d,]+) direct", text) or re.search(r"([\d,]+) bytes", text))[1]
                   .replace(",", ""))
        blocks = int(error.findtext("xwhat/leakedblocks"))
        functions = [frame.findtext("fn") for frame in error.iter("frame")]
        if "allocate_dtv" in functions or "_dl_resize_dtv" in functions:
            size += 16 * blocks  # our library has memory of threads too: an entry more
        sums[kind] = [sums[kind][0] + size, sums[kind][1] + blocks]
    return sums


def test_classes_are_those_of_memcheck_byte_for_byte(wick):
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    commands = [workload("leaks", *CASES), workload("leaks", "plugin", "closed"), workload("leaks_cpp"),
                workload("leaks", "lost", "err"), workload("leaks", "frame"), workload("leaks", "frame", "exit"),
                workload("leaks", "waiting")]
    running = [start_memcheck(command, wick.folder / f"{i}.xml") for i, command in enumerate(commands)]
    ours = [found(wick, recorded(wick, command)) for command in commands]
    for process in running:
        assert process.wait(TIMEOUT) == 0
    theirs = [memcheck(wick.folder / f"{i}.xml") for i in range(len(commands))]
    assert ours[0] == theirs[0]
    assert ours[2:] == theirs[2:]
    # The loader knows a block of its own by the next address that 128 divides: that depends on
    # where the block lies.
    for kind in ("definite", "indirect"):
        assert ours[1][kind] == theirs[1][kind]
    assert [sum(pair) for pair in zip(ours[1]["possible"], ours[1]["reachable"])] == \
        [sum(pair) for pair in zip(theirs[1]["possible"], theirs[1]["reachable"])]


def lost_and_found(wick, *cases, status=0):
    """The result of a scan at the end; the program may be refused what it needs (77)."""
    path = wick.new_path()
    process = wick.run("heap", "-q", "--fail-on", "definite", "-o", path, "--", *workload("leaks", *cases))
    if process.returncode == 77:
        pytest.skip("this machine does not give the program what it needs")
    assert process.returncode == status, process.stderr
    return wick.json("leaks", path, "--all", "--format", "json")


def amounts(told, kind):
    return [told["sums"][kind]["bytes"], told["sums"][kind]["blocks"]]


@pytest.mark.parametrize("cases, lost", ((["frame"], [2003, 1]), (["closed", "frame"], [1601 + 2003, 2]),
                                         (["overwritten", "exit"], [2003, 1])))
def test_what_only_frames_that_are_gone_hold_is_lost(wick, cases, lost):
    """A gate trips: nobody returns to a stack below the end of the program."""
    told = lost_and_found(wick, *cases, status=3)
    assert amounts(told, "definite") == lost and amounts(told, "probable") == [0, 0]


def test_frames_of_a_program_that_calls_exit_hold_what_they_hold(wick):
    told = lost_and_found(wick, "frame", "exit")
    assert [2003, 1] == amounts(told, "reachable") and amounts(told, "definite") == [0, 0]


def test_what_a_thread_is_given_that_has_not_begun_is_no_leak(wick):
    told = lost_and_found(wick, "waiting")
    held = [leak for leak in told["leaks"] if leak["bytes"] == 1901]
    assert [leak["class"] in IN_USE for leak in held] == [True]


def test_what_the_c_library_frees_when_threads_are_over_is_seen(wick):
    """Buffers of dlerror(), and what belongs to stacks that it does not keep."""
    told = lost_and_found(wick, "detached", "detached")
    assert told["lost_calls"] == 0 and not told["misuses"]
    for kind in ("definite", "indirect", "probable"):
        assert amounts(told, kind) == [0, 0]


def test_vector_registers_are_looked_at(wick):
    told = lost_and_found(wick, "vector")
    held = [leak for leak in told["leaks"] if leak["bytes"] == 2111]
    assert [leak["class"] in IN_USE for leak in held] == [True]
    # On a busy machine, it may be allocated early in the run: that is evidence, too.
    assert [why for why in held[0]["evidence"] if "run" not in why] == ["a pointer is in a register"]


def test_memory_that_was_never_touched_is_not_read(wick):
    """4 GiB of it, with two pointers: they are found."""
    told = lost_and_found(wick, "sparse")
    assert told["scans"][0]["read_bytes"] < 1 << 30 and told["scans"][0]["unread_bytes"] == 0
    assert [4410, 2] == amounts(told, "reachable")


def test_modules_that_go_at_once_are_known_by_their_names(wick):
    """Each of four modules is loaded ten times in the place of another, loses a block, and is unloaded.

    What it loses is one row, also where stacks were cut off because rules for them had not come yet.
    """
    workload("leaky_plugin_0.so")
    path = recorded(wick, workload("plugins", 10))
    lost = {}
    rows = set()
    for leak in wick.json("leaks", path, "--format", "json")["leaks"]:
        if leak["class"] in ("definite", "probable"):
            name = leak["function_name"]
            assert (name, leak["class"]) not in rows
            rows.add((name, leak["class"]))
            lost[name] = lost.get(name, 0) + leak["bytes"]
            assert leak["module"].endswith(name.replace("leak_", "/leaky_plugin_") + ".so")
    assert lost == {"leak_0": 10090, "leak_1": 20030, "leak_2": 30010, "leak_3": 40010}


def test_a_scan_on_demand_leaves_no_trace(wick):
    path = wick.new_path()
    recorder = wick.start("heap", "--leaks", "-o", path, "--",
                          *workload("leaks", "lost", "list", "wait"), stdin=subprocess.PIPE)
    assert recorder.stdout.readline() == "waiting\n"
    pid = wait_for(lambda: children_of(recorder.pid), what="a program")[0]
    for _ in range(3):
        assert "the result is in" in wick.ok("heap", "--scan", "-p", pid).stderr
    out, _ = recorder.communicate("", timeout=TIMEOUT)
    assert recorder.returncode == 0 and out == "alone\n"
    assert found(wick, path)["definite"] == [149, 2] and found(wick, path)["indirect"] == [912, 19]


class Scanned:
    """A program with enough blocks that a scan of it takes a moment."""

    def __init__(self, wick, mode):
        self.wick, self.path = wick, wick.new_path()
        self.recorder = wick.start("heap", "-q", "--leaks", "-o", self.path, "--", *workload("scanned", 400000, mode))
        assert self.recorder.stdout.readline() == "ready\n"
        self.pid = wait_for(lambda: children_of(self.recorder.pid), what="a program")[0]

    def begin_scan(self):
        """Returns the process that asks for the scan, and the copy that is scanned."""
        asks = self.wick.start("heap", "--scan", "-p", self.pid)
        return asks, wait_for(lambda: children_of(self.pid), what="a copy")[0]

    def end(self):
        os.kill(self.pid, signal.SIGTERM)
        self.recorder.communicate(timeout=TIMEOUT)
        assert self.recorder.returncode == 128 + signal.SIGTERM


def test_blocks_made_after_a_scan_are_no_leaks(wick):
    program = Scanned(wick, "keep")
    wick.ok("heap", "--scan", "-p", program.pid)
    program.end()
    assert found(wick, program.path)["definite"] == [0, 0]


def test_one_that_becomes_another_program_in_a_scan_goes_on(wick):
    program = Scanned(wick, "exec")
    asks, _ = program.begin_scan()
    os.kill(program.pid, signal.SIGUSR1)
    asks.communicate(timeout=TIMEOUT)
    with open(f"/proc/{program.pid}/comm", encoding="utf-8") as file:
        assert file.read() == "sleep\n"
    program.end()


def test_of_one_that_is_stopped_in_a_scan_no_copy_is_left(wick):
    program = Scanned(wick, "")
    asks, copy = program.begin_scan()
    os.kill(program.pid, signal.SIGSTOP)
    asks.communicate(timeout=TIMEOUT)
    assert "is stopped" in wick.run("heap", "--scan", "-p", program.pid).stderr
    os.kill(program.pid, signal.SIGCONT)
    wait_for(lambda: copy not in children_of(program.pid), what="an end of the copy")
    program.end()


def test_a_recorder_that_is_stopped_holds_no_program_at_its_end(wick, tmp_path):
    report = tmp_path / "ended"
    recorder = wick.start("heap", "--leaks", "-o", wick.new_path(), "--", "sh", "-c",
                          f"kill -STOP $PPID; '{workload('leaks')[0]}' lost global >/dev/null; echo >'{report}'")
    try:
        # Without it the program would be held for as long as the scan of a big one may take: 60 s.
        wait_for(report.exists, 30, what="the end of the program")
    finally:
        recorder.send_signal(signal.SIGCONT)
    assert recorder.communicate(timeout=TIMEOUT) and recorder.returncode == 0


def test_a_copy_that_is_killed_tells_nothing(wick):
    program = Scanned(wick, "")
    asks, copy = program.begin_scan()
    os.kill(copy, signal.SIGKILL)
    assert "ended while" in asks.communicate(timeout=TIMEOUT)[1] and asks.returncode == 1
    program.end()


def test_the_library_alone_says_what_was_lost(wick, library):
    environment = {**os.environ, "WICK_MODE": "heap", "WICK_LEAKS": "1", "WICK_OUT": str(wick.new_path()),
                   "LD_PRELOAD": str(library)}
    done = subprocess.run(workload("leaks", "lost", "global"), env=environment, capture_output=True, text=True,
                          timeout=TIMEOUT, check=False)
    assert done.returncode == 0
    assert "definite   101 B in 1 block:" in done.stderr and "reachable  211 B in 1 block:" in done.stderr


@pytest.mark.parametrize("options", (["--leaks", "--sample", "512K"], ["--leaks", "-o", "-"],
                                     ["--at-signal", "KILL"], ["--scan"], ["-p", "1"]))
def test_what_cannot_be_is_refused(wick, options):
    process = wick.run("heap", *options, "--", "true")
    assert process.returncode == contract.USAGE and process.stderr.count("\n") <= 2


def test_nobody_to_scan_is_said(wick):
    process = wick.run("heap", "--scan", "-p", os.getpid())
    assert process.returncode == 1 and "is not being recorded" in process.stderr
    assert f"wick heap -p {os.getpid()} --leaks -d 60" in process.stderr

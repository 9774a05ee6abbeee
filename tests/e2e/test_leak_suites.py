# SPDX-License-Identifier: BSD-2-Clause
"""The cases of LeakSanitizer's and memcheck's own tests; docs/reference/leak-suites.md lists them."""
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree

import pytest
from conftest import TIMEOUT, children_of, wait_for, workload

FOLDER = "/workloads/leak_suites/"
# What memcheck calls definite we call definite or probable; lifetime is a part of reachable.
OURS = {"definite": "definite", "probable": "definite", "indirect": "indirect", "possible": "possible",
        "reachable": "reachable", "lifetime": "reachable", "growth": "reachable"}
THEIRS = {"Leak_DefinitelyLost": "definite", "Leak_IndirectlyLost": "indirect",
          "Leak_PossiblyLost": "possible", "Leak_StillReachable": "reachable"}


def nothing():
    return {kind: [0, 0] for kind in THEIRS.values()}


def truth_of(text):
    """What the program reports about itself: the last line of its output."""
    return json.loads(text.strip().splitlines()[-1])


def case_of(frames, cases):
    """The case to which a stack, [(function, module)] from the allocation on, belongs, or None.

    What the C library asks for in the course of a case is not the case's own, what the C++ library
    does is."""
    while frames and "libstdc++" in frames[0][1]:
        frames = frames[1:]
    if not frames or FOLDER not in frames[0][1]:
        return None
    for name, module in frames:
        case = re.split(r"__|\(", name)[0]
        if case in cases and FOLDER in module:
            return case
    return None


def found(wick, path, cases):
    """{case: {class: [bytes, blocks]}} of a recording."""
    sums = {case: nothing() for case in cases}
    report = wick.json("leaks", path, "--all", "--format", "json")
    assert report["scanned"]
    for row in report["leaks"]:
        # Stacks of a row agree in four functions at least, and a case is one of those.
        case = case_of([(f["function_name"], f["module"]) for f in row["stacks"][0]["frames"]], cases)
        if case:
            amount = sums[case][OURS[row["class"]]]
            amount[0] += row["bytes"]
            amount[1] += row["blocks"]
    return sums


def recorded(wick, program, *cases):
    """What a program says of itself, and what a leak check has found."""
    path = wick.new_path()
    done = wick.ok("heap", "-q", "--leaks", "-o", path, "--", *workload(f"leak_suites/{program}", *cases))
    truth = truth_of(done.stdout)
    return truth, found(wick, path, truth)


class Memcheck:
    """A program that runs under memcheck."""

    def __init__(self, wick, program, *cases):
        self.path = wick.new_path().with_suffix(".xml")
        self.process = subprocess.Popen(
            ["valgrind", "-q", "--leak-check=full", "--show-leak-kinds=all", "--run-libc-freeres=no",
             "--run-cxx-freeres=no", "--keep-debuginfo=yes", "--fair-sched=try", "--xml=yes",
             f"--xml-file={self.path}.%p", *workload(f"leak_suites/{program}", *cases)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def found(self):
        """{case: {class: [bytes, blocks]}}, as found() has it."""
        out, _ = self.process.communicate(timeout=4 * TIMEOUT)
        assert self.process.returncode == 0
        sums = {case: nothing() for case in truth_of(out)}
        document = xml.etree.ElementTree.parse(f"{self.path}.{self.process.pid}")  # children have others
        for error in document.getroot().iter("error"):
            kind = THEIRS.get(error.findtext("kind"))
            frames = [(frame.findtext("fn") or "", frame.findtext("obj") or "") for frame in error.iter("frame")]
            case = kind and case_of(frames[1:], sums)  # the first is the allocator itself
            if not case:
                continue
            text = error.findtext("xwhat/text")
            size = re.search(r"\(([\d,]+) direct", text) or re.search(r"([\d,]+) bytes", text)
            sums[case][kind][0] += int(size[1].replace(",", ""))
            sums[case][kind][1] += int(error.findtext("xwhat/leakedblocks"))
        return sums


def differences(one, other):
    return {case: (one[case], other[case]) for case in one if one[case] != other[case]}


# Programs, and cases that need one to themselves; without a case: all that do not.
RUNS = [("shapes",), ("roots",), ("threads",), ("objects",), ("shapes_plain",), ("objects_plain",)] + [
    ("roots", case) for case in ("module_that_was_closed thread_local_of_a_module frame_that_exits dead_frame "
                                 "frame_of_main thread_register vector_register").split()] + [
    ("threads", case) for case in "argument_of_a_new_thread forked_and_threaded fiber signal_storm".split()]
LONG_RUNS = [("roots", "all_keys"), ("roots_plain",), ("threads_plain",)] + [
    (f"{run[0]}_plain", run[1]) for run in RUNS if len(run) > 1]


def assert_truth(wick, run):
    truth, ours = recorded(wick, *run)
    assert differences(truth, ours) == {}


@pytest.mark.parametrize("run", RUNS, ids="-".join)
def test_classes_are_what_the_program_says(wick, run):
    assert_truth(wick, run)


@pytest.mark.long
@pytest.mark.parametrize("run", LONG_RUNS, ids="-".join)
def test_classes_are_what_the_program_says_in_other_builds(wick, run):
    assert_truth(wick, run)


@pytest.mark.parametrize("program", ["simplest", "simplest_plain"])
def test_a_pointer_that_nothing_overwrites_but_the_program(wick, program):
    path = wick.new_path()
    wick.ok("heap", "-q", "--leaks", "-o", path, "--", *workload(f"leak_suites/{program}"))
    sums = wick.json("leaks", path, "--format", "json")["sums"]
    assert [sums["definite"][unit] + sums["probable"][unit] for unit in ("bytes", "blocks")] == [1024, 1]


def test_nothing_is_lost_by_threads_that_clean_up(wick):
    """The C library loses nothing either."""
    path = wick.new_path()
    wick.ok("heap", "-q", "--leaks", "-o", path, "--",
            *workload("leak_suites/threads", "nothing_lost", "clean_destructor", "contention", "in_a_destructor"))
    assert sums_of(wick, path)["definite"] == [0, 0]


# What memcheck finds in a case where it is not correct; docs/reference/leak-suites.md says why.
OTHERWISE = {
    "array_of_nothing": {**nothing(), "definite": [8, 1]},
    "large": {**nothing(), "possible": [32 << 20, 1]},
    "unreadable": {**nothing(), "definite": [50 * 65536 + 2006, 3], "reachable": [50 * 65536 + 1003, 2]},
    "vector_register": {**nothing(), "definite": [1337, 1]},
}
# Where it depends on addresses what memcheck finds, or memcheck takes too long.
NOT_COMPARED = {"fiber", "signal_storm"}


def assert_like_memcheck(wick, runs):
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    theirs = [Memcheck(wick, *run) for run in runs]
    for run, memcheck in zip(runs, theirs):
        truth, ours = recorded(wick, *run)
        told = memcheck.found()
        assert set(told) == set(truth)
        for case in set(truth) & set(OTHERWISE):
            assert told.pop(case) in (OTHERWISE[case], truth[case])
        assert differences(told, ours) == {}, run


def test_classes_are_those_of_memcheck(wick):
    assert_like_memcheck(wick, [("shapes",), ("objects",)])


@pytest.mark.long
@pytest.mark.parametrize("run", [run for run in (*RUNS[1:], *LONG_RUNS) if not NOT_COMPARED & set(run)], ids="-".join)
def test_classes_are_those_of_memcheck_in_all_programs(wick, run):
    assert_like_memcheck(wick, [run])


class Running:
    """A case that is scanned while it runs."""

    def __init__(self, wick, program, case):
        self.wick, self.path = wick, wick.new_path()
        self.recorder = wick.start("heap", "-q", "--leaks", "-o", self.path, "--",
                                   *workload(f"leak_suites/{program}", case), stdin=subprocess.PIPE)
        self.pid = wait_for(lambda: children_of(self.recorder.pid), what="a program")[0]

    def order(self, letter):
        self.recorder.stdin.write(letter)
        self.recorder.stdin.flush()
        assert self.recorder.stdout.readline() == f"{letter}\n"

    def scan(self):
        """{class: [bytes, blocks]} of the newest scan."""
        self.wick.ok("heap", "--scan", "-p", self.pid)
        return sums_of(self.wick, self.path)

    def end(self):
        out, _ = self.recorder.communicate("", timeout=TIMEOUT)
        assert self.recorder.returncode == 0
        return truth_of(out)


def sums_of(wick, path, *options):
    sums = wick.json("leaks", path, "--format", "json", *options)["sums"]
    amounts = {kind: [amount["bytes"], amount["blocks"]] for kind, amount in sums.items()}
    both = [sum(pair) for pair in zip(amounts["definite"], amounts["probable"])]
    return {**{kind: amounts[kind] for kind in (*THEIRS.values(), "suppressed", "unscanned")}, "definite": both}


def test_scans_tell_what_has_changed_between_them(wick):
    program = Running(wick, "roots", "stages")
    lost, held = [], []
    for letter in ".lnflh.":
        program.order(letter)
        sums = program.scan()
        lost.append(sums["definite"])
        held.append(sums["reachable"])
    assert lost == [[0, 0], [10, 1], [10, 1], [0, 0], [31, 2], [63, 3], [63, 3]]
    assert held == [[10, 1], [21, 1], [86, 3], [96, 4], [86, 3], [54, 2], [54, 2]]
    program.end()
    assert sums_of(wick, program.path)["definite"] == [63, 3]  # of the scan at the end


def test_scans_of_threads_that_map_and_unmap_blocks(wick):
    program = Running(wick, "threads", "large_blocks")
    assert program.recorder.stdout.readline() == "ready\n"
    for _ in range(5):
        wick.ok("heap", "--scan", "-p", program.pid)
    assert program.scan()["definite"] == [0, 0]
    program.end()
    assert sums_of(wick, program.path)["definite"] == [0, 0]


def test_a_thread_that_has_the_loader_s_lock_is_no_obstacle(wick):
    _, ours = recorded(wick, "threads", "busy_with_objects")
    assert ours["busy_with_objects"]["definite"] == [0, 0]


def test_who_is_traced_already_is_not_scanned_and_goes_on(wick):
    path = wick.new_path()
    done = wick.ok("heap", "-q", "--leaks", "-o", path, "--", *workload("leak_suites/threads", "traced"))
    assert truth_of(done.stdout) == {"traced": nothing()}
    assert "no leak scan: cannot attach" in done.stderr and "is tracing it" in done.stderr
    assert "detach that debugger first" in done.stderr
    assert sums_of(wick, path)["unscanned"] == [42, 1]


def test_a_child_that_goes_on_without_exec_is_scanned(wick):
    path = wick.new_path()
    done = wick.ok("heap", "-q", "--leaks", "-o", path, "--", *workload("leak_suites/threads", "child_that_loses"))
    assert "some processes were not scanned" not in done.stderr
    assert sums_of(wick, path)["definite"] == [1337, 1]


RULES = {
    "LeakSanitizer": "leak:suppressed_place__known\n",
    "valgrind": "{\n   known\n   Memcheck:Leak\n   fun:malloc\n   fun:suppressed_place__known\n   ...\n}\n",
    "wick": "rule known\n    function suppressed_place__known\nend\n",
}


@pytest.mark.parametrize("syntax", RULES)
def test_one_of_two_leaks_is_suppressed(wick, syntax):
    path, rules = wick.new_path(), wick.folder / "rules"
    rules.write_text(RULES[syntax] + "leak:nobody_is_called_so\n")
    done = wick.ok("heap", "-q", "--leaks", "--suppressions", rules, "-o", path, "--",
                   *workload("leak_suites/shapes", "suppressed_place"))
    assert "666 B" in done.stderr and "matched nothing" in done.stderr
    assert sums_of(wick, path)["definite"] == [2003, 2]
    sums = sums_of(wick, path, "--suppressions", rules)  # of a recording, at any time later
    assert sums["definite"] == [1337, 1] and sums["suppressed"] == [666, 1]


def test_a_rule_for_one_class_suppresses_that_class_alone(wick):
    path, rules = wick.new_path(), wick.folder / "rules"
    rules.write_text("{\n   possible alone\n   Memcheck:Leak\n   match-leak-kinds: possible\n"
                     "   fun:malloc\n   fun:pair\n   fun:chains\n   ...\n}\n")
    wick.ok("heap", "-q", "--leaks", "-o", path, "--", *workload("leak_suites/shapes", "chains"))
    sums = sums_of(wick, path, "--suppressions", rules)
    assert sums == {"definite": [48, 3], "indirect": [32, 2], "possible": [0, 0], "reachable": [64, 4],
                    "suppressed": [96, 6], "unscanned": [0, 0]}


@pytest.mark.parametrize("case, gate, status", [
    ("twice_the_same_place", "off", 0), ("twice_the_same_place", "definite", 3),
    ("held_by_a_static", "possible", 0), ("chains", "possible", 3)])
def test_the_exit_status_is_what_was_asked_for(wick, case, gate, status):
    done = wick.run("heap", "-q", "--leaks", "--fail-on", gate, "-o", wick.new_path(), "--",
                    *workload("leak_suites/shapes", case))
    assert done.returncode == status, done.stderr

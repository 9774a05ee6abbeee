# SPDX-License-Identifier: BSD-2-Clause
"""Python calls in stacks: every sample of a known program has exactly the calls that it makes."""
import ast
import collections
import json
import os
import pathlib
import re
import shutil
import sys

import pytest

from ebpf import needs_ebpf

PROGRAM = pathlib.Path(__file__).parent.parent / "workloads" / "python_calls.py"
# The interpreter of the distribution (static, stripped) and that of the tests.
PYTHONS = sorted({os.path.realpath(shutil.which(path))
                  for path in ("/usr/bin/python3", "python3", sys.executable) if shutil.which(path)})
OVERWRITE = ("--on-overflow", "overwrite-old")
ENGINES = {"ebpf": ("-F", "1999"), "signal": ("-F", "1999"), "ptrace": ("-F", "499")}
EACH_ENGINE = [pytest.param("ebpf", (), marks=needs_ebpf), ("signal", ()), ("signal", OVERWRITE), ("ptrace", ())]
SECONDS = 0.08
# One run has too few samples for a share of one in a thousand, and may miss a scene.
RUNS = 5

# What may follow the call of a scene, with the calls of library functions as "*".
IMPLICIT = r"(;<listcomp>)?"
SCENES = {
    "recursion": r"(;recursion){0,30}(;work)?",
    "threads": IMPLICIT + r"(;\*)*",
    "generators": r"(;relayed(;numbers(;work)?)?)?",
    "coroutines": r"(;\*)*(;outer(;inner(;(work|\*))?)?)?(;\*)*",
    "sorting": r"(;key(;work)?)?",
    "replacing": r"(;\*)*(;replacement(;work)?)?",
    "foreign": r"(;\*)*(;compare(;work)?)?",
    "exceptions": r"(;failing)?(;work)?",
    "executed": r"(;<module>(;made(;work)?)?)?",
    "decorated": r"(;decorated(;work)?)?",
    "objects": rf"{IMPLICIT}(;Shape\.(__init__|area|__lt__))?(;work)?",
}
NAMES = {"decorated": "twice.<locals>.wrapper"}
HELPER = re.compile(r"(\*;)+helper(;work)?|(\*;)*\*")


def lines_of_functions():
    """{(name of a function): its first and last line} of the program."""
    lines = {}

    def visit(node, prefix):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                name = prefix + child.name
                first = min([child.lineno] + [one.lineno for one in child.decorator_list])
                lines[name] = first, child.end_lineno
                is_class = isinstance(child, ast.ClassDef)
                visit(child, f"{name}." if is_class else f"{name}.<locals>.")
            else:
                visit(child, prefix)

    visit(ast.parse(PROGRAM.read_text()), "")
    return lines


def python_calls(sample):
    return [frame for frame in sample["stack"] if frame["kind"] == "interpreted"]


def name_of(frame, qualified):
    if frame["file"] not in (str(PROGRAM), "<made>"):
        return "*"
    name = frame["function"]
    return name if qualified else {"wrapper": "twice.<locals>.wrapper", "__init__": "Shape.__init__",
                                   "area": "Shape.area", "__lt__": "Shape.__lt__"}.get(name, name)


def is_right(names, qualified):
    """Whether the program makes such calls in its main thread."""
    names = ["<listcomp>" if name.endswith("<listcomp>") else name for name in names]
    text = ";".join(names)
    if text in ("<module>", "<module>;scene"):
        return True
    head = "<module>;scene;"
    if not text.startswith(head):
        return False
    for scene, rest in SCENES.items():
        if re.fullmatch(re.escape(NAMES.get(scene, scene)) + rest, text[len(head):]):
            return True
    return False


# The interpreter calls it when an object dies, wherever the program is then.
WEAK_CALLBACKS = ("_weakrefset.py", "weakref.py")


def names_of(sample, qualified):
    """The names of a sample's Python calls, without those of a dying object."""
    names = []
    for frame in python_calls(sample):
        if os.path.basename(frame["file"] or "") in WEAK_CALLBACKS:
            break
        names.append(name_of(frame, qualified))
    return names


def samples_of(wick, recording):
    text = wick.ok("export", recording.path, "--format", "samples").stdout
    return [json.loads(line) for line in text.splitlines()]


def wrong_stacks(samples, qualified=True):
    """Counts stacks that the program does not have, from the first scene to the last."""
    named = [(names_of(sample, qualified), sample) for sample in samples]
    times = [sample["time_ns"] for names, sample in named if names[:2] == ["<module>", "scene"]]
    wrong = collections.Counter()
    for names, sample in named:
        if not min(times) <= sample["time_ns"] <= max(times):
            continue
        if sample["pid"] == sample["tid"]:
            right = is_right(names, qualified)
        else:
            # A thread begins and ends in C code.
            right = not names or HELPER.fullmatch(";".join(names))
        if not right:
            wrong[";".join(names)] += 1
    return wrong, len(times)


def check_lines(samples):
    """Each call is at a line of its function."""
    functions = lines_of_functions()
    for sample in samples:
        for frame in python_calls(sample):
            if frame["file"] == str(PROGRAM) and frame["function"] in functions:
                first, last = functions[frame["function"]]
                assert first <= frame["line"] <= last, frame


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("engine,options", EACH_ENGINE)
def test_every_sample_has_the_calls_that_the_program_makes(wick, engine, options, python):
    wanted = {"recursion", "helper", "numbers", "inner", "key", "replacement", "compare", "failing",
              "made", "twice.<locals>.wrapper", "Shape.__lt__"}
    seen, wrong, count = set(), collections.Counter(), 0
    for _ in range(RUNS):
        recording = wick.record([python, PROGRAM, SECONDS], "--engine", engine, "--overhead", "off",
                                *ENGINES[engine], *options)
        samples = samples_of(wick, recording)
        more_wrong, more = wrong_stacks(samples)
        wrong += more_wrong
        count += more
        check_lines(samples)
        seen |= {frame["function"] for sample in samples for frame in python_calls(sample)}
        if wanted <= seen and not wrong:
            break
    assert not wanted - seen
    assert count > 100
    assert wrong.total() <= count / 1000, wrong.most_common(10)


def test_native_frames_stay_between_the_calls(wick):
    recording = wick.record([sys.executable, PROGRAM, 0.3, "sorting", "foreign"], "--engine",
                            "ptrace", "-F", "499", "--overhead", "off")
    between = collections.Counter()
    for sample in samples_of(wick, recording):
        names = [frame["function"] for frame in sample["stack"]]
        assert "_PyEval_EvalFrameDefault" not in names[:-1]
        for outer, inner in (("sorting", "key"), ("foreign", "compare")):
            if inner in names:
                between[inner] += 1
                assert names.index(inner) - names.index(outer) > 1, names
    assert between["key"] > 10 and between["compare"] > 10


def test_only_python_leaves_out_native_frames(wick):
    recording = wick.record([sys.executable, PROGRAM, 0.2, "sorting"], "--engine", "ptrace", "-F",
                            "499", "--python", "only", "--overhead", "off")
    kinds = {frame["kind"] for sample in samples_of(wick, recording) if python_calls(sample)
             for frame in sample["stack"]}
    assert kinds == {"interpreted"}


def test_without_python_the_interpreter_is_shown(wick):
    recording = wick.record([sys.executable, PROGRAM, 0.2, "sorting"], "--engine", "ptrace", "-F",
                            "499", "--python", "off", "--overhead", "off")
    samples = samples_of(wick, recording)
    assert not any(python_calls(sample) for sample in samples)
    assert "Python calls" not in recording.stderr


def test_the_summary_says_how_many_samples_have_python_calls(wick):
    recording = wick.record([sys.executable, PROGRAM, 0.2, "sorting"], "--engine", "ptrace")
    share = re.search(r"python +([0-9.]+) % of samples have Python calls", recording.stderr)
    assert share and float(share[1]) > 50


SLEEPING = """
import multiprocessing, threading, time
def nap():
    time.sleep(0.3)
def job(number):
    end = time.process_time() + 0.3
    while time.process_time() < end:
        sum(range(1000))
    nap()
if __name__ == "__main__":
    time.sleep(0.2)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pool.map(job, range(2))
"""


@needs_ebpf
def test_time_off_the_cpu_and_children_have_python_calls(wick, tmp_path):
    program = tmp_path / "sleeping.py"
    program.write_text(SLEEPING)
    recording = wick.record([PYTHONS[0], program], "--engine", "ebpf", "--mode", "wall", "--python",
                            "only", "--overhead", "off")
    weights = collections.Counter()
    for sample in samples_of(wick, recording):
        names = [frame["function"] for frame in python_calls(sample)]
        weights[names[-1] if names else None] += sample["weight"]
        if names and names[-1] == "nap":
            assert names[-2] == "job"
    assert weights["nap"] > 0.5e9
    assert weights["job"] > 0.4e9


@needs_ebpf
def test_threads_that_slept_before_the_recording_have_python_calls(wick, background, tmp_path):
    program = tmp_path / "idle.py"
    program.write_text("import threading, time\n"
                       "def waiting():\n    time.sleep(60)\n"
                       "threading.Thread(target=waiting, daemon=True).start()\n"
                       "print('ready', flush=True)\n"
                       "waiting()\n")
    process = background([PYTHONS[0], program])
    assert process.stdout.readline() == "ready\n"
    recording = wick.attach("--engine", "ebpf", "--mode", "wall", "-p", str(process.pid), "-d", "0.5")
    samples = samples_of(wick, recording)
    stacks = {tuple(frame["function"] for frame in python_calls(sample)) for sample in samples}
    assert stacks == {("<module>", "waiting"),
                      ("Thread._bootstrap", "Thread._bootstrap_inner", "Thread.run", "waiting")}


@needs_ebpf
@pytest.mark.root
def test_a_thread_that_has_not_left_its_cpu_has_python_calls(wick):
    """The kernel may not know yet where the variables of such a thread are: chrt keeps it on its CPU."""
    loop = "import time\nend = time.process_time() + 0.15\nwhile time.process_time() < end: sum(range(100))"
    for _ in range(5):
        recording = wick.record(["chrt", "-f", "1", PYTHONS[0], "-S", "-c", loop], "--engine", "ebpf", "-F", "997",
                                "--overhead", "off")
        found = re.search(r"samples +(\d+) (?s:.*)python +([0-9.]+) % of samples have Python calls(?:.* (\d+) were)?",
                          recording.stderr)
        samples, percent, early = (float(part or 0) for part in found.groups()) if found else (0, 0, 0)
        # Else the recorder got no CPU in time to find the interpreter. Its start, some 40 samples, has no calls.
        if samples - early >= 100:
            assert samples * percent / 100 >= (samples - early) * 0.5, recording.stderr


@needs_ebpf
@pytest.mark.parametrize("mode", [(), ("--mode", "wall"), ("--mode", "wall", "--waker")])
def test_the_kernel_accepts_the_programs_that_read_python_calls(wick, mode):
    recording = wick.record([PYTHONS[-1], "-c", "1"], "--engine", "ebpf", *mode)
    assert "rejects" not in recording.stderr


STALLED = """
import os, signal, time
def deep(n, work):
    return deep(n - 1, work) if n else work()
def busy():
    end = time.process_time() + 1.2
    while time.process_time() < end:
        for i in range(100):
            exec(compile("def made(): return sum(range(50))", "<made>", "exec"), {})
def phase_a():
    deep(100, busy)
def phase_b():
    deep(100, busy)
os.kill(os.getppid(), signal.SIGSTOP)
phase_a()
phase_b()
os.kill(os.getppid(), signal.SIGCONT)
"""


def test_calls_have_names_although_the_oldest_samples_were_overwritten(wick, tmp_path):
    program = tmp_path / "stalled.py"
    program.write_text(STALLED)
    recording = wick.record([PYTHONS[-1], program], "--engine", "signal", "-F", "1999", "--overhead",
                            "off", "--on-overflow", "overwrite-old")
    assert not re.search(r" 0 lost", recording.stderr)
    functions = [[frame["function"] for frame in python_calls(sample)] for sample in samples_of(wick, recording)]
    stacks = [names for names in functions if names[1:2] in (["phase_a"], ["phase_b"])]
    assert len(stacks) > 50
    assert all(names[2:103] == ["deep"] * 101 for names in stacks)
    assert any("phase_b" in names for names in stacks)


@needs_ebpf
def test_the_recorder_is_woken_by_a_new_process(wick):
    done = wick.ok("record", "--engine", "ebpf", "-o", wick.new_path(), "--", PYTHONS[-1], "-c",
                   "sum(i * i for i in range(300000))", env={**os.environ, "WICK_LOG": "debug"})
    assert re.search(r"woken [1-9]\d* times by unknown address spaces", done.stderr)


@needs_ebpf
def test_processes_that_come_and_go_lose_nothing(wick, background, tmp_path):
    program = tmp_path / "many.py"
    program.write_text("import subprocess, sys\n"
                       "while True:\n"
                       "    command = [sys.executable, '-c', 'sum(range(300000))']\n"
                       "    for one in [subprocess.Popen(command) for _ in range(5)]:\n"
                       "        one.wait()\n")
    background([PYTHONS[-1], str(program)])
    shares = []
    for _ in range(3):  # a recorder that gets no CPU loses samples
        text = wick.attach("--engine", "ebpf", "-a", "-F", "997", "--overhead", "off", "-d", 4).stderr
        taken, lost = map(int, re.search(r"samples +(\d+) of.*?, (\d+) lost", text).groups())
        shares.append(lost / taken)
        if shares[-1] <= 0.001:
            return
    assert min(shares) <= 0.001, shares

# SPDX-License-Identifier: BSD-2-Clause
"""Ruby calls in stacks: every sample of a known program has exactly the calls that it makes."""
import collections
import pathlib
import re
import shutil

import pytest

from ebpf import needs_ebpf
from test_python_frames import samples_of

PROGRAM = pathlib.Path(__file__).parent.parent / "workloads" / "ruby_calls.rb"
RUBY = shutil.which("ruby")
pytestmark = pytest.mark.skipif(not RUBY, reason="ruby is not installed")
SECONDS = 0.15
# One run has too few samples for a share of one in a thousand, and may miss a scene.
RUNS = 5

WORK = r"(;(now|work(;block in work)?))?"
# What may follow the call of a scene.
SCENES = {
    "recursion": rf"(;recursion){{0,30}}{WORK}",
    "blocks": rf"(;block in blocks(;block \(2 levels\) in blocks{WORK})?)?",
    "sorting": rf"(;block in sorting{WORK})?",
    "compared": rf"(;block in compared{WORK})?",
    "exceptions": rf"(;failing{WORK}|;rescue in exceptions{WORK}|;ensure in exceptions{WORK}|{WORK})",
    "threads": r"(;block in threads)?",
    "fibers": r"",
    "enumerators": r"",
    "evaluated": rf"(;evaluated{WORK})?",
    "objects": rf"(;(area|block in <class:Shape>|method_missing){WORK})?",
    "called_by_c": rf"(;block in called_by_c{WORK})?",
}
MAIN = re.compile("<main>(;block in <main>(;scene(;now|;("
                  + "|".join(re.escape(name) + rest for name, rest in SCENES.items()) + "))?)?)?")
# A fiber has a stack of its own, which does not say who resumed it.
FIBER = re.compile(rf"block in fibers(;produced{WORK})?|"
                   rf"(each;)?block in enumerators(;block \(2 levels\) in enumerators{WORK})?|each")
THREAD = re.compile(rf"block \(2 levels\) in threads(;helper{WORK})?")
WANTED = {"recursion", "block (2 levels) in blocks", "block in sorting", "block in compared",
          "failing", "rescue in exceptions", "helper", "produced", "evaluated", "area",
          "method_missing", "block in <class:Shape>", "block in called_by_c",
          "block (2 levels) in enumerators"}


def ruby_calls(sample):
    return [frame for frame in sample["stack"] if frame["kind"] == "interpreted"]


def names_of(sample):
    return ";".join(frame["function"] for frame in ruby_calls(sample))


def is_outside(sample):
    """Whether a thread runs no Ruby: it begins or ends, waits for work, or switches fibers."""
    names = [frame["function"] for frame in sample["stack"]]
    if "[truncated]" in names:
        return names[-1] == "coroutine_transfer"  # between two stacks
    return "rb_vm_exec" not in names


def is_right(sample):
    names = names_of(sample)
    if not names:
        return is_outside(sample)
    if sample["pid"] == sample["tid"]:
        return MAIN.fullmatch(names) or FIBER.fullmatch(names)
    return THREAD.fullmatch(names)


def wrong_stacks(samples):
    """Counts stacks that the program does not have, from the first scene to the last, and all."""
    times = [sample["time_ns"] for sample in samples if ";scene" in names_of(sample)]
    among = [sample for sample in samples if min(times) <= sample["time_ns"] <= max(times)]
    wrong = collections.Counter(names_of(one) for one in among if not is_right(one))
    # Threads that run no Ruby would only make the share of wrong stacks smaller.
    return wrong, len([one for one in among if names_of(one)]) + wrong[""]


def first_lines():
    """{name of a method: its first line} of the program."""
    lines = PROGRAM.read_text().splitlines()
    return {match[1]: number for number, line in enumerate(lines, 1)
            if (match := re.match(r" *def (\w+)", line))}


def check_lines(samples):
    starts = sorted(first_lines().values()) + [10 ** 6]
    for sample in samples:
        for frame in ruby_calls(sample):
            start = first_lines().get(frame["function"])
            if start and frame["file"] == str(PROGRAM):
                assert start <= frame["line"] < starts[starts.index(start) + 1], frame


def test_every_sample_has_the_calls_that_the_program_makes(wick):
    seen, wrong, count = set(), collections.Counter(), 0
    for _ in range(RUNS):
        recording = wick.record([RUBY, PROGRAM, SECONDS], "--engine", "ptrace", "-F", "499",
                                "--overhead", "off")
        samples = samples_of(wick, recording)
        more_wrong, more = wrong_stacks(samples)
        wrong += more_wrong
        count += more
        check_lines(samples)
        seen |= {frame["function"] for sample in samples for frame in ruby_calls(sample)}
        if WANTED <= seen and not wrong:
            break
    assert not WANTED - seen
    assert count > 100
    assert wrong.total() <= count / 1000, wrong.most_common(10)


def test_native_frames_stay_between_the_calls(wick):
    recording = wick.record([RUBY, PROGRAM, 0.3, "sorting"], "--engine", "ptrace", "-F", "499",
                            "--overhead", "off")
    between = 0
    for sample in samples_of(wick, recording):
        names = [frame["function"] for frame in sample["stack"]]
        if "block in sorting" in names:
            between += 1
            assert names.index("block in sorting") - names.index("sorting") > 1, names
            assert "rb_vm_exec" not in names[:-2], names
    assert between > 10


def test_the_summary_names_the_language(wick):
    recording = wick.record([RUBY, PROGRAM, 0.2, "recursion"], "--engine", "ptrace")
    share = re.search(r"ruby +([0-9.]+) % of samples have Ruby calls", recording.stderr)
    assert share and float(share[1]) > 50


@pytest.mark.parametrize("engine", [pytest.param("ebpf", marks=needs_ebpf), pytest.param("perf", marks=pytest.mark.perf), "signal"])
def test_engines_that_cannot_read_ruby_say_so(wick, engine):
    recording = wick.record([RUBY, PROGRAM, 0.3, "recursion"], "--engine", engine)
    assert "this engine cannot read Ruby calls; --engine ptrace can" in recording.stderr
    samples = samples_of(wick, recording)
    assert not any(ruby_calls(sample) for sample in samples)
    assert any(frame["function"] == "rb_vm_exec" for sample in samples for frame in sample["stack"])


def test_the_language_has_a_colour(wick, tmp_path):
    recording = wick.record([RUBY, PROGRAM, 0.2, "recursion"], "--engine", "ptrace", "-F", "499")
    picture = tmp_path / "ruby.svg"
    wick.ok("flame", recording.path, "--colors", "language", "-o", picture)
    assert ">Ruby<" in picture.read_text()

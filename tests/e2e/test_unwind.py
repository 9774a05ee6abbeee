# SPDX-License-Identifier: BSD-2-Clause
"""Stacks of code without frame pointers, followed by the binaries' own tables."""
import os
import re

import pytest

import contract
from conftest import workload

ROOT_SHARE = re.compile(r"unwinding\s+([\d.]+) % reached the root")


def root_percent(recording):
    return float(ROOT_SHARE.search(recording.stderr).group(1))


def test_a_chain_without_frame_pointers_is_whole(wick):
    recording = wick.record(workload("chain_nofp", 500), "-F", 999, "--unwind", "dwarf")
    stacks = recording.folded("--no-inline")
    total = sum(count for _, count in stacks)
    whole = sum(count for frames, count in stacks
                if ";".join(frames).endswith("main;chain_a;chain_b;chain_c"))
    assert whole > 0.95 * total
    assert root_percent(recording) > 99


def test_a_split_without_frame_pointers_keeps_its_shares_and_callers(wick):
    recording = wick.record(workload("split_nofp", 1000), "-F", 999, "--unwind", "dwarf")
    report = recording.report("--no-inline")
    assert abs(contract.self_percent(report, "hot_70") - 70) < contract.SHARE_TOLERANCE
    assert contract.total_percent(report, "main") > 97


def test_a_plugin_is_unwound_after_dlopen(wick):
    recording = wick.record(workload("dlopen", 300), "-F", 999, "--unwind", "dwarf")
    assert root_percent(recording) > 99
    report = recording.report()
    assert contract.total_percent(report, "plugin_a_burn") > 20
    assert contract.total_percent(report, "plugin_b_burn") > 20


def assert_interrupted(wick, way, functions):
    if wick.run("record", *way, "-o", wick.new_path(), "--", "true").returncode != 0:
        pytest.skip(f"{way[1]} does not work here")
    recording = wick.record(workload("faults", 300), *way, "-F", 499, "--no-kernel")
    stacks = [";".join(frames) for frames, _ in recording.folded()]
    for function in functions:
        assert any(re.search(rf";call_{function};fault_{function};[^;]*;on_fault", stack)
                   for stack in stacks), stacks


@pytest.mark.parametrize("way", [["--engine", "perf", "--unwind", "dwarf"],
                                 ["--engine", "ebpf"]])
def test_the_function_that_a_signal_interrupted_is_there(wick, way):
    assert_interrupted(wick, way, ["middle"])


@pytest.mark.parametrize("way", [["--engine", "ptrace"], ["--engine", "ebpf"],
                                 ["--engine", "perf"],
                                 ["--engine", "perf", "--unwind", "dwarf"]])
def test_a_function_interrupted_at_its_first_instruction_has_its_own_name(wick, way):
    assert_interrupted(wick, way, ["first", "middle"])


PYTHON = "/usr/bin/python3"


@pytest.mark.skipif(not os.path.exists(PYTHON), reason="needs the distribution's python3")
def test_a_real_program_reaches_its_root(wick):
    recording = wick.record([PYTHON, "-c",
                             "import json\n"
                             "d = {str(i): list(range(20)) for i in range(2000)}\n"
                             "for i in range(20): json.loads(json.dumps(d, indent=1))\n"
                             "print('{}')"], "-F", 999, "--unwind", "dwarf")
    assert root_percent(recording) > 99


def test_a_small_copy_says_that_stacks_were_cut(wick):
    recording = wick.record(workload("fib", 300), "-F", 999, "--unwind", "dwarf", "--stack-size",
                            "1K", "--no-kernel")
    assert contract.sample_count(recording.info()) > 100
    assert ROOT_SHARE.search(recording.stderr)


def test_a_wrong_way_to_unwind_is_named(wick):
    done = wick.run("record", "--unwind", "magic", "--", "true")
    assert done.returncode == contract.USAGE
    assert "magic" in done.stderr and "dwarf" in done.stderr


def test_a_32_bit_program_is_counted_and_named_in_the_summary(wick, background):
    target = background(workload("narrow"))
    recording = wick.attach("-p", target.pid, "-F", 999, "-d", "0.5", "--unwind", "dwarf")
    assert "32-bit programs" in recording.stderr
    assert contract.sample_count(recording.info()) > 100
    # One function spins, called by another: noise would have more addresses.
    assert len(recording.folded("--no-kernel")) < 10

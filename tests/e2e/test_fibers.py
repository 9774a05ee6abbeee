# SPDX-License-Identifier: BSD-2-Clause
"""Allocator calls that are left by an exception or a long jump, on stacks that are unmapped afterwards."""
import subprocess

import pytest
from conftest import BUILD, workload
from test_heap import Heap, assert_true

HOOKS = ("--hook", "alloc=fiber_get,free=fiber_put")
ROUNDS = 3


def run(wick, command, *options):
    """The recording of a run that prints the same as without wick."""
    heap = Heap(wick, command, *options)
    plain = subprocess.run(command, capture_output=True, text=True, check=True)
    assert heap.process.stdout == plain.stdout
    assert "note" not in heap.process.stderr, heap.process.stderr
    return heap


# Stacks of 16 KB are so near to each other that what lies there must tell them apart.
@pytest.mark.parametrize("kilobytes", [16, 256])
@pytest.mark.parametrize("switch", ["context", "hand"])
@pytest.mark.parametrize("way", ["bad", "handler", "thrown", "jumped", "turns"])
def test_blocks_after_a_call_that_was_left_on_a_stack_that_is_gone(wick, way, switch, kilobytes):
    heap = run(wick, workload("fibers", way, switch, kilobytes, ROUNDS))
    assert_true(heap)
    left = {"bad": 4, "handler": 8, "thrown": 14, "jumped": 18, "turns": 0}[way]
    assert heap.truth["left"] == left * ROUNDS


@pytest.mark.parametrize("switch", ["context", "hand"])
@pytest.mark.parametrize("way", ["bad", "handler"])
def test_parts_in_another_language_than_the_program(wick, way, switch):
    """Where operators of a loaded part lead is searched from the caller of the first one."""
    part = BUILD / "tests/workloads/fibers_part.so"
    assert_true(run(wick, [*workload("host", part), "fibers", way, switch, "16", str(ROUNDS)]))


@pytest.mark.parametrize("switch", ["context", "hand", "none"])
def test_hooked_functions_that_are_left(wick, switch):
    """On a fiber whose stack is unmapped; by a thread that ends this way, and whose slot the next one gets."""
    heap = run(wick, workload("fibers", "pool", switch, 256, ROUNDS), *HOOKS)
    assert_true(heap)
    pooled = sum(amount for stack, amount in heap.stacks("pool_alloc_space").items() if stack[-1] == "take_blocks")
    assert pooled == ROUNDS * 10 * 40
    assert heap.truth["left"] == ROUNDS


@pytest.mark.parametrize("way", ["bad", "handler", "thrown", "jumped"])
def test_threads_that_end_after_a_call_that_was_left(wick, way):
    assert_true(run(wick, workload("fibers", way, "none", 256, ROUNDS)))


@pytest.mark.parametrize("options", [("--sample", "64"), ("--maps",), ("--leaks",)], ids=lambda words: words[0])
def test_other_ways_to_record(wick, options):
    for way in ("bad", "jumped"):
        run(wick, workload("fibers", way, "hand", 64, ROUNDS), *options)


def test_calls_that_a_handler_of_a_signal_leaves(wick):
    """With invalid addresses: errno and signal masks are those of the program, and all blocks are seen."""
    heap = Heap(wick, workload("leaps", 20))
    assert heap.truth == {"left": [20] * 5, "sum": 5000, "errors": 0, "mask": 1}
    assert heap.by_function("take_blocks")["blocks"] == 5000
    assert " 0 lost" in heap.process.stderr


def test_calls_that_were_left_and_stay_on_the_stack_as_they_were(wick):
    """Above the calls that follow, which are not within them. Unwind rules may come after the first blocks."""
    for times in (20, 200, 2000):
        heap = Heap(wick, workload("leaps", times, "deep"))
        assert heap.truth == {"left": [times] * 5, "sum": 250 * times, "errors": 0, "mask": 1}
        blocks = heap.by_function("take_blocks")["blocks"]
        if blocks > 0.9 * 250 * times:
            break
    assert 0.9 * 250 * times < blocks <= 250 * times


@pytest.mark.parametrize("what", ["files", "addresses"])
def test_programs_that_have_used_up_what_they_may_have(wick, what):
    command = workload("scarce", what, 20)
    plain = subprocess.run(command, capture_output=True, text=True, check=True)
    assert Heap(wick, command).process.stdout == plain.stdout

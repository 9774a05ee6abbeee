# SPDX-License-Identifier: BSD-2-Clause
"""Functions of a program's own allocator, hooked from outside: --hook."""
import re
import subprocess

import pytest
from conftest import workload
from test_heap import Heap

HOOKS = ("--hook", "alloc=pool_get:2,free=pool_put:2", "--hook", "alloc=box_get,free=box_put")


@pytest.mark.parametrize("program", ["pool", "pool_fixed"])
def test_pools_are_counted_to_the_byte_and_the_program_is_the_same(wick, program):
    command = [*workload(program), "2", "child"]
    heap = Heap(wick, command, *HOOKS)
    truth = heap.truth
    assert heap.process.stdout == subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert truth["bad"] == 0 and "note" not in heap.process.stderr
    for function in ("take_blocks", "take_boxes", "take_arrays"):
        pooled = {name: sum(amount for stack, amount in heap.stacks(value).items() if stack[-1] == function)
                  for name, value in (("bytes", "pool_alloc_space"), ("live", "pool_inuse_space"))}
        blocks = sum(row["allocated"]["blocks"] for row in heap.report["pools"]["rows"] if row["function_name"] == function)
        assert {**pooled, "blocks": blocks} == truth[function], function
    stacks = heap.stacks("alloc_objects")
    # The memory beneath is where the pool got it, and nothing of ours is in between.
    assert any(stack[-3:] == ("take_boxes", "box_get", "pool_get") for stack in stacks)
    assert not any("hook" in name for stack in stacks for name in stack)


def test_what_cannot_be_hooked_runs_without(wick):
    """Its code depends on its address; the other function of the pair is useless then."""
    heap = Heap(wick, workload("pool"), "--hook", "alloc=room_get,free=pool_put:2",
                "--hook", "alloc=array_get:1*2", "--hook", "free=box_put")
    assert heap.truth["bad"] == 0
    assert "not hooked: room_get begins with position-dependent code" in heap.process.stderr
    assert "not hooked: pool_put" in heap.process.stderr
    assert "room_get" in wick.json("info", heap.path, "--format", "json")["session"]["note"]
    arrays = {stack[-1]: amount for stack, amount in heap.stacks("pool_alloc_space").items() if "take_arrays" in stack}
    assert arrays["take_arrays"] == heap.truth["take_arrays"]["bytes"]


@pytest.mark.parametrize("hook, words", [
    ("alloc=pool_gat,free=pool_put", "did you mean pool_get?"),
    ("alloc=pool_get", "not of the form"),
    ("alloc=pool_get:9,free=pool_put", "not of the form"),
    ("alloc=pool_get,alloc=pool_put", "not of the form"),
    ("alloc=pool_get,free=pool_get", "are the same function"),
    ("alloc=pool_get@libnone.so,free=pool_put", "loads no library named libnone.so"),
    ("alloc=memcpy@libc.so.6,free=pool_put", "resolved when a program starts"),
    ("alloc=pool_get@/none,free=pool_put", "/none"),
])
def test_what_is_not_there_is_said_before_anything_runs(wick, hook, words, tmp_path):
    process = wick.run("heap", "-o", tmp_path / "x.wick", "--hook", hook, "--", *workload("pool"))
    assert process.returncode == 2 and words in process.stderr, process.stderr
    assert process.stdout == "" and not (tmp_path / "x.wick").exists()


@pytest.mark.parametrize("name, other", [("mallo", "malloc@plt"), ("room_gat", "room_get"), ("_", "mean ?")])
def test_what_cannot_be_hooked_is_not_suggested(wick, name, other, tmp_path):
    """Entries of linkage tables, code that depends on its place, functions without a name."""
    process = wick.run("heap", "-o", tmp_path / "x.wick", "--hook", f"alloc={name},free=pool_put",
                       "--", *workload("pool"))
    assert process.returncode == 2 and f"no function called {name} in" in process.stderr, process.stderr
    remedy = process.stderr.splitlines()[1]
    assert other not in remedy
    suggested = re.search(r"did you mean (.+)\?", remedy)
    if suggested:
        heap = Heap(wick, workload("pool"), "--hook", f"alloc={suggested[1]},free=pool_put:2")
        assert "not hooked" not in heap.process.stderr


def test_a_library_and_a_program_behind_a_wrapper(wick):
    """By the name that the loader knows, and by a path: programs without it are not touched."""
    program = workload("pool")[0]
    heap = Heap(wick, ["sh", "-c", f"'{program}'; true"],
                "--hook", f"alloc=box_get@{program},free=box_put@{program}",
                "--hook", "alloc=xdr_string@libc.so.6,free=xdr_free@libc.so.6")
    assert "note" not in heap.process.stderr
    boxes = {stack[-1]: amount for stack, amount in heap.stacks("pool_alloc_space").items() if "take_boxes" in stack}
    assert boxes["take_boxes"] == heap.truth["take_boxes"]["bytes"]


@pytest.mark.parametrize("how, stacks", [
    ("twice", ["1 block was freed twice, of 100 bytes", "freed by     free_again < main",
               "earlier by   free_first < main", "allocated by make_block < main"]),
    ("foreign", ["1 free of memory that no allocator returned", "freed by     free_foreign < main"]),
])
def test_what_is_freed_wrongly_is_told_with_its_stacks(wick, how, stacks):
    """The C library ends the program by SIGABRT; the event was written before."""
    heap = Heap(wick, [*workload("misuse"), how], "--leaks", status=128 + 6)
    told = heap.process.stderr.partition("  misuse")[2]
    assert all(words in told for words in stacks), heap.process.stderr
    assert "  misuse " not in told


def test_a_program_that_never_comes_is_told(wick):
    program = workload("pool")[0]
    heap = Heap(wick, ["true"], "--hook", f"alloc=box_get@{program},free=box_put@{program}")
    assert "not hooked: box_get was not loaded by any program" in heap.process.stderr

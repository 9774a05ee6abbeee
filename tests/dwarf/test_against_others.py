# SPDX-License-Identifier: BSD-2-Clause
"""Compares the answers for ten thousand addresses with those of llvm-symbolizer and addr2line.

Each difference must belong to a known class:

* no-debug-info: we return nothing without debug information; the others name the
  symbol, without a line.
* symbol-name: for the function itself the others prefer the symbol table's name, which has
  suffixes (.isra.0, .cold) that DWARF does not have; otherwise the chains are equal.
* inner-name: addr2line calls the innermost inlined function by the outermost one's name.
* lost-calls: addr2line 2.40 misses calls that clang describes by index into range lists.
* unit-file: addr2line 2.40 gives some lines of headers in DWARF 5 as lines of the unit's own file;
  llvm-symbolizer and we name the header.
* built-name: without a linkage name llvm prints the bare name, we print it with its scopes.
"""
import collections
import os
import pathlib
import random
import re
import shutil
import subprocess

import pytest

import variants

ADDRESSES = 10000
PROGRAMS = {
    "gcc": ("g++", "-O2 -g"),
    "gcc-dwarf4": ("g++", "-O3 -gdwarf-4 -ffunction-sections -Wl,--gc-sections"),
    "clang": ("clang++-14", "-O2 -g"),
    "clang-dwarf4": ("clang++-14", "-O1 -gdwarf-4"),
}
SOURCE = variants.ROOT / "bench/make_bigcxx.py"


def functions_of(program):
    listed = subprocess.run(["nm", "-S", "--defined-only", program], capture_output=True, text=True,
                            check=True).stdout
    for line in listed.splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tTwW":
            yield int(words[0], 16), int(words[1], 16)


def pick_addresses(program):
    places = sorted({start + at for start, size in functions_of(program) for at in range(0, size, 4)})
    return random.Random(1).sample(places, min(ADDRESSES, len(places)))


def split_place(text):
    match = re.match(r"(.*?):(\d+|\?)(?::(\d+))?(?: \(discriminator \d+\))?$", text)
    path = match[1] if match[1] == "??" else os.path.normpath(match[1])
    return path, int(match[2]) if match[2] != "?" else 0


def ask_llvm(program, addresses):
    text = subprocess.run(
        ["llvm-symbolizer-14", "-e", program, "--inlines", "--no-demangle"], text=True,
        input="".join(f"{address:#x}\n" for address in addresses), capture_output=True,
        check=True).stdout
    answers = {}
    for address, block in zip(addresses, text.split("\n\n")):
        lines = block.split("\n")
        answers[address] = [(lines[i], *split_place(lines[i + 1]))
                            for i in range(0, len(lines) - 1, 2)]
    return answers


def ask_addr2line(program, addresses):
    text = subprocess.run(
        ["addr2line", "-e", program, "-fia"], text=True,
        input="".join(f"{address:#x}\n" for address in addresses), capture_output=True,
        check=True).stdout
    answers, frames, name = {}, None, None
    for line in text.splitlines():
        if re.fullmatch(r"0x[0-9a-f]{16}", line):
            frames, name = answers.setdefault(int(line, 16), []), None
        elif name is None:
            name = line
        else:
            frames.append((name, *split_place(line)))
            name = None
    return answers


def bare(name):
    """A built name without scopes and arguments: "a::b<c::d>::e" is "e"."""
    depth, start = 0, 0
    for i, char in enumerate(name):
        depth += (char in "<({") - (char in ">)}")
        if depth == 0 and name.startswith("::", i):
            start = i + 2
    return re.sub(r"<.*", "", name[start:]) or name[start:]


def same_name(ours, theirs):
    if ours == theirs:
        return None
    if re.sub(r"\.[a-z].*", "", theirs) == ours:
        return "symbol-name"
    if not ours.startswith("_Z") and bare(ours) == re.sub(r"<.*", "", theirs):
        return "built-name"
    return "different"


def class_of(ours, theirs):
    """None if the answers are the same, otherwise the class of the difference."""
    if not ours and all(frame[1] == "??" or frame[2] == 0 for frame in theirs):
        return "no-debug-info"
    if [frame[1:3] for frame in ours] != [frame[1:3] for frame in theirs]:
        return "places"
    classes = {same_name(mine[0], other[0]) for mine, other in zip(ours[:-1], theirs[:-1])} - {None}
    last = same_name(ours[-1][0], theirs[-1][0])
    if last == "different":
        # The symbol table may know a name where DWARF has C's or a clone's.
        last = "symbol-name" if theirs[-1][0].startswith(("_Z", bare(ours[-1][0]))) else "different"
    if last:
        classes.add(last)
    if "different" in classes:
        return "different"
    return sorted(classes)[0] if classes else None


def unit_file(ours, theirs):
    """Whether the answers differ only because the other tool names the unit's own file."""
    return len(ours) == len(theirs) and all(
        mine[2] == other[2] and (mine[1] == other[1] or other[1].endswith("/module_0.cc"))
        for mine, other in zip(ours, theirs))


def class_of_addr2line(ours, theirs):
    """The class of a difference, including mistakes of addr2line."""
    kind = class_of(ours, theirs)
    if kind == "places":
        return ("lost-calls" if lost_calls(ours, theirs)
                else "unit-file" if unit_file(ours, theirs) else "places")
    if kind == "different" and theirs[-1][0] in theirs[0][0]:  # or it with its parameters
        inner = (ours[0][0], *theirs[0][1:])
        return "inner-name" if class_of(ours, [inner, *theirs[1:]]) != "different" else "different"
    return kind


def lost_calls(ours, theirs):
    """Whether theirs is ours with calls left out: its places are among ours, in order."""
    left = iter([frame[1:3] for frame in ours])
    return len(theirs) < len(ours) and all(frame[1:3] in left for frame in theirs)


@pytest.fixture(scope="module", params=sorted(PROGRAMS))
def program(request, tmp_path_factory):
    compiler, flags = PROGRAMS[request.param]
    for tool in (compiler, "llvm-symbolizer-14", "addr2line"):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed")
    folder = tmp_path_factory.mktemp(request.param)
    subprocess.run(["python3", SOURCE, "--modules", "1", "--parts", "3", "--compiler", compiler,
                    f"--flags=-std=c++17 {flags}", folder], check=True, capture_output=True)
    return pathlib.Path(folder / "bigcxx")


def count_classes(ours, theirs, classify=class_of):
    counts, examples = collections.Counter(), {}
    for address, frames in ours.items():
        kind = classify(frames, theirs[address])
        counts[kind] += 1
        examples.setdefault(kind, f"{address:#x}: we {frames}, they {theirs[address]}")
    return counts, examples


def test_llvm_symbolizer_says_the_same(program):
    addresses = pick_addresses(program)
    counts, examples = count_classes(variants.ask(program, addresses, "-m"),
                                     ask_llvm(program, addresses))
    assert len(addresses) == ADDRESSES
    assert set(counts) <= {None, "no-debug-info", "symbol-name", "built-name"}, examples
    assert counts[None] > len(addresses) / 2, counts


def test_addr2line_says_the_same_but_for_its_known_mistakes(program):
    addresses = pick_addresses(program)
    counts, examples = count_classes(variants.ask(program, addresses, "-m"),
                                     ask_addr2line(program, addresses), class_of_addr2line)
    assert set(counts) <= {None, "no-debug-info", "symbol-name", "built-name", "inner-name",
                           "lost-calls", "unit-file"}, examples
    assert counts[None] > len(addresses) / 2, counts

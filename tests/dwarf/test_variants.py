# SPDX-License-Identifier: BSD-2-Clause
"""One program with every form of debug information: the exact calls at each of its marks."""
import re

import pytest

import variants

LAMBDA = r"(\{lambda(\(long\)#1)?\}|\$_0)"


def matches(name, wanted):
    """Names with and without parameters, as linker names and built ones are."""
    pattern = re.escape(wanted).replace("LAMBDA", LAMBDA).replace(re.escape("(long)") + "::",
                                                                 r"\((long)?\)::")
    return re.fullmatch(pattern + r"(\(long\)|\(\))?( const)?", name.replace("long int", "long"))


def wanted_chain(mark, name):
    chain = [(function, *variants.lines()[line]) for function, line in variants.CHAINS[mark]]
    if name != "gcc-dwarf2-strict":
        return chain
    # It has no lines of inlined calls, and no namespaces for what has no linker name.
    nameless = [(function.replace("shapes::(anonymous namespace)::", ""), *place)
                for function, *place in chain]
    return [nameless[0], *[(function, "??", 0) for function, *_ in nameless[1:]]]


def problems(name, marks, answers):
    for mark in variants.CHAINS:
        found, wanted = answers.get(marks[mark], []), wanted_chain(mark, name)
        places = [frame[1:3] for frame in found]
        if places != [frame[1:] for frame in wanted] or not all(
                matches(frame[0], want[0]) for frame, want in zip(found, wanted)):
            yield f"{mark} at {marks[mark]:#x}: found {found}, wanted {wanted}"


@pytest.mark.parametrize("name", sorted(variants.VARIANTS))
def test_the_calls_at_each_mark_are_exact(name, tmp_path):
    program, marks = variants.build(name, tmp_path / name)
    answers = variants.ask(program, [marks[mark] for mark in variants.CHAINS])
    assert "\n".join(problems(name, marks, answers)) == ""


def test_without_the_split_files_lines_are_left(tmp_path):
    program, marks = variants.build("gcc-split5", tmp_path / "gcc-split5")
    for path in program.parent.glob("*.dwo"):
        path.unlink()
    answers = variants.ask(program, [marks["area"]])
    assert [frame[:3] for frame in answers[marks["area"]]] == [("??", *variants.lines()["area"])]


def test_a_wrong_split_file_is_not_believed(tmp_path):
    program, marks = variants.build("gcc-split5", tmp_path / "gcc-split5")
    first, second = sorted(program.parent.glob("*.dwo"))
    first.write_bytes(second.read_bytes())
    answers = variants.ask(program, [marks["c_entry"], marks["leaf"]])
    assert sorted(frames[0][0] == "??" for frames in answers.values()) == [False, True]


def test_little_memory_gives_the_same_answers(tmp_path):
    program, marks = variants.build("gcc-dwarf5", tmp_path / "gcc-dwarf5")
    addresses = [marks[mark] + at for at in range(0, 64, 4) for mark in variants.CHAINS]
    assert variants.ask(program, addresses) == variants.ask(program, addresses, "-l", "1")


def test_details_tell_signature_unit_and_row(tmp_path):
    program, marks = variants.build("gcc-dwarf5", tmp_path / "gcc-dwarf5")
    text = variants.run(variants.DUMP, "-d", program, hex(marks["area"]), cwd=tmp_path)
    assert "  signature long int shapes::box<long int>::area()" in text
    assert f"  unit {variants.SOURCES[0]}\n" in text
    low, high = re.search(r"row (0x[0-9a-f]+)-(0x[0-9a-f]+)\n", text).groups()
    assert int(low, 16) <= marks["area"] < int(high, 16)
    text = variants.run(variants.DUMP, "-d", program, hex(marks["lambda"]), cwd=tmp_path)
    assert re.search(r"row \S+ statement\n", text)

# SPDX-License-Identifier: BSD-2-Clause
"""wick.tracemalloc and the standard module give the same answers."""
import json
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
TOTALS, DEPTHS = HERE / "traced_program.py", HERE / "depths_program.py"


def test_both_modules_return_print_and_raise_the_same(check):
    assert check((HERE / "same_results.py").read_text(encoding="utf-8")) == "ok\n"


def answers(python, folder, program, module, frames):
    script = folder / program.name
    script.write_text(program.read_text(encoding="utf-8"), encoding="utf-8")
    done = python.run(script, module, frames, env={"PYTHONHASHSEED": "0"}, cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_totals_by_line_are_those_of_the_standard_module(python, tmp_path):
    for frames in ("1", "25"):
        expected = answers(python, tmp_path, TOTALS, "tracemalloc", frames)
        assert answers(python, tmp_path, TOTALS, "wick.tracemalloc", frames) == expected
        assert len(expected["lines"]) > 10


def test_depths_are_those_of_the_standard_module(python, tmp_path):
    """total_nframe, also below generators and functions that C code calls."""
    for frames in ("1", "2", "4"):
        expected = answers(python, tmp_path, DEPTHS, "tracemalloc", frames)
        assert answers(python, tmp_path, DEPTHS, "wick.tracemalloc", frames) == expected
        assert len(expected) > 500 and len(set(expected.values())) > 5

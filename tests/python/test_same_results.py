# SPDX-License-Identifier: BSD-2-Clause
"""wick.tracemalloc and the standard module give the same answers."""
import json
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
TOTALS = (HERE / "traced_program.py").read_text(encoding="utf-8")


def test_both_modules_return_print_and_raise_the_same(check):
    assert check((HERE / "same_results.py").read_text(encoding="utf-8")) == "ok\n"


def totals(python, folder, module, frames):
    script = folder / "traced_program.py"
    script.write_text(TOTALS, encoding="utf-8")
    done = python.run(script, module, frames, env={"PYTHONHASHSEED": "0"}, cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_totals_by_line_are_those_of_the_standard_module(python, tmp_path):
    for frames in ("1", "25"):
        expected = totals(python, tmp_path, "tracemalloc", frames)
        assert totals(python, tmp_path, "wick.tracemalloc", frames) == expected
        assert len(expected["lines"]) > 10

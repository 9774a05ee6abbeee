# SPDX-License-Identifier: BSD-2-Clause
"""bench/python_frames.py: what the recorders write is read, and errors are counted."""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))

import python_frames  # noqa: E402  pylint: disable=wrong-import-position


def sample(*names):
    return json.dumps({"stack": [{"function": "main", "kind": "program"},
                                 *({"function": name, "kind": "interpreted"} for name in names)]})


def test_samples_of_wick_without_calls_are_errors_while_the_program_runs():
    text = "\n".join([sample(), sample("<module>", "_find_and_load"), sample("<module>", "run", "level"),
                      sample(), sample("<module>", "level"), sample("<module>", "run"), sample()])
    assert python_frames.judge(python_frames.wick_stacks(text)) == (4, 2)


def test_lines_of_austin_are_read():
    text = ("# austin: 3.7.0\n"
            "P1;T0:1;/b/python_calls.py:<module>:30;/b/python_calls.py:run:25 10\n"
            "P1;T0:1;/b/python_calls.py:<module>:30;/b/python_calls.py:work:9 10\n"
            "P1;T0:1;/b/python_calls.py:<module>:30;:INVALID: 10\n"
            "P1;T0:1;<frozen importlib._bootstrap>:_load:9 10\n")
    assert python_frames.judge(python_frames.austin_stacks(text)) == (3, 2)


def test_lines_of_pyspy_are_read_with_their_counts():
    text = ("<module> (python_calls.py:30);run (python_calls.py:25);level (python_calls.py:20) 7\n"
            "<module> (python_calls.py:30);work (python_calls.py:9) 2\n")
    assert python_frames.judge(python_frames.pyspy_stacks(text)) == (9, 2)

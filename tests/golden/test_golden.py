# SPDX-License-Identifier: BSD-2-Clause
"""Outputs that must not change by accident.

A case is a folder: "cmd" holds the arguments of wick on one line (files of the folder
by name), "expected" its standard output, and "status" its exit status if that is not 0.
scripts/update-golden rewrites the expected output; review the diff.
"""
import os
import pathlib
import shlex
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WICK = os.environ.get("WICK") or str(ROOT / "build/wick")
CASES = sorted(path.parent for path in HERE.glob("*/cmd"))


def answer(case):
    """(stdout, exit status) of a case, the same on every machine."""
    done = subprocess.run([WICK, *shlex.split((case / "cmd").read_text())], cwd=case,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False,
                          env={"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC",
                               "NO_COLOR": "1", "COLUMNS": "100", "HOME": "/nonexistent"})
    return done.stdout, done.returncode


@pytest.mark.skipif(not CASES, reason="no case was committed yet")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_output_is_the_committed_one(case):
    status_file = case / "status"
    stdout, status = answer(case)
    assert stdout.decode() == (case / "expected").read_text()
    assert status == (int(status_file.read_text()) if status_file.exists() else 0)

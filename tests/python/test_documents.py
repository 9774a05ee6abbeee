# SPDX-License-Identifier: BSD-2-Clause
"""Runs the Python examples of docs/user/python.md in order, as a reader would type them."""
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("WICK_BUILD") or ROOT / "build")
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/e2e")]

import documents  # noqa: E402
import wick  # noqa: E402


def available(word, folder):
    if word == "pandas":
        return importlib.util.find_spec("pandas")
    if word == "heap":
        subprocess.run([BUILD / "wick", "heap", "-q", "--leaks", "-o", folder / "heap.wick", "--", "true"], check=True)
    return True


def test_the_examples_of_the_page_work(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    try:
        wick.profile_process(os.getpid(), 0.01)
    except wick.WickPermissionError as error:
        pytest.skip(f"this machine does not allow sampling: {error.text}")
    names = {}
    for block in documents.blocks_of(ROOT / "docs/user/python.md"):
        if block.language != "python" or block.not_run or not all(available(word, tmp_path) for word in block.needs):
            continue
        body = re.sub(r"\b1234\b", str(os.getpid()), block.body).replace("duration=10", "duration=0.1")
        exec(compile("\n" * block.line + body, str(block.document), "exec"), names)  # pylint: disable=exec-used
    assert (tmp_path / "out.html").stat().st_size > 0
    assert "missing.wick" in capsys.readouterr().out

# SPDX-License-Identifier: BSD-2-Clause
"""Fixtures: python runs an interpreter with the package, installed one where it replaces tracemalloc."""
import functools
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import inherited  # noqa: E402
import interpreters  # noqa: E402

EVERY = interpreters.every()
inherited.restore_signals()


def pytest_configure(config):
    config.addinivalue_line("markers", "long: takes minutes; runs with WICK_LONG")


# What every interpreter of the machine runs; the other tests run with the first two.
EVERYWHERE = {"test_cpython_suites", "test_same_results", "test_tracer"}


def is_long(item):
    interpreter = getattr(item, "callspec", None) and item.callspec.params.get("python")
    return item.get_closest_marker("long") is not None or (
        interpreter in EVERY[2:] and item.module.__name__.rpartition(".")[2] not in EVERYWHERE)


def pytest_collection_modifyitems(config, items):
    """Tests that take minutes are part of "make test-python" alone."""
    if os.environ.get("WICK_LONG"):
        return
    long = [item for item in items if is_long(item)]
    config.hook.pytest_deselected(items=long)
    items[:] = [item for item in items if item not in long]


@functools.lru_cache(None)
def prepared(interpreter):
    try:
        return interpreter.prepare()
    except interpreters.Unusable as error:
        return str(error)


@functools.lru_cache(None)
def put_in_place(interpreter):
    return interpreter.installed()


@pytest.fixture(params=EVERY, ids=lambda interpreter: interpreter.name)
def python(request):
    """An interpreter for which the package is built; run(*words) gives a CompletedProcess."""
    ready = prepared(request.param)
    if isinstance(ready, str):
        pytest.skip(ready)
    return ready


@pytest.fixture
def installed(python):
    """The same with wick.tracemalloc in the place of tracemalloc."""
    return put_in_place(python)


@pytest.fixture
def check(python, tmp_path):
    """Runs lines of Python in the interpreter; fails with what they raise, returns what they print."""
    def run(text, *words, env=None):
        script = tmp_path / "check.py"
        script.write_text(text, encoding="utf-8")
        done = python.run("-X", "faulthandler", script, *words, env=env, cwd=tmp_path)
        assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout
    return run

# SPDX-License-Identifier: BSD-2-Clause
"""CPython's own tests, unmodified, with wick.tracemalloc in the place of tracemalloc."""
import os
import re

import pytest

# What CI runs once, and "make test-python" three times in three ways with all the others.
SHORT = ("test_json", "test_re")
ALL = (*SHORT, "test_threading", "test_gc", "test_sqlite3", "test_asyncio", "test_ssl")
# How the tests are traced: WICK_TRACEMALLOC starts the tracer before them.
WAYS = {"full": "25", "sampled": "25,sample=4096", "native": "25,native"}
HAS_TESTS = """
import sys
assert sys.modules.get("tracemalloc") is None or "wick" in sys.modules["tracemalloc"].__file__
import tracemalloc
assert "wick" in tracemalloc.__file__, tracemalloc.__file__
import test.test_tracemalloc, test.libregrtest
"""


def need_tests(installed):
    done = installed.run("-c", HAS_TESTS)
    if "No module named 'test." in done.stderr:
        pytest.skip(f"{installed.executable} has no tests of its own (Debian: libpython3-testsuite)")
    assert done.returncode == 0, done.stderr


def run_suites(installed, folder, *names, env=None):
    """Runs suites; returns the output, in which "=== Tests result: SUCCESS ===" is checked."""
    done = installed.run("-X", "faulthandler", "-m", "test", "-v", *names, env={"TMPDIR": str(folder), **(env or {})},
                         cwd=folder)
    output = done.stdout + done.stderr
    failed = re.findall(r"^(?:FAIL|ERROR): .*$", output, re.M)
    # Newer versions colour their words.
    assert done.returncode == 0 and not failed, \
        f"status {done.returncode}\n{chr(10).join(failed)}\n{output[-6000:]}"
    return output


def test_cpythons_test_tracemalloc_passes_unmodified(installed, tmp_path):
    need_tests(installed)
    output = run_suites(installed, tmp_path, "test_tracemalloc")
    ran = int(re.search(r"Ran (\d+) tests", output).group(1))
    assert ran >= 47  # as many as 3.9 has
    assert not re.search(r"\.\.\. skipped", output)


def test_two_suites_of_the_standard_library_pass_while_traced(installed, tmp_path):
    need_tests(installed)
    run_suites(installed, tmp_path, *SHORT, env={"WICK_TRACEMALLOC": WAYS["full"]})


def suite_names(installed, names):
    """test_sqlite3 was called test_sqlite before 3.11."""
    return [("test_sqlite" if name == "test_sqlite3" and installed.version < (3, 11) else name) for name in names]


@pytest.mark.long
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("suite", ALL)
def test_suites_of_the_standard_library_pass_three_times(installed, tmp_path, way, suite):
    need_tests(installed)
    (name,) = suite_names(installed, [suite])
    there = installed.run("-c", f"import importlib.util; print(importlib.util.find_spec('test.{name}') is not None)")
    if there.stdout.strip() == "False":
        pytest.skip(f"{installed.executable} has no {name}; Debian packages not all of them")
    for _ in range(3):
        run_suites(installed, tmp_path, name, env={"WICK_TRACEMALLOC": WAYS[way]})


def test_a_warning_shows_where_a_file_was_opened(installed, tmp_path):
    script = tmp_path / "leaves_open.py"
    script.write_text("def leave():\n    f = open('/dev/null')\nleave()\n", encoding="utf-8")
    done = installed.run("-X", "dev", "-X", "tracemalloc=5", script, cwd=tmp_path)
    assert done.returncode == 0
    assert "ResourceWarning: unclosed file" in done.stderr
    assert "Object allocated at (most recent call last):" in done.stderr
    assert f'File "{script}", lineno 2' in done.stderr
    assert os.path.basename(script) in done.stderr

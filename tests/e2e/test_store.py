# SPDX-License-Identifier: BSD-2-Clause
"""The store with two million rows: what it takes on disk, and that all of it is answered."""
import os
import subprocess

import pytest

from conftest import BUILD

LIBRARY = BUILD / "libduckdb.so"


def ask(*words):
    """{name: numbers} of store_bench; a number after # is how much was answered."""
    done = subprocess.run([BUILD / "bench/store_bench", *map(str, words)], capture_output=True, text=True,
                          timeout=600, env={**os.environ, "WICK_DUCKDB": str(LIBRARY)}, check=False)
    assert done.returncode == 0, done.stderr
    return {line.split()[0]: [float(word) for word in line.replace("#", "").split()[1:]]
            for line in done.stdout.splitlines()}


@pytest.mark.skipif(not LIBRARY.exists(), reason="no libduckdb.so (scripts/fetch-duckdb)")
def test_two_million_rows_take_little_space_and_are_all_answered(tmp_path):
    filled = ask("fill", tmp_path / "store", 2, 600)
    assert filled["rows"][0] >= 2e6
    assert filled["bytes-per-row"][0] <= 1.2
    found = ask("ask", tmp_path / "store")
    # 2,000 stacks of a service, of two releases, of 20 services.
    assert found["flame-1h"][2] == 2000
    assert found["diff-24h"][2] == 4000
    assert found["flame-1h-all"][2] == 40000
    assert found["top-24h"][2] == 50
    assert found["services-24h"][2] == 20


def test_without_duckdb_the_message_says_what_to_do(tmp_path):
    done = subprocess.run([BUILD / "bench/store_bench", "ask", tmp_path / "store"], capture_output=True, text=True,
                          timeout=60, env={**os.environ, "WICK_DUCKDB": str(tmp_path / "libduckdb.so")}, check=False)
    assert done.returncode == 1
    assert "cannot load DuckDB" in done.stderr and str(tmp_path) in done.stderr
    assert "scripts/fetch-duckdb" in done.stderr

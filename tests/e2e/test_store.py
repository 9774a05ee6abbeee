# SPDX-License-Identifier: BSD-2-Clause
"""The store with two million rows: what it takes on disk, and that all of it is answered."""
import ctypes
import os
import re
import subprocess

import pytest

from conftest import BUILD, LONG, PATIENCE, ROOT, wait_for
from documents import blocks_of
from test_server import Server

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


class DuckDB:
    """A database, read through DuckDB's own library as any other program does."""

    class Result(ctypes.Structure):
        _fields_ = [("words", ctypes.c_uint64 * 6)]

    def __init__(self, path):
        self.library = ctypes.CDLL(str(LIBRARY))
        self.library.duckdb_value_varchar.restype = ctypes.c_void_p
        self.library.duckdb_result_error.restype = ctypes.c_char_p
        for name in ("row_count", "column_count"):
            getattr(self.library, "duckdb_" + name).restype = ctypes.c_uint64
        self.library.duckdb_value_varchar.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64]
        self.database, self.connection = ctypes.c_void_p(), ctypes.c_void_p()
        assert self.library.duckdb_open(str(path).encode(), ctypes.byref(self.database)) == 0
        assert self.library.duckdb_connect(self.database, ctypes.byref(self.connection)) == 0

    def rows(self, sql):
        """The rows of an answer, as texts."""
        result = self.Result()
        failed = self.library.duckdb_query(self.connection, sql.encode(), ctypes.byref(result))
        assert not failed, (sql, self.library.duckdb_result_error(ctypes.byref(result)))
        rows = []
        for row in range(self.library.duckdb_row_count(ctypes.byref(result))):
            cells = []
            for column in range(self.library.duckdb_column_count(ctypes.byref(result))):
                text = self.library.duckdb_value_varchar(ctypes.byref(result), column, row)
                cells.append(ctypes.string_at(text).decode() if text else None)
                self.library.duckdb_free(ctypes.c_void_p(text))
            rows.append(tuple(cells))
        self.library.duckdb_destroy_result(ctypes.byref(result))
        return rows

    def close(self):
        self.library.duckdb_disconnect(ctypes.byref(self.connection))
        self.library.duckdb_close(ctypes.byref(self.database))


def described_columns(title):
    """{first cell: columns} of the table of the page below this title."""
    page = (ROOT / "docs/reference/store.md").read_text()
    part = page.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]
    return [[re.findall(r"`(\w+)`", cell) for cell in line.strip("|").split("|")]
            for line in part.splitlines() if line.startswith("| `")]


@pytest.mark.skipif(not LONG, reason="waits until an hour is closed: WICK_LONG=1")
@pytest.mark.skipif(not LIBRARY.exists(), reason="no libduckdb.so (scripts/fetch-duckdb)")
def test_plain_duckdb_reads_the_store_as_the_page_says(clock, tmp_path):
    clock.step(-3 * 3600)
    server = Server(tmp_path / "data", env=clock.env)
    folder = tmp_path / "data/store"
    for text in (b"main;parse 30\nmain;render;draw 12\n", b"main;parse 5\nmain 1\n"):
        assert server.request("/ingest?name=shop", text)[0] == 200
    assert server.request("/ingest?name=other", b"main;parse 7\n")[0] == 200
    clock.step(0)  # the hour is over, and is made a file by the maintenance, every 20 seconds
    wait_for(lambda: list(folder.glob("rows/*/*.parquet")), 120 * PATIENCE, "a file of rows")
    assert server.stop() == 0
    by_own_time, frames = [block.body.replace("FOLDER", str(folder)) for block in blocks_of(ROOT / "docs/reference/store.md")
                           if block.language == "sql"]
    plain = DuckDB(folder / "store.duckdb")
    # A sample is 10 ms.
    assert plain.rows(by_own_time) == [("parse", "350000000"), ("draw", "120000000"), ("main", "10000000")]
    in_all = dict(plain.rows(by_own_time.replace(" AND c.leaf", "")))
    assert in_all == {"main": "480000000", "parse": "350000000", "render": "120000000", "draw": "120000000"}
    [[stack]] = plain.rows("SELECT c.stack FROM calls c JOIN functions f ON f.id = c.function WHERE f.name = 'draw' AND c.leaf")
    names = [name for name, _ in plain.rows(frames.replace("1234", stack))]
    assert names[:3] == ["draw", "render", "main"]
    # What the page calls tables and columns is there.
    for table, columns, *_ in described_columns("Tables of `store.duckdb`"):
        held = {name for name, *_ in plain.rows(f"DESCRIBE {table[0]}")}
        assert set(columns) <= held, (table, columns, held)
    held = {name for name, *_ in plain.rows(f"DESCRIBE SELECT * FROM read_parquet('{folder}/rows/*/*.parquet')")}
    assert {name for cells in described_columns("Rows") for name in cells[0]} <= held
    plain.close()

# SPDX-License-Identifier: BSD-2-Clause
"""wick server under the load of many agents: what it has acknowledged is in its store."""
import sys

import pytest

from conftest import BUILD, ROOT

sys.path.insert(0, str(ROOT / "bench"))
import ingest  # noqa: E402

pytestmark = pytest.mark.skipif(not (BUILD / "libduckdb.so").exists(), reason="no libduckdb.so (scripts/fetch-duckdb)")
LOAD = ingest.Load(agents=20, every_s=1, windows=4, rows=100)


@pytest.mark.parametrize("crash", [False, True], ids=["calm", "killed in between"])
def test_every_acknowledged_window_is_in_the_store(tmp_path, crash):
    found = ingest.run(BUILD, tmp_path / "store", LOAD, crash)
    assert found.said["refused"] == [0]
    assert found.said["acknowledged"] == [LOAD.agents * LOAD.windows]
    assert len(found.hosts) == LOAD.agents
    assert found.lost == {}


def test_a_lost_window_would_be_noticed(tmp_path, monkeypatch):
    answered = ingest.answered

    def without_one(server):
        sums = answered(server)
        sums["host3"] = (sums["host3"][0] - 1, sums["host3"][1])
        return sums

    monkeypatch.setattr(ingest, "answered", without_one)
    found = ingest.run(BUILD, tmp_path / "store", LOAD._replace(agents=5, windows=1))
    assert list(found.lost) == ["host3"]

# SPDX-License-Identifier: BSD-2-Clause
"""What a program tells of itself by include/wick/wick.h: examples/events does."""
import json
import subprocess

import contract
import pytest
from conftest import BUILD

EVENTS = BUILD / "examples/events"


@pytest.fixture(scope="module")
def told(shared_wick):
    return shared_wick.record([str(EVENTS)], "--engine", "signal")


def test_without_a_recorder_nothing_is_told():
    done = subprocess.run([str(EVENTS)], capture_output=True, text=True, check=True)
    assert done.stdout == "not recorded\n"


def test_events_are_values_of_the_recording(told):
    assert told.stdout == "recorded\n"
    report = told.report()
    names = [value["name"] for value in report["values"]]
    assert {"cpu", "query", "rows", "part"} <= set(names), names


def test_their_sums_are_exact(told):
    report = told.report("--event", "rows")
    assert report["value"]["total"] == 100 * 40 + 200 * 10
    queries = told.report("--event", "query")
    # The time of queries is nearly all that the program takes.
    assert contract.total_percent(queries, "query") == 100
    assert contract.total_percent(queries, "answer") == 100


def test_labels_stand_with_samples_and_events(told):
    lines = told.wick.ok("export", told.path, "--format", "samples").stdout.splitlines()
    samples = [json.loads(line) for line in lines]
    tenants = {sample["labels"].get("tenant") for sample in samples if sample["event"] == "cpu-clock"}
    assert {"large", "small"} <= tenants
    parts = {sample["labels"].get("part") for sample in samples}
    assert "answer" in parts

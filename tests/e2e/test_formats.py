# SPDX-License-Identifier: BSD-2-Clause
"""Formats out and in: nothing is lost or made up on the way."""
import json
import subprocess

import contract
import pytest
from conftest import REFUSAL, WICK, workload


@pytest.fixture(scope="module")
def recording(shared_wick):
    if REFUSAL:
        pytest.skip(f"perf events are refused here: {REFUSAL}")
    return shared_wick.record(workload("split", 400), "-F", 999)


def samples_of(wick, path, *options):
    text = wick.ok("export", "--format", "samples", *options, path).stdout
    return [json.loads(line) for line in text.splitlines()]


def test_samples_add_up_to_the_report(recording, wick):
    samples = samples_of(wick, recording.path)
    hot = sum(any(f["function"] == "hot_70" for f in s["stack"]) for s in samples)
    share = 100 * hot / len(samples)
    assert abs(share - contract.total_percent(recording.report(), "hot_70")) < 0.5
    assert all(s["unit"] == "nanoseconds" and s["weight"] > 0 for s in samples)
    times = [s["time_ns"] for s in samples]
    assert max(times) - min(times) < 60e9


def test_samples_of_a_pipe_are_those_of_the_file(recording, wick):
    of_file = wick.ok("export", "--format", "samples", recording.path).stdout
    done = subprocess.run(f"cat '{recording.path}' | '{WICK}' export --format samples -",
                          shell=True, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == of_file


def test_filters_choose_samples(recording, wick):
    everything = samples_of(wick, recording.path)
    middle = everything[len(everything) // 2]["since_start_ns"]
    late = samples_of(wick, recording.path, "--from", f"{middle}ns")
    assert late == [s for s in everything if s["since_start_ns"] >= middle]
    assert not samples_of(wick, recording.path, "--only", "no such function")

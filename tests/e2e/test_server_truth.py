# SPDX-License-Identifier: BSD-2-Clause
"""What the store answers is what wick record -a says about the same time."""
import math
import os
import signal

import pytest

from conftest import PATIENCE, wait_for_samples, workload
from test_server import LIBRARY, Server

pytestmark = [pytest.mark.perf, pytest.mark.root,
              pytest.mark.skipif(LIBRARY is None, reason="libduckdb.so is not there: make fetches it")]
RATE = 199
PERIOD_NS = 1e9 / RATE


def hot_and_cool(stacks):
    """The values of both functions of the workload."""
    return [sum(value for stack, value in stacks.items() if name in stack.split(";")) for name in ("hot_70", "cool_30")]


def counts(text):
    """Samples of each stack."""
    lines = [line.rsplit(" ", 1) for line in text.splitlines()]
    return {stack: int(value) for stack, value in lines}


def test_the_store_answers_what_a_recording_of_the_same_time_says(wick, background, tmp_path):
    program = background(workload("split", 600000), env={**os.environ, "WICK_SERVICE": "truth"})
    recording, window = tmp_path / "all.wick", tmp_path / "window.wick"
    recorder = wick.start("record", "-a", "-F", RATE, "--overhead", "off", "-o", recording)
    wait_for_samples(wick, recorder.pid)
    done = wick.run("agent", "--once", "5s", "-F", RATE, "--overhead", "off", "--breaker", "off", "-o", window)
    assert done.returncode == 0, done.stderr
    recorder.send_signal(signal.SIGINT)
    recorder.communicate(timeout=60 * PATIENCE)
    program.kill()

    facts = wick.json("info", window, "--format", "json")["session"]
    whole = wick.json("info", recording, "--format", "json")
    start_ns, end_ns = int(facts["start_monotonic_ns"]), int(facts["end_monotonic_ns"])
    assert whole["start_ns"] <= start_ns and end_ns <= whole["start_ns"] + whole["duration_ns"]
    times = [f"{(at - whole['start_ns']) / 1e9:.6f}s" for at in (start_ns, end_ns)]
    told = counts(wick.ok("export", recording, "--format", "folded", "--pid", program.pid, "--from", times[0],
                          "--to", times[1]).stdout)
    server = Server(tmp_path / "data")
    try:
        assert server.push(window.read_bytes())[0] == 200
        stored = server.folded(query="truth", type="cpu")
    finally:
        assert server.stop() == 0
    # Both counted the same time with samples of their own: an error of either is that of its count.
    # What a ring had no room for may be missing on either side.
    stored = {stack: value / PERIOD_NS for stack, value in stored.items()}
    lost = whole["lost"] + int(facts["window.lost"])
    allowed = 4 * math.sqrt(sum(stored.values()) + sum(told.values())) + lost + 4  # a few at either end
    print("stored", sum(stored.values()), "recorded", sum(told.values()), "allowed", allowed, "lost", lost)
    assert sum(stored.values()) > 0 and abs(sum(stored.values()) - sum(told.values())) <= allowed
    for stacks in (stored, told):
        hot, cool = hot_and_cool(stacks)
        assert hot / (hot + cool) == pytest.approx(0.7, abs=0.02 + 4 * math.sqrt(0.21 / (hot + cool)))

# SPDX-License-Identifier: BSD-2-Clause
"""Full buffers: the user chooses which samples are lost, and wick reports how many.

The program stops its recorder while it runs two phases, which is more than the buffers hold.
"""
import contract
import ebpf
import pytest
from conftest import PATIENCE, workload

# Rate, time of a phase in ms and depth of stacks: buffers hold less than a phase.
ENGINES = {
    "ebpf": (4000, 400, 900, "--depth", "1024"),
    "perf": (4000, 600, 150, "--unwind", "fp"),
    "signal": (2000, 1600, 200),
}


def engines():
    marks = {"ebpf": ebpf.needs_ebpf, "perf": pytest.mark.perf, "signal": ()}
    return [pytest.param(name, marks=marks[name]) for name in ENGINES]


@pytest.fixture(name="recordings", scope="module", params=engines())
def fixture_recordings(request, shared_wick):
    """{what is lost: recording} of an engine."""
    if PATIENCE > 1:
        pytest.skip("such rates are too much for an emulated machine")
    rate_hz, phase_ms, depth, *options = ENGINES[request.param]
    job = (workload("stall", phase_ms, depth), "--engine", request.param, "-F", rate_hz, *options)
    return shared_wick.record_together({"new": job,
                                        "old": (*job, "--on-overflow", "overwrite-old")})


def test_by_default_what_comes_last_is_lost(recordings):
    report = recordings["new"].report("--no-inline")
    assert contract.total_percent(report, "phase_a") > 20
    assert contract.total_percent(report, "phase_b") < 2


def test_the_oldest_are_given_up_where_that_is_wanted(recordings):
    report = recordings["old"].report("--no-inline")
    assert contract.total_percent(report, "phase_a") < 2
    assert contract.total_percent(report, "phase_b") > 8
    # What is mapped where is not among what is given up.
    assert contract.total_percent(report, "run_phases") > 95


def test_what_is_lost_is_counted(recordings, request):
    engine = request.node.callspec.params["recordings"]
    # On a busy machine ticks wait for a CPU: those of the signal engine are no samples then.
    fewest = 0.6 if engine == "signal" else 0.9
    for recording in recordings.values():
        info = recording.info()
        ticks = recording.truth["cpu_ns"] / 1e9 * ENGINES[engine][0]
        assert contract.lost_count(info) > 500
        assert fewest * ticks < contract.sample_count(info) + contract.lost_count(info) \
            < 1.1 * ticks, recording.stderr

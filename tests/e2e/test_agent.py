# SPDX-License-Identifier: BSD-2-Clause
"""wick agent: what its windows hold, and that none is lost on the way to a server."""
import math
import os
import subprocess

import contract
import pytest
from conftest import Recording, workload

pytestmark = [pytest.mark.perf, pytest.mark.root]
# The tests say what is true at any load: no breaker, and the rate stays as it is.
STEADY = ("--breaker", "off", "--overhead", "off")


def once(wick, seconds, *options):
    path = wick.new_path()
    done = wick.run("agent", "--once", seconds, "-o", path, *STEADY, *options)
    assert done.returncode == 0, done.stderr
    return Recording(wick, path, done)


def assert_split(report):
    """70 % in hot_70(), as exactly as so many samples can say: four standard deviations."""
    hot = contract.total_percent(report, "hot_70")
    samples = contract.sample_count(report)
    assert samples > 0
    assert (100 * hot / (hot + contract.total_percent(report, "cool_30"))
            == pytest.approx(70, abs=2 + 400 * math.sqrt(0.21 / samples)))


@pytest.mark.parametrize("who", ["agent", "server"])
def test_a_window_names_functions_services_and_releases(wick, background, who):
    named = background(workload("split", 60000),
                       env={**os.environ, "WICK_SERVICE": "shop", "WICK_RELEASE": "v7"})
    background(workload("spin", 60000))
    recording = once(wick, "3s", "-F", 199, "--label", "zone=b", "--symbolize", who)
    report = recording.report("--label", "service=shop")
    assert_split(report)
    assert {named.pid} == contract.thread_ids(recording.report("--label", "service=shop", "--by", "thread"))
    everything = contract.sample_count(recording.report())
    assert contract.sample_count(recording.report("--label", "zone=b")) == everything
    assert contract.sample_count(recording.report("--label", "release=v7")) == contract.sample_count(report)
    assert contract.sample_count(recording.report("--label", "process=split")) == contract.sample_count(report)
    assert recording.info()["complete"] is True


def test_rules_name_services(wick, background):
    background(workload("split", 60000))
    recording = once(wick, "2s", "--rule", "comm=spl*:divider", "--rule", "comm")
    assert contract.sample_count(recording.report("--label", "service=divider")) > 0


def test_a_program_that_ended_before_its_window_is_known(wick, background):
    command = " ".join(workload("split", 1000))
    background(["sh", "-c", f"sleep 1; WICK_SERVICE=brief {command}; sleep 60"])
    recording = once(wick, "6s", "-F", 199)
    assert_split(recording.report("--label", "service=brief"))


def test_arguments_and_other_variables_are_not_in_a_window(wick, background):
    background(["sh", "-c", "while :; do :; done", "top-secret-argument"],
               env={**os.environ, "API_KEY": "top-secret-variable"})
    recording = once(wick, "2s")
    assert b"top-secret" not in recording.path.read_bytes()
    text = subprocess.run(["strings", str(recording.path)], capture_output=True, check=False).stdout
    assert b"top-secret" not in text
    listed = wick.ok("export", recording.path, "--format", "samples").stdout
    assert "top-secret" not in listed


@pytest.mark.parametrize("options, words", [
    ((), "--once"),
    (("--once", "5"), "-o FILE"),
    (("--once", "5", "-o", "x", "--label", "service=a"), "service"),
    (("--once", "5", "-o", "x", "--rule", "name"), "SOURCE=PATTERN"),
])
def test_wrong_options_are_refused(wick, options, words):
    done = wick.run("agent", *options)
    assert done.returncode == contract.USAGE
    assert words in done.stderr

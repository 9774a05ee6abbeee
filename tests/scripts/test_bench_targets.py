# SPDX-License-Identifier: BSD-2-Clause
"""bench/targets.py and bench/quick.py: verdicts follow from rows, and a regression is a failure."""
import json
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import quick  # noqa: E402
import results  # noqa: E402
import targets  # noqa: E402


def row(what, met):
    return what, {"what": what, "perf": "–", "wick": "1 ms", "ratio": "–", "goal": "≤ 2 ms", "met": met}


def verdict_of(target, *rows):
    found = next(each for each in targets.TARGETS if each.id == target)
    return targets.line(found, dict(rows))[-1]


def test_a_target_is_met_if_all_its_rows_are():
    shallow, deep = "heap, shallow: added to a pair", "heap, 20 frames: added to a pair"
    assert verdict_of("H1", row(shallow, True), row(deep, True)) == targets.MET
    assert verdict_of("H1", row(shallow, True), row(deep, False)) == targets.MISSED
    assert verdict_of("H1", row(shallow, True), row(deep, None)) == targets.MET
    assert verdict_of("H1") == targets.UNKNOWN


def test_a_target_that_other_tests_prove_names_them():
    assert verdict_of("R1") == "by `make test-harm`"


def test_the_summary_counts_only_what_was_measured():
    found = dict([row("wall time added by launching", True), row("whole machine at 100 Hz, all CPUs busy: total CPU", False)])
    assert targets.summary(found).startswith("1 of 2 targets are met; ")


@pytest.mark.parametrize("cpu", results.CPUS)
def test_each_target_has_rows_or_tests(cpu):
    kept = results.load(cpu)
    known = [target.id for target in targets.TARGETS if targets.rows_of(target, kept) or target.elsewhere]
    assert {"C1", "C8", "U1", "S1", "F2", "R1"} <= set(known)


def test_a_figure_above_the_limit_fails_after_five_tries():
    tries = iter([3.1, 3.2, 3.05, 3.3, 3.4])
    line, figure = quick.judge("a walk", lambda _: next(tries), 2.0, None)
    assert line.startswith("FAIL a walk: 3.050, committed 2.000, ratio 1.52") and figure == 3.05


def test_one_good_try_is_enough():
    tries = iter([9.0, 2.9])
    assert quick.judge("a walk", lambda _: next(tries), 2.0, None)[0].startswith("ok a walk: 2.900")


def test_a_cpu_without_figures_is_skipped_with_the_reason():
    assert quick.judge("a walk", lambda _: 1.0, None, None)[0] == \
        "skip a walk: no figure of this CPU is committed; measured 1.000"


def test_committed_figures_belong_to_measurements():
    for figures in json.loads(quick.FIGURES.read_text(encoding="utf-8")).values():
        assert set(figures) <= set(quick.MEASUREMENTS)

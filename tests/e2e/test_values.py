# SPDX-License-Identifier: BSD-2-Clause
"""Profiles with several value types: events counted together, heap profiles."""
import json
import re

import contract
import pprof
import pytest

HEAP = (("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"),
        ("inuse_space", "bytes"))
COUNTERS = (("samples", "count"), ("cycles", "count"), ("instructions", "count"),
            ("cache-misses", "count"), ("cache-references", "count"))


def heap(path, cache_objects=5):
    writer = pprof.Writer(HEAP)
    writer.stack(("main", "load"), (10, 40960, 4, 16384))
    writer.stack(("main", "parse"), (100, 6400, 0, 0))
    writer.stack(("main", "cache"), (cache_objects, cache_objects << 20) * 2)
    path.write_bytes(writer.data())
    return path


def counters(path):
    writer = pprof.Writer(COUNTERS, default="cycles")
    writer.stack(("main", "walk"), (60, 600, 300, 20, 40))
    writer.stack(("main", "add"), (40, 400, 1100, 1, 100))
    path.write_bytes(writer.data())
    return path


def exported(wick, path, form, *options):
    out = wick.new_path()
    wick.ok("export", "--format", form, *options, path, "-o", out)
    with open(out, "rb") as file:
        return file.read()


def sums(profile):
    """{stack: values}"""
    return {tuple(stack): values for stack, values, _ in profile.samples}


def test_a_heap_profile_comes_out_as_it_went_in(wick, tmp_path):
    path = heap(tmp_path / "heap.pb")
    again = tmp_path / "again.pb.gz"
    for _ in range(2):
        again.write_bytes(exported(wick, path, "pprof"))
        profile = pprof.Profile(again.read_bytes())
        assert tuple(profile.types) == HEAP
        assert sums(profile) == {("main", "load"): [10, 40960, 4, 16384],
                                 ("main", "parse"): [100, 6400, 0, 0],
                                 ("main", "cache"): [5, 5 << 20, 5, 5 << 20]}
        path = again


def test_the_report_has_a_column_for_each_value(wick, tmp_path):
    text = wick.ok("report", heap(tmp_path / "heap.pb")).stdout
    assert "inuse_space 5.02 MiB" in text and "samples" not in text
    assert re.search(r"5\.00 MiB +5\.00 MiB +5 +5\.00 MiB +5 +cache", text)
    assert "parse" not in text  # nothing of it is in use
    by_count = wick.ok("report", "--event", "alloc_objects", tmp_path / "heap.pb").stdout
    assert re.search(r"87\.0% +87\.0% +100 +100 +6\.25 KiB +0 +0 +parse", by_count)


def test_ratios_are_told_for_each_function(wick, tmp_path):
    path = counters(tmp_path / "counters.pb")
    report = wick.json("report", "--format", "json", path)
    assert report["value"]["name"] == "cycles"
    assert report["ratios"] == {"ipc": 1.4, "cache_miss_share": 0.15}
    walk = next(row for row in contract.rows(report) if row["name"] == "walk")
    assert walk["values"]["instructions"] == {"self": 300, "total": 300}
    assert walk["ratios"] == {"ipc": 0.5, "cache_miss_share": 0.5}
    assert re.search(r"IPC +cache-miss share", wick.ok("report", path).stdout)


@pytest.mark.parametrize("by", ("module", "thread", "line"))
def test_other_rows_have_all_values_too(wick, tmp_path, by):
    path = counters(tmp_path / "counters.pb")
    rows = contract.rows(wick.json("report", "--format", "json", "--by", by, path))
    assert max(row["values"]["instructions"]["total"] for row in rows) == 1400


def test_the_tree_has_all_values_too(wick, tmp_path):
    path = counters(tmp_path / "counters.pb")
    text = wick.ok("report", "--tree", path).stdout
    assert re.search(r"60\.0% +600 +60 +300 +20 +40 +0\.50 +50\.0% .* walk", text)
    tree = wick.json("report", "--tree", "--inverted", "--format", "json", path)
    leaf = next(node for node in tree["nodes"] if node["name"] == "walk")
    assert leaf["values"]["cache-misses"] == {"self": 0, "total": 20} and leaf["ratios"]["ipc"] == 0.5


def test_formats_that_can_carry_all_values(wick, tmp_path):
    path = counters(tmp_path / "counters.pb")
    document = json.loads(exported(wick, path, "json"))
    walk = document["flame_tree"]["children"][0]["children"][1]
    assert walk["function_name"] == "walk" and walk["values"]["instructions"] == [300, 300]
    hot = {row["function_name"]: row["values"] for row in document["hot_functions"]}
    assert hot["main"]["instructions"] == [0, 1400] and hot["add"]["cache-misses"] == [1, 1]
    scope = tmp_path / "x.json"
    scope.write_bytes(exported(wick, path, "speedscope"))
    assert len(json.loads(scope.read_text())["profiles"]) == 4
    report = wick.json("report", "--format", "json", "--event", "instructions", scope)
    assert {row["name"]: row["self"] for row in contract.rows(report)} == {
        "add": 1100, "walk": 300, "main": 0}


def test_merging_adds_up_every_value(wick, tmp_path):
    path = heap(tmp_path / "heap.pb")
    both = wick.new_path()
    wick.ok("merge", path, path, "-o", both)
    assert sums(pprof.Profile(exported(wick, both, "pprof")))[("main", "load")] == [20, 81920, 8, 32768]
    mixed = wick.new_path()
    wick.ok("merge", counters(tmp_path / "a.pb"), tmp_path / "a.pb", "-o", mixed)
    profile = pprof.Profile(exported(wick, mixed, "pprof"))
    assert tuple(profile.types) == COUNTERS
    assert sums(profile)[("main", "walk")] == [120, 1200, 600, 40, 80]


def test_more_values_than_fit_are_named(wick, tmp_path):
    types = [(f"event{i}", "count") for i in range(12)]
    writer = pprof.Writer(types)
    writer.stack(("main",), range(1, 13))
    path = tmp_path / "many.pb"
    path.write_bytes(writer.data())
    text = wick.ok("report", path).stdout
    assert "too many to show: event9, event10; choose one with --event" in text
    assert "event11 12" in text  # the main one is the last
    assert "event10 11" in wick.ok("report", "--event", "event10", path).stdout


@pytest.fixture
def heaps(tmp_path):
    return heap(tmp_path / "old.pb"), heap(tmp_path / "new.pb", 6)


def test_heaps_are_compared_by_bytes_and_by_counts(wick, heaps):
    text = wick.ok("diff", *heaps).stdout
    assert "inuse_space 5.02 MiB" in text and "treated as exact" in text
    assert re.search(r"5\.00 MiB +6\.00 MiB +\+1\.00 MiB +\+20\.0% +exact .* cache", text)
    counts = wick.json("diff", "--event", "inuse_objects", "--format", "json", *heaps)
    assert counts["value"] == {"name": "inuse_objects", "unit": "count"} and counts["exact"]
    rows = {row["name"]: row["self"] for row in counts["rows"]}
    assert (rows["cache"]["before"], rows["cache"]["after"]) == (5, 6)
    assert rows["load"]["confidence"] == 0 and rows["cache"]["confidence"] == 100
    assert "shares of the total" in wick.ok("diff", "--normalized", *heaps).stdout


@pytest.mark.parametrize("gate, status", (
    ("total>+3%", 3), ("total>+25%", 0), ("cache>+5%", 3),
    ("cache>+20%", 0), ("load>+0%", 0), ("cache>+1pp", 0), ("cache>+0.01pp", 3)))
def test_gates_on_heaps_need_no_confidence(wick, heaps, gate, status):
    done = wick.run("diff", "--fail-if", gate, *heaps)
    assert done.returncode == status
    assert ("the numbers are treated as exact" in done.stderr) == (status != 0)


def test_a_heap_has_no_rate(wick, heaps):
    done = wick.run("diff", "--fail-if", "rate>+3%", *heaps)
    assert done.returncode == 1 and "has no duration" in done.stderr

# SPDX-License-Identifier: BSD-2-Clause
"""Events that a program reports through include/wick/wick.h, with examples/events."""
import gzip
import json
import re
import subprocess

import contract
import pytest
from conftest import BUILD, workload
from pprof import message

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
    assert contract.total_percent(queries, "query") == 100
    # Stacks of events before the recorder has told where modules lie may lack their callers.
    assert contract.total_percent(queries, "answer") > 97


def test_labels_stand_with_samples_and_events(told):
    lines = told.wick.ok("export", told.path, "--format", "samples").stdout.splitlines()
    samples = [json.loads(line) for line in lines]
    tenants = {sample["labels"].get("tenant") for sample in samples if sample["event"] == "cpu-clock"}
    assert {"large", "small"} <= tenants
    parts = {sample["labels"].get("part") for sample in samples}
    assert "answer" in parts


def test_labels_choose_what_is_looked_at(told):
    def total(*labels):
        options = [word for label in labels for word in ("--label", label)]
        report = told.report(*options)
        rows = [value for value in report["values"] if value["name"] == "rows"]
        return report["value"]["total"], rows[0]["total"]
    large, small, both = total("tenant=large"), total("tenant=small"), total("part=answer")
    assert (large[1], small[1], both[1]) == (4000, 2000, 6000)
    assert large[0] + small[0] == pytest.approx(both[0], rel=0.05)
    assert total("tenant=large", "tenant=small", "part=answer") == both
    assert total("tenant=large", "part=no") == (0, 0) == total("tenan=large")
    bad = told.wick.run("report", "--label", "tenant", told.path)
    assert bad.returncode == contract.USAGE and "KEY=VALUE" in bad.stderr


def test_gauges_are_never_summed(told):
    report = told.report()
    (gauge,) = report["gauges"]
    assert gauge["name"] == "waiting" and gauge["times"] == 300
    assert (gauge["last"], gauge["lowest"], gauge["highest"], gauge["mean"]) == (1, 1, 300, 150.5)
    assert "waiting" not in {value["name"] for value in report["values"]}
    text = told.wick.ok("report", told.path).stdout
    assert re.search(r"gauge waiting of events/\d+: last 1, lowest 1, highest 300", text)
    refused = told.wick.run("report", "--event", "waiting", told.path)
    assert refused.returncode == contract.FAILED
    assert "wick timeline --event waiting" in refused.stderr


def test_gauges_have_a_track_over_time(told):
    done = told.wick.ok("timeline", "--format", "json", told.path)
    (track,) = json.loads(done.stdout)["gauges"]
    levels = [level for level in track["steps"] if level is not None]
    assert levels == sorted(levels, reverse=True) and levels[-1] == 1
    assert len(set(levels)) > 20
    alone = told.wick.ok("timeline", "--event", "waiting", told.path).stdout
    assert "█" in alone and "waiting" in alone and "share" not in alone


def test_the_firefox_profiler_has_markers_and_graphs(told):
    profile = json.loads(told.wick.ok("export", "--format", "firefox", told.path).stdout)
    schemas = {schema["name"]: schema for schema in profile["meta"]["markerSchema"]}
    assert set(schemas) == {"query", "rows", "part", "waiting"}
    assert schemas["waiting"]["graphs"][0]["type"] == "line-filled"
    assert "graphs" in schemas["rows"] and "graphs" not in schemas["query"]
    (thread,) = profile["threads"]
    markers = thread["markers"]
    columns = {"data", "name", "startTime", "endTime", "phase", "category"}
    assert set(markers) == columns | {"length"}
    assert all(len(markers[column]) == markers["length"] == 1200 for column in columns)
    names = [profile["shared"]["stringArray"][name] for name in markers["name"]]
    rows = [data["value"] for data in markers["data"] if data["type"] == "rows"]
    assert sum(rows) == 100 * 40 + 200 * 10
    for name, start, end, data in zip(names, markers["startTime"], markers["endTime"],
                                      markers["data"]):
        assert name == ("answer" if data["type"] == "part" else data["type"])
        if data["type"] in ("query", "part"):
            assert end - start == pytest.approx(data["value"], abs=0.01)
            assert "tenant: " in data["labels"]
        else:
            assert end is None


def test_perfetto_has_counter_tracks_and_slices(told, tmp_path):
    path = tmp_path / "trace"
    told.wick.ok("export", "--format", "perfetto", "-o", path, told.path)
    tracks, values, slices, open_at = {}, {}, {}, {}
    for packet in map(message, message(path.read_bytes())[1]):
        if 60 in packet:
            track = message(packet[60][0])
            tracks[track[1][0]] = track
        if 11 not in packet:
            continue
        assert packet[10] == [2]  # a sequence of its own
        event = message(packet[11][0])
        uuid, kind = event[11][0], event[9][0]
        name = tracks[uuid][2][0].decode()
        assert tracks[uuid][5][0] in tracks  # below a process or thread
        if kind == 4:
            assert 8 in tracks[uuid]  # a counter
            values.setdefault(name, []).append(event[30][0])
        elif kind == 1:
            open_at[uuid] = packet[8][0]
        else:
            slices.setdefault(name, []).append(packet[8][0] - open_at.pop(uuid))
    assert values["waiting"] == list(range(300, 0, -1))
    assert values["rows"][-1] == 100 * 40 + 200 * 10 == max(values["rows"])
    assert set(values) == {"waiting", "rows"} and set(slices) == {"query", "part"}
    queries = told.report("--event", "query")["value"]["total"]
    assert sum(slices["query"]) == pytest.approx(queries, rel=0.01)


@pytest.mark.parametrize("name", ["pprof", "otlp", "speedscope", "json"])
def test_other_formats_have_them_as_values(told, name, tmp_path):
    path = tmp_path / "out"
    told.wick.ok("export", "--format", name, "-o", path, told.path)
    data = path.read_bytes()
    data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    assert all(event in data for event in (b"query", b"rows", b"part"))
    assert (b"waiting" in data) == (name in ("pprof", "json"))


@pytest.fixture(scope="module")
def chosen(shared_wick):
    return shared_wick.record(workload("tells", 60), "--engine", "signal")


def seen_ns(report, function):
    return report["value"]["total"] * contract.total_percent(report, function) / 100


def test_a_program_chooses_what_is_seen_of_it(chosen):
    """Paused time has no weight, neither as samples nor in the samples after it."""
    recording = chosen
    report = recording.report("--no-inline")
    assert contract.total_percent(report, "unseen") < 3
    assert seen_ns(report, "seen") == pytest.approx(recording.truth["seen_ns"], rel=0.1)
    names = {value["name"] for value in report["values"]}
    assert "paused" in names and "stopped" not in names
    (gauge,) = report["gauges"]
    assert (gauge["last"], gauge["lowest"], gauge["highest"], gauge["times"]) == (3, -5, 20, 3)
    levels = [json.loads(line)["weight"] for line in recording.wick.ok(
        "export", "--format", "samples", "--event", "depth", recording.path).stdout.splitlines()]
    assert levels == [20, -5, 3]


def test_stopping_and_starting_at_once_ends_as_the_last_says(chosen):
    report = chosen.report("--no-inline")
    assert seen_ns(report, "settled") == pytest.approx(chosen.truth["part_ns"], rel=0.25)


def test_a_child_of_fork_has_the_labels_of_its_parent(chosen):
    """An empty one too, and the part that it is in, which it can end."""
    lines = chosen.wick.ok("export", "--format", "samples", chosen.path).stdout.splitlines()
    samples = [json.loads(line) for line in lines]
    child = [s for s in samples if any(f["function"] == "forked" for f in s["stack"])]
    wanted = {"tenant": "large", "shard": "", "part": "split"}
    assert child and all(s["labels"] == wanted for s in child)
    (parted,) = [s for s in samples if s["event"] == "parted"]
    assert parted["labels"] == {"tenant": "large", "shard": ""}


def test_events_are_where_they_are_told_without_tables(shared_wick):
    """A walk by frame pointers may skip the caller of our own function."""
    recording = shared_wick.record([str(EVENTS)], "--engine", "signal", "--unwind", "fp")
    assert contract.total_percent(recording.report("--event", "query"), "query") == 100

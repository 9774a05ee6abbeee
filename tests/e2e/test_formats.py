# SPDX-License-Identifier: BSD-2-Clause
"""Export and import of all formats: nothing is lost or made up."""
import gzip
import json
import os
import shutil
import subprocess

import contract
import pprof
import pytest
from conftest import REFUSAL, ROOT, WICK, workload

OLD = ROOT / "tests/golden/recording-v1.wick"


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


def export(wick, path, name, *options):
    done = subprocess.run([str(WICK), "export", "--format", name, *options, str(path)],
                          capture_output=True, check=True, timeout=60)
    return done.stdout


def folded_of(wick, path, *options):
    """{functions below the process: samples}"""
    counts = {}
    for line in export(wick, path, "folded", *options).decode().splitlines():
        stack, count = line.rsplit(" ", 1)
        key = tuple(stack.split(";")[1:])
        counts[key] = counts.get(key, 0) + int(count)
    return counts


def test_pprof_holds_the_same_stacks_and_sums(wick):
    profile = pprof.Profile(export(wick, OLD, "pprof"))
    assert profile.types == [("samples", "count"), ("cpu", "nanoseconds"), ("faults", "count")]
    assert profile.period == 1_000_000
    counts, weight = {}, 0
    for stack, values, labels in profile.samples:
        counts[tuple(stack)] = counts.get(tuple(stack), 0) + values[0]
        weight += values[1]
        assert {"pid", "tid", "thread", "process"} <= set(labels)
    assert {stack: n for stack, n in counts.items() if n} == folded_of(wick, OLD)
    assert weight == sum(s["weight"] for s in samples_of(wick, OLD))
    assert ("/usr/bin/shop", "01020304") in profile.mappings.values()


def test_pprof_is_the_same_every_time(wick):
    assert export(wick, OLD, "pprof") == export(wick, OLD, "pprof")


@pytest.mark.skipif(not shutil.which("go"), reason="go is not installed")
def test_go_tool_pprof_opens_it(wick, tmp_path):
    path = tmp_path / "x.pb.gz"
    path.write_bytes(export(wick, OLD, "pprof"))
    for view in ("-top", "-peek=do_it", "-raw", "-tags"):
        done = subprocess.run(["go", "tool", "pprof", view, str(path)], capture_output=True,
                              text=True, timeout=60, check=True,
                              env={**os.environ, "HOME": str(tmp_path)})
        assert done.stdout


def test_speedscope_holds_the_same_stacks_and_weights(wick):
    document = json.loads(export(wick, OLD, "speedscope"))
    frames = [f["name"] for f in document["shared"]["frames"]]
    weights = {}
    for profile in document["profiles"]:
        if profile["name"].endswith("): faults"):
            continue
        assert profile["type"] == "sampled" and profile["unit"] == "nanoseconds"
        assert len(profile["samples"]) == len(profile["weights"])
        assert profile["endValue"] - profile["startValue"] == sum(profile["weights"])
        for stack, weight in zip(profile["samples"], profile["weights"]):
            key = tuple(frames[i] for i in stack)
            weights[key] = weights.get(key, 0) + weight
    expected = {}
    for sample in samples_of(wick, OLD):
        key = tuple(f["function"] for f in sample["stack"])
        expected[key] = expected.get(key, 0) + sample["weight"]
    assert weights == expected


def in_order_of_time(samples):
    """{tid: [(functions, weight)]} of what `samples` lists."""
    threads = {}
    for sample in sorted(samples, key=lambda sample: sample["time_ns"]):
        threads.setdefault(sample["tid"], []).append(
            (tuple(frame["function"] for frame in sample["stack"]), sample["weight"]))
    return threads


def scope_threads(document):
    """The same of a speedscope document's main value."""
    frames = [frame["name"] for frame in document["shared"]["frames"]]
    return {int(profile["name"].rsplit(" ", 1)[1].rstrip(")")):
            [(tuple(frames[i] for i in stack), weight)
             for stack, weight in zip(profile["samples"], profile["weights"])]
            for profile in document["profiles"] if profile["name"].endswith(")")}


def test_speedscope_has_every_sample_in_the_order_of_time(wick):
    samples = samples_of(wick, OLD)
    threads = scope_threads(json.loads(export(wick, OLD, "speedscope")))
    assert threads == in_order_of_time(samples)
    assert sum(map(len, threads.values())) == len(samples)
    stacks = {stack for one in threads.values() for stack, _ in one}
    assert len(stacks) < len(samples)  # some come twice: added up they would be fewer


def test_speedscope_in_order_obeys_filters(wick):
    options = ("--only", "do_it", "--from", "10ms", "--tid", "101")
    expected = in_order_of_time(samples_of(wick, OLD, *options))
    assert expected and expected != in_order_of_time(samples_of(wick, OLD))
    assert scope_threads(json.loads(export(wick, OLD, "speedscope", *options))) == expected


def test_speedscope_of_a_live_recording_is_in_order(recording, wick):
    expected = in_order_of_time(samples_of(wick, recording.path))
    assert scope_threads(json.loads(export(wick, recording.path, "speedscope"))) == expected


def test_json_has_the_promised_keys_and_its_tree_adds_up(wick):
    document = json.loads(export(wick, OLD, "json"))
    assert set(document) == {"profiling_session", "flame_tree", "hot_functions", "memory_profile"}
    assert document["memory_profile"] is None
    nodes = [document["flame_tree"]]
    self_count = 0
    for node in nodes:
        assert {"function_name", "sample_count", "self_count", "children"} <= set(node)
        below = sum(child["sample_count"] for child in node["children"])
        assert node["sample_count"] == node["self_count"] + below
        self_count += node["self_count"]
        nodes += node["children"]
    assert self_count == document["profiling_session"]["samples"] == 72
    assert sum(f["self_count"] for f in document["hot_functions"]) <= self_count


def test_folded_marks_the_kernel_when_asked(wick):
    assert not any(name.endswith("_[k]") for stack in folded_of(wick, OLD) for name in stack)
    marked = folded_of(wick, OLD, "--marks")
    assert any(stack[-1] == "do_it_[k]" for stack in marked if stack)


def test_recursion_is_collapsed_in_every_format(wick, tmp_path):
    source = tmp_path / "r.folded"
    source.write_text("app;main;f;f;f;g;f 3\napp;main;f 2\napp;main;f;f 4\n")
    whole, short = {("main", "f"): 6, ("main", "f", "g", "f"): 3}, "--collapse-recursion"
    assert folded_of(wick, source, short) == whole
    profile = pprof.Profile(export(wick, source, "pprof", short))
    assert {tuple(s): v[0] for s, v, _ in profile.samples} == whole
    lines = [[f["function"] for f in s["stack"]] for s in samples_of(wick, source, short)]
    assert {tuple(stack) for stack in lines} == set(whole)
    for form in ("speedscope", "json", "otlp", "perfetto", "firefox"):
        assert export(wick, source, form, short) != export(wick, source, form)
    document = json.loads(export(wick, source, "speedscope", short))
    names = [frame["name"] for frame in document["shared"]["frames"]]
    assert {tuple(names[i] for i in stack) for one in document["profiles"]
            for stack in one["samples"]} == set(whole)


@pytest.mark.parametrize("name", ("folded", "pprof"))
@pytest.mark.parametrize("way", ("directly", "import", "gzip", "pipe"))
def test_stacks_survive_the_way_out_and_back(wick, tmp_path, name, way):
    data = export(wick, OLD, name)
    path = tmp_path / "other"
    path.write_bytes(gzip.compress(data) if way == "gzip" and name == "folded" else data)
    expected = export(wick, OLD, "folded")
    if way == "import":
        wick.ok("import", path, "-o", tmp_path / "x.wick")
        path = tmp_path / "x.wick"
        assert path.read_bytes()[1:5] == b"WICK"
    if way == "pipe":
        done = subprocess.run(f"cat '{path}' | '{WICK}' export --format folded -", shell=True,
                              capture_output=True, check=True, timeout=60)
        assert done.stdout == expected
    else:
        assert export(wick, path, "folded") == expected


def weights_of(document):
    frames = [f["name"] for f in document["shared"]["frames"]]
    weights = {}
    for profile in document["profiles"]:
        for stack, weight in zip(profile["samples"], profile["weights"]):
            key = (profile["name"], *(frames[i] for i in stack))
            weights[key] = weights.get(key, 0) + weight
    return weights


def test_speedscope_survives_the_way_out_and_back(wick, tmp_path):
    first = export(wick, OLD, "speedscope")
    path = tmp_path / "x.json"
    path.write_bytes(first)
    again = export(wick, path, "speedscope")
    assert weights_of(json.loads(again)) == weights_of(json.loads(first))


def test_pprof_keeps_labels_mappings_and_values(wick, tmp_path):
    path = tmp_path / "x.pb.gz"
    path.write_bytes(export(wick, OLD, "pprof"))
    first, again = pprof.Profile(path.read_bytes()), pprof.Profile(export(wick, path, "pprof"))
    assert again.types == first.types
    assert again.duration_ns == first.duration_ns and again.time_ns == first.time_ns
    assert sorted(again.mappings.values()) == sorted(first.mappings.values())
    assert again.period == first.period

    def sums(profile):
        result = {}
        for stack, values, labels in profile.samples:
            key = (tuple(stack), labels["thread"], labels["tid"], labels["process"])
            result[key] = [sum(pair) for pair in zip(result.get(key, [0, 0, 0]), values)]
        return result
    assert sums(again) == sums(first)


@pytest.mark.parametrize("form", ((), ("--tree",)))
def test_a_function_without_a_name_shows_in_reports(wick, tmp_path, form):
    path = tmp_path / "x.folded"
    path.write_text("app;main; 5\n")
    lines = wick.ok("report", *form, path).stdout.splitlines()
    assert sum(line.endswith("[unnamed]") for line in lines) == 1, lines


def test_pprof_keeps_the_title(wick, tmp_path):
    two, path = tmp_path / "two.wick", tmp_path / "x.pb.gz"
    wick.ok("merge", OLD, OLD, "-o", two)
    for source, title in ((two, "2 recordings"), (OLD, "")):  # the old one tells of losses only
        path.write_bytes(export(wick, source, "pprof"))
        assert wick.json("report", "--format", "json", path)["title"] == title


def test_pprof_keeps_labels_it_does_not_know(wick, tmp_path):
    labels = ({"request": "/index", "tenant": "caf\u00e9 \"x\""}, {"request": "/other"},
              {"bytes": (4096, "bytes"), "retries": -3, "zero": 0}, {"note": "12 34 56"}, {})
    writer = pprof.Writer()
    writer.function(1, "main")
    for count, some in enumerate(labels, 1):
        writer.sample([1], count, some)
    path = tmp_path / "x.pb"
    path.write_bytes(writer.data())
    own = {"process", "thread", "pid", "tid"}
    for _ in range(2):  # what comes out goes in again
        profile = pprof.Profile(export(wick, path, "pprof"))
        got = {values[0]: {k: v for k, v in some.items() if k not in own}
               for _, values, some in profile.samples}
        assert got == dict(enumerate(labels, 1))
        path = tmp_path / "again.pb.gz"
        path.write_bytes(export(wick, tmp_path / "x.pb", "pprof"))


def test_info_counts_samples_not_lines(wick, tmp_path):
    path = tmp_path / "x.folded"
    path.write_text("app;main;hot 90\napp;main;cold 10\n")
    assert json.loads(wick.ok("info", "--format", "json", path).stdout)["samples"] == 100
    assert "only" not in wick.ok("info", "--check", path).stdout


@pytest.mark.parametrize("name", ("</script>", "a\"b'c", "caf\u00e9 \u202e", "f 7", "operator()", "x" * 10000))
@pytest.mark.parametrize("form", ("pprof", "speedscope", "json", "samples"))
def test_hostile_names_survive(wick, tmp_path, name, form):
    path = tmp_path / "x.folded"
    path.write_text(f"app;{name};leaf 3\n")
    data = export(wick, path, form)
    if form == "pprof":
        assert pprof.Profile(data).samples[0][0] == [name, "leaf"]
    elif form == "speedscope":
        assert json.loads(data)["shared"]["frames"][0]["name"] == name
    elif form == "json":
        assert json.loads(data)["flame_tree"]["children"][0]["function_name"] == name
    else:
        assert json.loads(data)["stack"][0]["function"] == name


def test_every_looking_command_takes_another_format(wick, tmp_path):
    path = tmp_path / "x.folded"
    path.write_text("app;main;hot 90\napp;main;cold 10\n")
    assert "hot" in wick.ok("report", path).stdout
    wick.ok("flame", path, "-o", tmp_path / "x.svg")
    assert "hot" in (tmp_path / "x.svg").read_text()
    assert "complete" in wick.ok("info", path).stdout
    assert "cold" not in wick.ok("export", "--format", "folded", "--only", "hot", path).stdout


def test_merge_adds_up(wick, tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("app;main;a 1\nb;x 5\n")
    two.write_text("web;y 3\napp;main;a 2\n")
    wick.ok("merge", one, two, "-o", tmp_path / "both.wick")
    assert export(wick, tmp_path / "both.wick", "folded") == b"app;main;a 3\nb;x 5\nweb;y 3\n"
    wick.ok("merge", OLD, OLD, "-o", tmp_path / "twice.wick")
    assert folded_of(wick, tmp_path / "twice.wick") == {
        stack: 2 * count for stack, count in folded_of(wick, OLD).items()}


def test_merge_refuses_what_measures_something_else(wick, tmp_path):
    (tmp_path / "one").write_text("app;main 1\n")
    done = subprocess.run([str(WICK), "merge", str(tmp_path / "one"), str(OLD), "-o",
                           str(tmp_path / "x.wick")], capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == 1
    assert "measures cpu in nanoseconds" in done.stderr
    assert not (tmp_path / "x.wick").exists()

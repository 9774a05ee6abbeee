# SPDX-License-Identifier: BSD-2-Clause
"""report, flame, export, info, maps: output formats that scripts and people rely on."""
import base64
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import time
import xml.etree.ElementTree

import contract
import pprof
import pytest
from conftest import REFUSAL, ROOT, WICK, wait_for, workload

COMMANDS = ("record", "report", "flame", "diff", "export", "info", "maps", "doctor")


@pytest.fixture(scope="module")
def recording(shared_wick):
    if REFUSAL:
        pytest.skip(f"perf events are refused here: {REFUSAL}")
    return shared_wick.record(workload("split", 600), "-F", 999)


def test_the_report_lists_the_hottest_first(recording, wick):
    # Both call what burns: a single sample in one of them would decide by self.
    text = wick.ok("report", "--sort", "total", recording.path).stdout
    assert text.index("hot_70") < text.index("cool_30")
    assert re.search(r"6\d\.\d+\s*%|7\d\.\d+\s*%", text)


def test_a_flame_graph_tells_how_it_was_made(recording, wick, tmp_path):
    graph = tmp_path / "flame.svg"
    wick.ok("flame", recording.path, "--only", "hot", "--no-kernel", "-o", graph)
    root = xml.etree.ElementTree.parse(graph).getroot()
    told = json.loads(root.find("{http://www.w3.org/2000/svg}metadata").text)
    assert told["recording"]["frequency_hz"] == "999"
    assert told["recording"]["command"].startswith(workload("split")[0])
    assert told["filters"] == ["--only hot", "--no-kernel"]
    assert told["drawn"]["value"] == "cpu" and told["start_unix_ns"] > 0


def test_the_value_can_be_chosen(recording, wick):
    report = recording.report("--value", "samples")
    assert report["value"]["name"] == "samples"
    assert report["value"]["total"] == report["samples"]
    refused = wick.run("report", "--value", "cycles", recording.path)
    assert refused.returncode == 1
    assert "no value cycles" in refused.stderr and "samples, cpu" in refused.stderr


def test_lines_are_listed_with_their_share(recording):
    rows = recording.report("--by", "line")["rows"]
    hot = [row for row in rows if row["file"].endswith("burn.h")]
    assert sum(row["self_percent"] for row in hot) > 90
    assert all(re.search(r"burn\.h:\d+$", row["name"]) for row in hot)


def test_what_to_look_up_can_be_chosen(recording):
    names = recording.report("--symbols", "names")
    lines = recording.report("--symbols", "lines")
    assert names["resolved"] == 0 < names["name_only"]
    assert lines["resolved"] > 0.9 * lines["samples"]


def test_missing_symbols_are_listed_with_what_would_help(wick, tmp_path):
    program = tmp_path / "stripped"
    subprocess.run(["strip", "-o", program, *workload("split")[:1]], check=True)
    recording = wick.record([str(program), "400"], "-F", 999)
    assert re.search(r"names +\d\.\d % of samples with function and line", recording.stderr)
    missing = wick.json("report", "--missing", "--format", "json", recording.path)
    module = missing["modules"][0]
    assert module["module"] == str(program)
    assert module["unnamed"] > 0.9 * missing["samples"]
    assert module["problem"].startswith("stripped: ")
    assert module["build_id"][2:] in module["help"]
    text = wick.ok("report", "--missing", recording.path).stdout
    assert str(program) in text and module["help"] in text
    warnings = wick.ok("report", recording.path).stderr.splitlines()
    assert [str(program) in line for line in warnings].count(True) == 1
    program.unlink()
    gone = wick.json("report", "--missing", "--format", "json", recording.path)["modules"][0]
    assert gone["problem"] == "file is gone" and "--symbol-path DIR" in gone["help"]


def test_the_json_report_has_the_promised_keys(recording):
    report = recording.report()
    row = contract.rows(report)[0]
    assert contract.ROW_KEYS <= set(row)
    assert row["total"] >= row["self"] > 0
    percents = [row["self_percent"] for row in contract.rows(report)]
    assert percents == sorted(percents, reverse=True)


@pytest.mark.parametrize("by", ("thread", "module"))
def test_every_grouping_has_a_text_and_a_json_form(recording, wick, by):
    assert wick.ok("report", "--by", by, recording.path).stdout.strip()
    assert recording.report("--by", by)


def test_a_report_of_stdin_is_the_report_of_the_file(recording, wick):
    of_file = wick.ok("report", recording.path).stdout
    with open(recording.path, "rb") as file:
        of_pipe = subprocess.run([str(WICK), "report", "-"], stdin=file, capture_output=True,
                                 text=True, check=True).stdout
    assert of_pipe == of_file


def test_filters_keep_what_they_name(recording):
    only = recording.report("--only", "cool_30")
    assert contract.total_percent(only, "hot_70") == 0
    assert contract.total_percent(only, "cool_30") > 0
    nothing = recording.report("--comm", "no-such-name")
    assert contract.rows(nothing) == []


def test_no_colour_codes_in_a_pipe(recording, wick):
    done = wick.ok("report", recording.path)
    assert "\x1b" not in done.stdout + done.stderr


def test_the_flame_graph_is_well_formed_and_self_contained(recording, wick):
    wick.ok("flame", recording.path, "-o", "flame.svg")
    text = (wick.folder / "flame.svg").read_text()
    root = xml.etree.ElementTree.fromstring(text)
    assert root.tag.endswith("svg")
    assert "hot_70" in text and "cool_30" in text
    links = re.findall(r'(?:href|src)\s*=\s*"(https?:[^"]*)"', text)
    assert links == []
    assert "<script" in text


def test_a_page_has_the_recording_and_sources_only_when_allowed(recording, wick):
    def packed(*options):
        wick.ok("flame", recording.path, "--only", "hot", *options, "-o", "page.html")
        text = (wick.folder / "page.html").read_text()
        scripts = re.findall(r"<script([^>]*)>(.*?)</script>", text, re.S)
        assert len(scripts) == 3 and "</script>\n</body>\n</html>\n" in text
        told = json.loads(scripts[0][1])
        assert told["filters"][0] == "--only hot" and told["page"]["values"][1]["name"] == "cpu"
        return gzip.decompress(base64.b64decode(scripts[1][1]))

    line = b"x = x * UINT64_C(6364136223846793005) + 1;"
    shown, hidden = packed(), packed("--no-source")
    assert b"hot_70" in shown and line in shown
    assert b"hot_70" in hidden and line not in hidden


def test_the_flame_graph_goes_to_a_file_beside_or_to_stdout(recording, wick):
    done = wick.ok("flame", recording.path, "-o", "-")
    assert done.stdout.lstrip().startswith("<")


@pytest.mark.parametrize("option", ("--inverted", "--icicle"))
def test_other_forms_of_the_flame_graph_are_well_formed(recording, wick, option):
    wick.ok("flame", recording.path, option, "-o", "flame.svg")
    xml.etree.ElementTree.parse(wick.folder / "flame.svg")


def test_a_title_with_markup_does_no_harm(recording, wick):
    wick.ok("flame", recording.path, "--title", "<b>&\"'</b>", "-o", "flame.svg")
    xml.etree.ElementTree.parse(wick.folder / "flame.svg")


def test_folded_lines_are_stacks_and_counts(recording):
    stacks = recording.folded()
    total = sum(count for _, count in stacks)
    assert total > 0
    assert all(frames and count > 0 for frames, count in stacks)
    hot = sum(count for frames, count in stacks if "hot_70" in frames)
    assert hot / total == pytest.approx(0.7, abs=0.04)


def test_export_writes_the_file_it_was_given(recording, wick):
    wick.ok("export", recording.path, "--format", "folded", "-o", "out.folded")
    assert "main;hot_70" in (wick.folder / "out.folded").read_text()


def test_info_tells_the_target_the_times_and_the_modules(recording, wick):
    text = wick.ok("info", recording.path).stdout
    assert "split" in text
    info = recording.info()
    assert contract.sample_count(info) > 400
    assert not contract.is_truncated(info)
    assert any(path.endswith("/split") for path in contract.module_paths(info))
    assert any(re.search(r"libc\.so", path) for path in contract.module_paths(info))


def test_info_check_finds_a_fresh_recording_good(recording, wick):
    done = wick.ok("info", "--check", recording.path)
    assert done.stdout.strip()


def test_a_growing_file_is_readable(wick, background):
    target = background(workload("spin", 20000))
    path = wick.new_path()
    process = wick.start("record", "-p", target.pid, "-o", path, "-d", 6)
    try:
        wait_for(lambda: path.exists() and wick.run("info", path).returncode == 0,
                 seconds=5, what="a readable file")
    finally:
        process.terminate()
        process.communicate(timeout=10)


def test_maps_lists_the_libraries_and_resolves_addresses(wick, background):
    target = background(["sleep", "30"])

    def libc_code():
        lines = pathlib.Path(f"/proc/{target.pid}/maps").read_text(encoding="utf-8").splitlines()
        return next((line for line in lines if "libc.so" in line and " r-xp " in line), None)

    line = wait_for(libc_code, what="its C library")  # which comes some time after the exec
    text = wick.ok("maps", "-p", target.pid).stdout
    assert "libc.so" in text
    address = int(line.split("-")[0], 16) + 0x10
    answer = wick.ok("maps", "-p", target.pid, hex(address), "0x10").stdout
    assert re.search(r"libc\.so[^\s]*\+0x[0-9a-f]+", answer)
    assert contract.UNKNOWN in answer


def test_maps_of_a_process_that_is_not_there_fails(wick):
    done = wick.run("maps", "-p", 2 ** 22 - 1)
    assert done.returncode == contract.FAILED
    assert str(2 ** 22 - 1) in done.stderr


def test_version_names_the_version_and_the_commit(wick):
    text = wick.ok("--version").stdout
    assert re.match(r"wick \d+\.\d+\.\d+", text)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(wick, command):
    done = wick.ok(command, "--help")
    assert f"wick {command}" in done.stdout
    assert done.stderr == ""


def test_help_lists_every_command(wick):
    text = wick.ok("--help").stdout
    assert all(command in text for command in COMMANDS)


def test_every_listed_option_of_record_is_described(wick):
    text = wick.ok("record", "--help").stdout
    for option in ("-F", "-d", "-o", "-p", "-t", "-a", "--[no-]children"):
        assert option in text


def test_the_configuration_is_sorted_by_section_and_key(wick):
    values = wick.json("config", "--print", "--format", "json")["values"]
    keys = [value["key"] for value in values]
    assert keys == sorted(set(keys)) and len(keys) > 10
    lines = wick.ok("config", "--print").stdout.splitlines()
    assert [line.split()[0] for line in lines if " = " in line] == keys


def test_a_configuration_comes_from_a_pipe(wick):
    shown = wick.ok("config", "--print", "--config", "/dev/stdin", input='{"heap": {"depth": 77}}')
    assert re.search(r"heap.depth += 77 ", shown.stdout)


def test_the_engines_of_the_configuration_are_those_there_are(wick):
    words = wick.json("config", "--schema")["properties"]["sampling"]["properties"]["engine"]["enum"]
    listed = [line.split()[0] for line in wick.ok("list", "engines").stdout.splitlines()[1:]]
    assert words == ["auto", *(engine for engine in listed if engine != "uprobe")]


@pytest.mark.perf
def test_symbols_with_any_bytes_come_out_safe(wick):
    objcopy = shutil.which("objcopy")
    if not objcopy:
        pytest.skip("no objcopy")
    name = b"a\x1b[2J;b\x01c\x7f<script>&\"'\xff\xe2\x82z"
    program = wick.folder / "odd"
    (wick.folder / "names").write_bytes(b"hot_70 " + name + b"\n")
    subprocess.run([objcopy, "--strip-debug", "--redefine-syms", wick.folder / "names",
                    workload("split")[0], program], check=True)
    recording = wick.record([str(program), "300"])
    text = wick.ok("report", recording.path).stdout
    assert "a\\x1b[2J;b\\x01c\\x7f<script>&\"'\ufffd" in text
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text)
    names = [row["name"] for row in contract.rows(recording.report())]
    assert any(name.startswith("a\x1b[2J;b\x01c\x7f<script>&\"'\ufffd") for name in names)
    folded = wick.ok("export", recording.path, "--format", "folded").stdout
    assert "a_[2J:b_c_<script>&\"'\ufffd" in folded
    wick.ok("flame", recording.path, "-o", "odd.svg")
    svg = (wick.folder / "odd.svg").read_text()
    xml.etree.ElementTree.fromstring(svg)
    assert "\x1b" not in svg and "b\ufffdc" in svg and ";b" in svg
    assert "<script>&" not in svg and "&lt;script&gt;&amp;" in svg


def needs_compiler():
    if not shutil.which("cc"):
        pytest.skip("no compiler")


MANY_LINES = "int main(void)\n{\n\tvolatile unsigned sum = 0;\n\tfor (int i = 0; i < 200000; i++) {\n" \
    + "".join(f"\t\tsum += {i};\n" for i in range(1000)) + "\t}\n}\n"


@pytest.mark.parametrize("keep", [True, False])
def test_the_summary_keeps_answers_as_the_configuration_says(wick, tmp_path, keep):
    needs_compiler()
    (tmp_path / "many.c").write_text(MANY_LINES)
    subprocess.run(["cc", "-g", "-Wl,--build-id", "-o", tmp_path / "many", tmp_path / "many.c"],
                   check=True)
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"symbols": {"cache": keep}}))
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = wick.ok("--config", config, "record", "-F", "4999", "-o",
                   tmp_path / "many.wick", "--", tmp_path / "many", env=env)
    assert "with function and line" in done.stderr
    assert bool(list(tmp_path.glob("cache/**/*.symbols"))) == keep


PARTS = """\
static volatile unsigned long sum;
__attribute__((noinline)) void parted(void)
{
	for (unsigned long i = 0; i < 150000000ul; i++) {
		sum += i;
#line 7 "grammar.y"
		sum ^= i * 3;
#line 8 "grammar.y"
		sum += i / 3;
#line 12 "parts.c"
		sum -= 5;
	}
}
int main(void) { parted(); return 0; }
"""


@pytest.mark.perf
def test_a_function_with_lines_in_two_files_is_one_row(wick, tmp_path):
    needs_compiler()
    (tmp_path / "parts.c").write_text(PARTS)
    subprocess.run(["cc", "-g", "-O1", "-o", "parts", "parts.c"], check=True, cwd=tmp_path)
    recorded = wick.record([str(tmp_path / "parts")], "-q", "-F", "997")
    rows = [row for row in recorded.report()["rows"] if row["name"] == "parted"]
    assert [os.path.basename(row["file"]) for row in rows] == ["parts.c"]
    lines = [row["name"] for row in recorded.report("--by", "line")["rows"]]
    assert any(re.search(r"grammar\.y:[78]$", name) for name in lines)
    assert not any(re.search(r"parts\.c:[78]$", name) for name in lines)
    frames = {(frame["function"], os.path.basename(frame["file"] or ""))
              for line in wick.ok("export", recorded.path, "--format", "samples").stdout.splitlines()
              for frame in json.loads(line)["stack"]}
    assert {("parted", "parts.c"), ("parted", "grammar.y")} <= frames


def test_the_timeline_shows_when_each_phase_ran(shared_wick):
    if REFUSAL:
        pytest.skip(f"perf events are refused here: {REFUSAL}")
    recording = shared_wick.record(workload("phases", 400), "-F", 499)

    def steps_of(function):
        """The first and the last step with samples of a function, and how many there are."""
        lines = shared_wick.ok("timeline", "--by", "nothing", "--only", function, "--format",
                               "json", recording.path).stdout
        timeline = json.loads(lines)
        (row,) = timeline["rows"]
        assert len(row["sample_steps"]) == timeline["steps"]
        assert sum(row["sample_steps"]) == row["samples"] == timeline["samples"]
        steps = [step for step, count in enumerate(row["sample_steps"]) if count]
        return steps[0], steps[-1], row["samples"]

    first, second = steps_of("^phase_a$"), steps_of("^phase_b$")
    assert first[0] < first[1] <= second[0] < second[1]
    assert first[2] > 20 and second[2] > 20
    text = shared_wick.ok("timeline", recording.path).stdout
    assert "a column is" in text and "phases/" in text
    rows = shared_wick.ok("timeline", "--format", "csv", "--step", "100ms",
                          recording.path).stdout.splitlines()
    assert rows[0].startswith("since_start_ns,step_ns,name,samples")
    assert all(int(row.split(",")[0]) % 100_000_000 == 0 for row in rows[1:])


def test_one_recording_has_all_tracks(wick):
    """The program sleeps most of the time; 5,000,000 bytes are live at its peak (tides.c)."""
    recording = wick.record(workload("tides"), "--heap", "--mode", "wall")
    told = wick.json("timeline", "--by", "nothing", "--step", "5ms", "--format", "json",
                     recording.path)
    rows = {row["state"]: row for row in told["rows"]}
    heap, resident = told["levels"]
    assert rows["sleeping"]["total"] > rows["on CPU"]["total"]
    # Two threads at most: no step has more than twice its time, however long a sleep was, and what
    # ticks leave for later ones, two periods of 1 ms each; times are kept in microseconds.
    steps = list(map(sum, zip(*(row["total_steps"] for row in told["rows"]))))
    assert max(steps) <= 2.01 * told["step_ns"] + 4_000_000 and sum(steps) == told["value"]["total"]
    assert (heap["name"], resident["name"]) == ("heap", "resident")
    assert 5_000_000 <= heap["highest"] == max(heap["steps"]) < 5_100_000
    assert 1_100_000 <= heap["last"] < 1_200_000
    # Parts of the time come to the whole, in time and in what was allocated.
    for event in ("wall", "alloc_space"):
        parts = [recording.report("--event", event, *part)["value"]["total"]
                 for part in (("--to", "77ms"), ("--from", "77ms"), ())]
        assert parts[0] + parts[1] == parts[2] and min(parts) > 0


PYTHON_TRACKS = ROOT / "tests/workloads/python_tracks.py"


def test_one_recording_has_all_tracks_of_a_python_program(wick):
    recording = wick.record(["/usr/bin/python3", PYTHON_TRACKS], "--heap", "--mode", "wall", "--overhead", "off")
    told = wick.json("timeline", "--by", "nothing", "--step", "5ms", "--format", "json", recording.path)
    rows = {row["state"]: row["total"] for row in told["rows"]}
    levels = {level["name"]: level for level in told["levels"]}
    assert rows["sleeping"] >= 390_000_000 and rows["on CPU"] >= 140_000_000
    assert levels["heap"]["highest"] >= 5_000_000 > levels["heap"]["last"] and levels["resident"]["highest"] > 0

    def python_time(*part):
        """The time of each Python function, in a part of the recording."""
        rows = contract.rows(recording.report("--event", "wall", *part))
        return {row["name"]: row["total"] for row in rows if row["name"] in ("busy", "asleep")}

    whole = python_time()
    assert whole["busy"] >= 140_000_000 and whole["asleep"] >= 390_000_000
    # A part of the time that is chosen for one track is chosen for all.
    middle = f"{told['step_ns'] * len(told['rows'][0]['total_steps']) // 2_000_000}ms"
    parts = [python_time("--to", middle), python_time("--from", middle)]
    for name, total in whole.items():
        assert sum(part.get(name, 0) for part in parts) == total
    allocated = [recording.report("--event", "alloc_space", *part)["value"]["total"]
                 for part in (("--to", middle), ("--from", middle), ())]
    assert allocated[0] + allocated[1] == allocated[2] >= 5_000_000


def test_a_timeline_of_too_many_steps_is_refused(wick, tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": [{"name": "main"}]},
        "profiles": [{"type": "sampled", "name": "t", "unit": "seconds", "startValue": 0,
                      "endValue": 900, "samples": [[0], [0]], "weights": [800, 100]}]}))
    done = subprocess.run([str(WICK), "timeline", "--step", "1us", str(path)], capture_output=True,
                          text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "--step" in done.stderr and not done.stdout


def test_filters_that_match_nothing_say_what_there_is(wick, tmp_path):
    source = tmp_path / "labels.pb"
    writer = pprof.Writer((("inuse", "bytes"),))
    writer.stack(("main", "f"), (50,), {"region": "eu", "req": (4096, "bytes")})
    writer.stack(("main", "g"), (7,), {"region": "us"})
    source.write_bytes(writer.data())
    assert "no sample has the label region=eo; values of region: eu, us\n" in wick.ok(
        "report", "--label", "region=eo", source).stdout
    assert "no sample has the label part=x; known labels: region, req\n" in wick.ok(
        "timeline", "--label", "part=x", source).stdout
    assert "region=eo; values of region: eu" in wick.ok(
        "flame", "--label", "region=eo", source, "-o", tmp_path / "x.svg").stderr
    assert " f\n" in wick.ok("report", "--label", "req=4096", source).stdout
    assert "idle" in wick.ok("report", "--only", "nothing", source).stdout


def test_samples_without_stacks_are_told(wick, tmp_path):
    source = tmp_path / "bare.pb"
    writer = pprof.Writer((("rows", "count"),))
    writer.stack((), (6000,))
    source.write_bytes(writer.data())
    text = wick.ok("report", source).stdout
    assert "these samples have no stacks" in text and "self" not in text
    assert "6,000" in wick.ok("report", "--by", "thread", source).stdout


def test_a_timeline_without_times_says_so(wick, tmp_path):
    source = tmp_path / "one.folded"
    source.write_text("app;main;f 1\n")
    text = wick.ok("timeline", source).stdout
    assert "1 sample; the profile has no timestamps" in text and "1 ns" not in text
    assert wick.run("timeline", "--step", "0", source).returncode == 2


def test_one_is_not_many(wick, tmp_path):
    source = tmp_path / "two.folded"
    source.write_text("app;[truncated];f 1\napp;main;g 2\n")
    text = wick.ok("report", "-n", "3", source).stdout
    assert "1 sample has a truncated stack" in text and "1 more function with" in text


def test_the_newest_recording_is_reported_when_no_file_is_given(wick):
    done = wick.run("report")
    assert done.returncode == contract.USAGE and "no file was given" in done.stderr and "wick record" in done.stderr
    for age, name in ((30, "old.wick"), (10, "new.wick"), (20, "older.wick"), (0, "new.txt")):
        (wick.folder / "x.folded").write_text(f"app;main;in_{name.partition('.')[0]} 3\n")
        wick.ok("import", "x.folded", "-o", name)
        then = time.time() - age
        os.utime(wick.folder / name, (then, then))
    (wick.folder / "link.wick").symlink_to("old.wick")
    done = wick.ok("report", "--sort", "total")
    assert "new.wick, the newest recording in this directory" in done.stderr
    assert "in_new" in done.stdout and "in_old" not in done.stdout


def test_files_that_are_no_recordings_are_passed_over(wick):
    (wick.folder / "x.folded").write_text("app;main;in_it 3\n")
    wick.ok("import", "x.folded", "-o", "old.wick")
    os.utime(wick.folder / "old.wick", (1, 1))
    (wick.folder / "empty.wick").touch()
    (wick.folder / "text.wick").write_text("not a recording\n")
    done = wick.ok("report")
    assert "old.wick, the newest recording in this directory" in done.stderr and "in_it" in done.stdout
    (wick.folder / "old.wick").unlink()
    done = wick.run("report")
    assert done.returncode == contract.USAGE and "has no recording" in done.stderr


@pytest.mark.root
def test_recordings_of_others_are_counted_and_the_newest_is_named(wick):
    (wick.folder / "x.folded").write_text("app;main;in_it 3\n")
    for age, name in ((20, "old.wick"), (10, "the new.wick"), (30, "older.wick")):
        wick.ok("import", "x.folded", "-o", name)
        os.utime(wick.folder / name, (1000 - age, 1000 - age))
        os.chown(wick.folder / name, 65534, 65534)
    (wick.folder / "empty.wick").touch()
    os.chown(wick.folder / "empty.wick", 65534, 65534)
    done = wick.run("report")
    assert done.returncode == contract.USAGE and done.stdout == ""
    assert "has no recording of yours; 3 belong to other users" in done.stderr
    assert "wick report 'the new.wick'" in done.stderr
    wick.ok("report", "the new.wick")
    for name in ("old.wick", "the new.wick"):
        (wick.folder / name).unlink()
    done = wick.run("report")
    assert "1 belongs to another user" in done.stderr and "wick report older.wick" in done.stderr


def test_processes_have_their_rows(wick, tmp_path):
    path = tmp_path / "x.folded"
    path.write_text("app;main;hot 3\nother;main 1\n")
    report = wick.json("report", "--by", "process", "--format", "json", path)
    assert report["by"] == "process" and [row["total"] for row in report["rows"]] == [3, 1]
    assert report["rows"][0]["name"].startswith("app/")


def tree_lines(text):
    return [line.split()[-1] for line in text.splitlines() if "\u2500" in line]


def test_siblings_of_a_tree_are_sorted_as_asked(wick, tmp_path):
    path = tmp_path / "x.folded"
    path.write_text("app;main;deep;leaf 6\napp;main;flat 4\n")
    deep, flat = ["main", "deep", "leaf", "flat"], ["main", "flat", "deep", "leaf"]
    assert tree_lines(wick.ok("report", "--tree", path).stdout) == deep
    for sort, expected in (("total", deep), ("samples", deep), ("self", flat)):
        assert tree_lines(wick.ok("report", "--tree", "--sort", sort, path).stdout) == expected
        nodes = wick.json("report", "--tree", "--sort", sort, "--format", "json", path)["nodes"]
        assert [node["name"] for node in nodes] == ["all"] + expected


@pytest.mark.parametrize("by", ("process", "thread"))
def test_a_tree_is_by_process_or_thread_when_asked(wick, tmp_path, by):
    path = tmp_path / "x.folded"
    path.write_text("app;main 3\nother;main 1\n")
    nodes = wick.json("report", "--by", by, "--tree", "--format", "json", path)["nodes"]
    below = [(node["name"].partition("/")[0], node["total"]) for node in nodes if node["depth"] == 1]
    assert below == [("app", 3), ("other", 1)]
    assert [node["name"] for node in nodes if node["depth"] == 2] == ["main", "main"]


@pytest.mark.parametrize("options, word", (
    (("--by", "site", "--sort", "total"), "--sort"), (("--by", "module", "--tree"), "--tree"),
    (("--by", "line", "--tree"), "--tree"), (("--by", "state", "--tree"), "--tree")))
def test_what_a_view_does_not_have_is_refused(wick, tmp_path, options, word):
    path = tmp_path / "x.folded"
    path.write_text("app;main 3\n")
    done = wick.run("report", *options, path)
    assert done.returncode == contract.USAGE and done.stdout == ""
    assert f"--by {options[1]} cannot be used with {word}" in done.stderr


def samples_of(wick, path, *options):
    return wick.json("report", "--format", "json", *options, path)["samples"]


def test_a_label_of_a_recording_is_on_all_its_samples_and_survives_a_merge(wick):
    old = wick.record(workload("split", 300), "--label", "build=1.4", "--label", "team=a=b")
    new = wick.record(workload("split", 300), "--mode", "wall", "--engine", "signal", "--label", "build=1.5",
                      "--label", "state=mine")
    everything = samples_of(wick, old.path)
    assert samples_of(wick, old.path, "--label", "build=1.4", "--label", "team=a=b") == everything > 0
    assert samples_of(wick, old.path, "--label", "build=1.5") == 0
    # What the engine says about a sample counts more than what was said about all of them.
    assert samples_of(wick, new.path, "--label", "build=1.5") == samples_of(wick, new.path) > 0
    assert "mine" not in wick.ok("report", "--by", "state", new.path).stdout
    merged = wick.new_path()
    wick.ok("merge", old.path, old.path, "-o", merged)
    assert samples_of(wick, merged, "--label", "build=1.4") == 2 * everything


def test_a_label_without_a_value_is_refused(wick):
    done = wick.run("record", "--label", "build", "true")
    assert done.returncode == 2
    assert "--label build is not of the form KEY=VALUE" in done.stderr


def write_calls(wick):
    path = wick.folder / "calls.folded"
    path.write_text("app;main;parse;read 3\napp;main;parse;parse;lex 4\napp;idle;parse 2\napp;parse;lex 1\n"
                    "app;main;other 10\n", encoding="utf-8")
    return path


def test_the_callers_and_callees_of_a_function_add_up_to_it(wick):
    report = wick.json("report", "--focus", "parse", "--format", "json", write_calls(wick))
    function, = report["functions"]
    assert (function["name"], function["total"], function["self"], report["more"]) == ("parse", 10, 2, 0)
    assert [(each["name"], each["total"]) for each in function["callers"]] == [("main", 7), ("idle", 2), ("", 1)]
    # The inner call of a recursion is a callee of the outer one.
    assert [(each["name"], each["total"]) for each in function["callees"]] == [("parse", 4), ("read", 3), ("lex", 1)]


def test_functions_are_focused_on_by_expression_and_cut_by_the_limit(wick):
    text = wick.ok("report", "--focus", "/^(parse|lex)$/", "-n", "1", write_calls(wick)).stdout
    assert text.count("called by") == text.count("calls\n") == 2
    assert "[itself]" in text and "[no caller]" not in text
    assert "2 more; -n 0 shows them" in text
    assert "[no caller]" in wick.ok("report", "--focus", "parse", write_calls(wick)).stdout


def test_a_focus_that_finds_nothing_or_is_combined_wrongly_is_refused(wick):
    done = wick.run("report", "--focus", "nobody", write_calls(wick))
    assert done.returncode == 1 and "no function named nobody has samples" in done.stderr
    for other in (["--tree"], ["--by", "module"], ["--missing"], ["--analyse", "all"]):
        done = wick.run("report", "--focus", "parse", *other, write_calls(wick))
        assert done.returncode == 2 and "--focus cannot be used with" in done.stderr

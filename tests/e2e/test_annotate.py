# SPDX-License-Identifier: BSD-2-Clause
"""wick annotate: the cost of lines and instructions, and the messages if they are not available."""
import json
import os
import shutil
import subprocess

import pytest
from conftest import REFUSAL, ROOT, WICK, workload

SOURCE = ROOT / "tests/workloads/split.c"


@pytest.fixture(scope="module")
def recording(shared_wick):
    if REFUSAL:
        pytest.skip(f"perf events are refused here: {REFUSAL}")
    return shared_wick.record(workload("split", 400), "-F", 499)


def annotate(*arguments, path=None):
    env = {**os.environ, **({"PATH": str(path)} if path else {})}
    return subprocess.run([str(WICK), "annotate", *map(str, arguments)], capture_output=True,
                          text=True, timeout=60, check=False, env=env)


def annotation(*arguments, path=None):
    done = annotate("--format", "json", *arguments, path=path)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def burning_line():
    """The line of hot_70() that burns: all of it is inlined there."""
    lines = SOURCE.read_text().splitlines()
    return next(i for i, text in enumerate(lines, 1) if "hot_ns += burn_cpu" in text)


def test_the_line_that_burns_has_it_all_and_is_marked(recording):
    result = annotation(recording.path, "hot_70")
    assert result["function"] == "hot_70" and 55 < result["total_percent"] < 85
    (file,) = [f for f in result["files"] if f["path"].endswith("split.c")]
    top = max(file["lines"], key=lambda line: line["self"])
    assert top["line"] == burning_line() and top["self_percent"] > 80
    assert top["self_inlined"] == top["self"]
    assert "burn_cpu" in top["text"]
    assert sum(line["self"] for f in result["files"] for line in f["lines"]) == result["self"]
    text = annotate(recording.path, "hot_70").stdout
    row = next(line for line in text.splitlines() if "hot_ns += burn_cpu" in line)
    assert " i " in row and str(burning_line()) in row
    assert "\x1b" not in text


def test_without_inlined_calls_the_function_has_all_itself(recording):
    result = annotation("--no-inline", recording.path, "hot_70")
    assert all(line["self_inlined"] == 0 for f in result["files"] for line in f["lines"])


def test_sources_are_found_where_they_were_moved_to(recording, tmp_path):
    path = annotation(recording.path, "hot_70")["files"][0]["path"]
    (tmp_path / "workloads").mkdir()
    shutil.copy(SOURCE, tmp_path / "workloads/split.c")
    before = os.path.dirname(os.path.dirname(path))
    (file,) = annotation("--path-map", f"{before}={tmp_path}", recording.path, "hot_70")["files"]
    assert file["source"] == str(tmp_path / "workloads/split.c")


def test_a_source_that_changed_since_is_told(recording, tmp_path):
    path = annotation(recording.path, "hot_70")["files"][0]["path"]
    (tmp_path / "split.c").write_text("/* another one */\n")
    result = annotation("--path-map", f"{os.path.dirname(path)}={tmp_path}", recording.path,
                        "hot_70")
    assert any("newer than the recording" in note for note in result["notes"])
    assert all(line["text"] is None for line in result["files"][0]["lines"])


def test_what_has_no_sources_has_line_numbers_and_one_note(wick, tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": [{"name": "f", "file": "/nowhere/f.c", "line": 7},
                              {"name": "f", "file": "/nowhere/f.c", "line": 9}]},
        "profiles": [{"type": "sampled", "name": "t", "unit": "milliseconds", "startValue": 0,
                      "endValue": 4, "samples": [[0], [1]], "weights": [1, 3]}]}))
    done = annotate(path, "f")
    assert done.returncode == 0
    assert done.stdout.count("note:") == 1 and "--source-path" in done.stdout
    lines = annotation(path, "f")["files"][0]["lines"]
    assert [(line["line"], line["self_percent"]) for line in lines] == [(7, 25), (9, 75)]
    asm = annotation("--asm", path, "f")
    assert asm["modules"][0]["instructions"][0]["text"] is None and len(asm["notes"]) == 1


@pytest.mark.parametrize("program", ("objdump", "llvm-objdump"))
def test_instructions_add_up_to_the_function(recording, tmp_path, program):
    found = shutil.which(program)
    if not found:
        pytest.skip(f"{program} is not installed")
    (tmp_path / program).symlink_to(found)
    result = annotation("--asm", recording.path, "hot_70", path=tmp_path)
    rows = [row for module in result["modules"] for row in module["instructions"]]
    assert sum(row["self"] for row in rows) == result["self"]
    hot = max(rows, key=lambda row: row["self"])
    assert hot["text"] and hot["line"] == burning_line()
    addresses = [int(row["address"], 16) for row in rows]
    assert addresses == sorted(addresses) and len(set(addresses)) == len(addresses)
    assert not result["notes"]


def test_without_objdump_there_are_addresses_and_the_package_is_named(recording, tmp_path):
    result = annotation("--asm", recording.path, "hot_70", path=tmp_path)
    rows = [row for module in result["modules"] for row in module["instructions"]]
    assert rows and all(row["text"] is None and row["self"] > 0 for row in rows)
    assert any("binutils" in note for note in result["notes"])


def test_another_file_at_the_same_place_is_not_disassembled(shared_wick, tmp_path):
    if REFUSAL:
        pytest.skip(f"perf events are refused here: {REFUSAL}")
    program = tmp_path / "program"
    shutil.copy(workload("split")[0], program)
    recording = shared_wick.record([program, "200"], "-F", 499)
    names = tmp_path / "x.pb.gz"  # keeps the names and the build id of the file
    shared_wick.ok("export", "--format", "pprof", recording.path, "-o", names)

    def instructions():
        result = annotation("--asm", names, "hot_70")
        return result["notes"], [row for m in result["modules"] for row in m["instructions"]]

    notes, rows = instructions()
    if shutil.which("objdump"):
        assert not notes and any(row["text"] for row in rows)
    shutil.copy(workload("phases")[0], tmp_path / "other")
    os.rename(tmp_path / "other", program)
    notes, rows = instructions()
    assert rows and not any(row["text"] for row in rows)
    assert any("is the file that was recorded" in note for note in notes)


def test_functions_that_match_are_listed(recording):
    done = annotate(recording.path, "/_[37]0$/")
    assert done.returncode == 2 and not done.stdout
    assert "hot_70" in done.stderr and "cool_30" in done.stderr
    none = annotate(recording.path, "no_such_function")
    assert none.returncode == 1 and "wick report" in none.stderr
    bad = annotate(recording.path, "/(/")
    assert bad.returncode == 2 and "regular expression" in bad.stderr
    assert annotate(recording.path).returncode == 2


def test_filters_apply(recording):
    everything = annotation(recording.path, "hot_70")
    late = annotation("--from", "200ms", recording.path, "hot_70")
    assert 0 < late["total"] < everything["total"]
    assert annotate("--ignore", "hot_70", recording.path, "hot_70").returncode == 1

# SPDX-License-Identifier: BSD-2-Clause
"""wick diff: tables, gates and graphs of recordings whose correct results are known."""
import csv
import io
import json
import random
import re
import shutil
import xml.etree.ElementTree

import contract
import pytest
from conftest import REFUSAL, workload

GATE = 3
BROKEN_GATES = ("parse", "parse>", "parse>5", "parse>+-5%", ">+5%", "total>+3pp", "/(/>+5%")
HOSTILE = ("</script><script>alert(1)</script>", "]]>", "a,b \"c\"", "\x1b[31mred", "trailing 7",
           "=cmd()", "‮rtl")


@pytest.fixture(scope="module")
def recordings(shared_wick):
    """70 % in hot_70() twice, then 88 %, then 70 % at a seventh of the rate and twice as long. Not at 99 Hz: the
    program does the same every 10 ms."""
    if REFUSAL:
        pytest.skip(f"perf events are refused here: {REFUSAL}")
    return shared_wick.record_together({"old": (workload("split", 1500), "-F", 999),
                                        "same": (workload("split", 1500), "-F", 999),
                                        "worse": (workload("split", 1500, 88), "-F", 999),
                                        "slow": (workload("split", 3000), "-F", 137)})


def rows(wick, before, after, *options):
    table = wick.json("diff", before, after, "--format", "json", *options)
    return {row["name"]: row for row in table["rows"]}


def write_folded(path, stacks):
    path.write_text("".join(f"app;{stack} {count}\n" for stack, count in stacks.items()),
                    encoding="utf-8")
    return path


def draw(generator, samples, shares):
    """Counts of stacks, one chosen by each sample; large counts, so the normal distribution fits."""
    counts, left, rest = {}, samples, 1.0
    for stack, share in shares.items():
        part = min(share / rest, 1) if rest > 0 else 0
        count = round(generator.gauss(left * part, (left * part * (1 - part)) ** 0.5))
        counts[stack] = min(max(count, 0), left)
        left -= counts[stack]
        rest -= share
    return {stack: count for stack, count in counts.items() if count}


def trips(wick, tmp_path, pairs, change):
    """How many pairs of profiles trip a gate on a function with 40 % of the time before."""
    generator = random.Random(7)
    count = 0
    for _ in range(pairs):
        for name, hot in (("before", 0.4), ("after", 0.4 * (1 + change))):
            shares = {"main;parse;lex": hot / 2, "main;parse": hot / 2, "main;read": 0.1,
                      "main;serve;reply": 0.3, "main;serve": 0.6 - 0.4 - (hot - 0.4)}
            write_folded(tmp_path / name, draw(generator, 120000, shares))
        limit = "+2%" if change else "+0%"
        done = wick.run("diff", tmp_path / "before", tmp_path / "after", "--fail-if",
                        f"parse>{limit}", "--format", "csv")
        assert done.returncode in (0, GATE), done.stderr
        count += done.returncode == GATE
    return count


def test_two_hundred_pairs_of_the_same_trip_at_most_five_percent(wick, tmp_path):
    assert trips(wick, tmp_path, 200, 0) <= 10


def test_fifty_pairs_with_five_percent_more_trip_nine_of_ten(wick, tmp_path):
    assert trips(wick, tmp_path, 50, 0.05) >= 45


def test_a_recording_is_no_different_from_itself(recordings, wick):
    path = recordings["old"].path
    done = wick.ok("diff", path, path, "--fail-if", "/./>+0%", "--fail-if", "total>+0%",
                   "--fail-if", "rate>+0%", "--fail-if", "self:/burn/>+0pp")
    assert done.stderr.count(" holds: ") == 4, done.stderr
    assert all(row[kind]["change_points"] == 0 and row[kind]["confidence"] == 0
               for row in rows(wick, path, path).values() for kind in ("self", "total"))


def test_two_runs_of_the_same_program_trip_no_gate(recordings, wick):
    wick.ok("diff", recordings["old"].path, recordings["same"].path, "--fail-if", "hot_70>+5%",
            "--fail-if", "cool_30>+15%")


def test_a_slower_function_trips_its_gate_with_words(recordings, wick):
    done = wick.run("diff", recordings["old"].path, recordings["worse"].path,
                    "--fail-if", "hot_70>+5%", "--fail-if", "cool_30>+5%")
    assert done.returncode == GATE
    tripped, holds = done.stderr.splitlines()[-2:]
    words = re.fullmatch(r"wick: gate hot_70>\+5% tripped: hot_70: (\S+)% before, (\S+)% after "
                         r"\(\+\S+ pp, \+\S+%\); above the limit with >?(\S+)% confidence",
                         tripped)
    assert words, done.stderr
    assert 60 < float(words[1]) < 80 < float(words[2]) < 96 and float(words[3]) >= 99
    assert "cool_30" in holds and holds.endswith("not above the limit")
    assert "hot_70" in done.stdout  # the table is there all the same


def test_shares_do_not_depend_on_rate_and_length(recordings, wick):
    before, after = recordings["old"].path, recordings["slow"].path
    row = rows(wick, before, after)["hot_70"]["total"]
    assert abs(row["change_points"]) < 12
    wick.ok("diff", before, after, "--fail-if", "hot_70>+20%")
    absolute = rows(wick, before, after, "--absolute")["hot_70"]["total"]
    assert 60 < absolute["change_percent"] < 150  # twice the CPU time at a seventh of the rate
    done = wick.run("diff", before, after, "--absolute", "--fail-if", "hot_70>+20%", "--fail-if",
                    "total>+20%")
    assert done.returncode == GATE
    assert done.stderr.count(" tripped: ") == 2


def test_totals_come_before_functions_and_noise_is_hidden(recordings, wick):
    before, after = recordings["old"].path, recordings["slow"].path
    # By total: both call what burns, and a single sample in one of them would decide by self.
    text = wick.ok("diff", "--sort", "total", before, after).stdout
    total = re.search(r"^CPU time +\S+ m?s +\S+ s +\+\S+ m?s +\+(\S+)% +>?\S+%$", text, re.M)
    assert total and 60 < float(total[1]) < 150
    assert re.search(r"^wall time +\S+ m?s +\S+ s .* -$", text, re.M)
    assert text.index("CPU time") < text.index("wall time") < text.index("hot_70")
    # Programs that wick started: the time of each, the largest change first; gates are of shares all the same.
    assert "comparing amounts" in text
    names = re.findall(r"% {2}(\w+) \(split\)$", text, re.M)
    assert names.index("hot_70") < names.index("cool_30")
    assert "comparing shares of the total" in wick.ok("diff", "--normalized", before, after).stdout
    totals = {one["name"]: one for one in wick.json("diff", before, after, "--format", "json")["totals"]}
    assert totals["cpu"]["confidence"] > 99 and totals["duration"]["confidence"] is None
    same = wick.ok("diff", before, before).stdout
    assert "hot_70" not in same and "no function changed significantly; " in same
    assert "hot_70" in wick.ok("diff", "--all", before, before).stdout


def test_time_can_be_sliced_and_functions_filtered(recordings, wick):
    path = recordings["old"].path
    table = wick.json("diff", path, path, "--to", "0.5s", "--only", "hot_70", "--format", "json")
    names = {row["name"] for row in table["rows"]}
    assert "hot_70" in names and "cool_30" not in names
    whole = wick.json("diff", path, path, "--format", "json")
    assert 0 < table["after"]["samples"] < whole["after"]["samples"]


def test_standard_input_is_one_side(recordings, wick):
    path = recordings["old"].path
    with open(path, "rb") as file:
        done = wick.ok("diff", "--all", "-", path, stdin=file)
    assert "hot_70" in done.stdout
    done = wick.run("diff", "-", "-")
    assert done.returncode == contract.USAGE


def test_other_formats_are_compared_by_their_counts(recordings, wick, tmp_path):
    old = recordings["old"].path
    for form in ("folded", "pprof", "speedscope"):
        other = tmp_path / f"other.{form}"
        wick.ok("export", old, "--format", form, "-o", other)
        row = rows(wick, old, other)["hot_70"]["total"]
        assert abs(row["change_points"]) < 0.5, form
        assert row["confidence"] < 90, form


def test_what_is_measured_must_be_the_same(recordings, wick):
    off = wick.record(workload("split", 100), "--mode", "offcpu", status=None)
    if off.status != 0:
        pytest.skip(f"no time off the CPUs here: {off.stderr.splitlines()[0]}")
    done = wick.run("diff", recordings["old"].path, off.path)
    assert done.returncode == contract.FAILED
    assert "measures cpu (nanoseconds)" in done.stderr
    assert "measures off-cpu (nanoseconds): they cannot be compared" in done.stderr


@pytest.mark.parametrize("gate", BROKEN_GATES)
def test_a_gate_that_cannot_be_read_is_a_usage_error_with_the_form(wick, gate):
    done = wick.run("diff", "no-such-file", "neither", "--fail-if", gate)
    assert done.returncode == contract.USAGE
    assert gate in done.stderr and "'FUNCTION>+5%'" in done.stderr


def test_a_gate_on_no_function_cannot_be_judged(wick, tmp_path):
    path = write_folded(tmp_path / "x", {"main;parse": 100})
    more = write_folded(tmp_path / "y", {"main;parse": 100, "main;sort": 900})
    done = wick.run("diff", path, path, "--fail-if", "pars>+5%")
    assert done.returncode == contract.FAILED
    assert "cannot be checked: no function in either profile is named pars" in done.stderr
    done = wick.run("diff", path, more, "--fail-if", "pars>+5%", "--fail-if", "sort>+5%")
    assert done.returncode == GATE


def test_contradictions_are_usage_errors(wick, tmp_path):
    path = write_folded(tmp_path / "x", {"main;parse": 100})
    for options in (("--absolute", "--normalized"), ("--absolute", "--fail-if", "parse>+2pp"),
                    ("-o", path), ("--confidence", "100"), ("--sort", "weather")):
        done = wick.run("diff", path, path, *options)
        assert done.returncode == contract.USAGE, options
    assert path.read_text(encoding="utf-8") == "app;main;parse 100\n"


def test_a_missing_file_is_named(wick, tmp_path):
    path = write_folded(tmp_path / "x", {"main;parse": 100})
    for pair in ((path, tmp_path / "nowhere"), (tmp_path / "nowhere", path)):
        done = wick.run("diff", *pair)
        assert done.returncode == contract.FAILED
        assert done.stderr.startswith("wick: cannot open ") and "nowhere" in done.stderr
        assert len(done.stderr.splitlines()) == 2


def test_an_empty_profile_is_compared_and_proves_nothing(wick, tmp_path):
    full = write_folded(tmp_path / "full", {"main;parse": 1000})
    empty = tmp_path / "empty.wick"
    wick.ok("import", full, "-o", empty)
    for pair in ((full, empty), (empty, full), (empty, empty)):
        done = wick.run("diff", *pair, "--fail-if", "parse>+5%", "--fail-if", "total>+3%",
                        "--only" if empty in pair else "--ignore", "no_such_function",
                        "-o", tmp_path / "empty.svg")
        assert done.returncode == contract.FAILED and "gate parse>+5% cannot be checked" in done.stderr
        assert "no samples" in done.stdout and "gate total>+3% holds" in done.stderr
        xml.etree.ElementTree.parse(tmp_path / "empty.svg")


def test_hostile_names_break_no_form(wick, tmp_path):
    before = write_folded(tmp_path / "before", {f"main;{name}": 100 for name in HOSTILE})
    after = write_folded(tmp_path / "after", {f"main;{name}": 150 for name in HOSTILE[1:]})
    text = wick.ok("diff", before, after, "--fail-if", "/red/>+5%").stdout
    assert "\x1b" not in text and "‮" not in text
    names = {row["name"] for row in wick.json("diff", before, after, "--format", "json")["rows"]}
    assert set(HOSTILE[:6]) <= names
    table = list(csv.DictReader(io.StringIO(wick.ok("diff", before, after, "--format",
                                                    "csv").stdout)))
    assert {"a,b \"c\"", "trailing 7", "</script><script>alert(1)</script>"} <= \
        {row["name"] for row in table}
    assert all(None not in row and len(row) == 18 for row in table)
    wick.ok("diff", before, after, "-o", tmp_path / "x.svg")
    svg = (tmp_path / "x.svg").read_text(encoding="utf-8")
    xml.etree.ElementTree.fromstring(svg)
    assert svg.count("<script") == 1


def test_the_graph_is_written_beside_the_table(recordings, wick):
    done = wick.ok("diff", recordings["old"].path, recordings["worse"].path, "-o", "change.svg")
    assert "hot_70" in done.stdout and "change.svg" in done.stderr
    graph = (wick.folder / "change.svg").read_text(encoding="utf-8")
    hot = re.search(r"<title>hot_70\n[^<]*share (\S+)% → (\S+)%: \+(\S+) pp", graph)
    assert hot and float(hot[2]) - float(hot[1]) > 10
    alone = wick.ok("diff", recordings["old"].path, recordings["worse"].path, "-o", "-",
                    "--inverted", "--icicle", "--colors", "cvd", "--by", "process")
    assert alone.stdout.startswith("<?xml") and ".m4 { fill: #e0891b; }" in alone.stdout
    xml.etree.ElementTree.fromstring(alone.stdout)


def test_a_program_that_was_replaced_needs_its_old_self(recordings, wick, tmp_path):
    """Names come from files: those of a rebuilt program are lost unless the old file is kept."""
    program, kept = tmp_path / "program", tmp_path / "kept"
    kept.mkdir()
    shutil.copy(workload("split")[0], program)
    shutil.copy(program, kept)
    before = wick.record([str(program), "600"], "-F", 999)
    pprof = wick.folder / "before.pprof"
    wick.ok("export", before.path, "--format", "pprof", "-o", pprof)
    program.unlink()
    shutil.copy(workload("calls")[0], program)
    after = recordings["old"].path
    done = wick.ok("diff", "--no-cache", before.path, after)
    assert "changed since the recording" in done.stderr and "--symbol-path" in done.stderr
    gate = ("--no-cache", "--fail-if", "hot_70>+20%")
    done = wick.run("diff", before.path, after, *gate)
    assert done.returncode == contract.FAILED
    assert "cannot check the gate hot_70>+20%" in done.stderr and "have no symbol" in done.stderr
    wick.ok("diff", before.path, after, *gate, "--symbol-path", kept)
    wick.ok("diff", pprof, after, *gate)


def test_the_gates_are_in_the_json(wick, tmp_path):
    before = write_folded(tmp_path / "before", {"main;parse": 1000, "main": 1000})
    after = write_folded(tmp_path / "after", {"main;parse": 1500, "main": 500})
    done = wick.run("diff", before, after, "--format", "json", "--fail-if", "parse>+5%",
                    "--fail-if", "parse>+30pp")
    gates = json.loads(done.stdout)["gates"]
    assert done.returncode == GATE
    assert [gate["tripped"] for gate in gates] == [True, False]
    assert gates[0]["before"] == 50 and gates[0]["after"] == 75


def test_a_rebuilt_and_renamed_program_has_the_same_functions(recordings, wick, tmp_path):
    program = tmp_path / "renamed"
    shutil.copy(workload("split")[0], program)
    renamed = wick.record([str(program), "500"], "-F", 999)
    row = rows(wick, recordings["old"].path, renamed.path)["hot_70"]
    assert row["state"] == "both" and abs(row["total"]["change_points"]) < 12


def test_the_head_of_a_graph_tells_the_losses_of_both_sides(wick, tmp_path):
    before, after = tmp_path / "before.folded", tmp_path / "after.folded"
    before.write_text("app;[truncated];f 1\napp;main;g 3\n")
    after.write_text("app;[truncated];f 3\napp;main;g 3\n")
    for form in ("svg", "html"):
        graph = tmp_path / f"graph.{form}"
        wick.ok("diff", before, after, "-o", graph)
        text = graph.read_text()
        assert "25.0% → 50.0% truncated" in text
        assert "40.0%" not in text  # of both together

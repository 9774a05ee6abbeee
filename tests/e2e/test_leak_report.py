# SPDX-License-Identifier: BSD-2-Clause
"""Leaks: reports, suppression rules and gates, for programs that lose blocks."""
import pytest
from conftest import workload


def test_what_is_lost_is_told_suppressed_and_gated(wick, tmp_path):
    """tides overwrites 50 pointers to blocks of 100 bytes."""
    path, rules = tmp_path / "a recording.wick", tmp_path / "some rules.supp"
    process = wick.run("heap", "-q", "--fail-on", "definite", "-o", path, "--", *workload("tides"))
    assert process.returncode == 3, process.stderr
    assert "--fail-on definite" in process.stderr and "keep_some" in process.stderr
    lost = wick.json("leaks", path, "--format", "json")["leaks"][0]
    assert lost["class"] == "definite" and lost["function_name"] == "keep_some"
    assert lost["blocks"] == 50 and lost["bytes"] == 5000 and lost["confidence"] > 0.9
    assert lost["evidence"] == ["nothing points to it"] and lost["method"] == "scan at exit"

    for limit, status in (("4999", 3), ("1M", 0)):
        assert wick.run("leaks", path, "--max-leak", limit).returncode == status
    for syntax in "own", "valgrind":
        rules.write_text(wick.ok("leaks", path, "--gen-suppressions", "--syntax", syntax).stdout)
        process = wick.ok("leaks", path, "--suppressions", rules, "--fail-on", "possible")
        assert "no leaks found" in process.stdout and "definite of keep_some" in process.stdout


def test_without_a_scan_gates_cannot_be_judged(wick, tmp_path):
    path = tmp_path / "x.wick"
    wick.ok("heap", "-q", "-o", path, "--", *workload("blocks", "peak"))
    process = wick.run("leaks", path, "--fail-on", "definite")
    assert process.returncode == 1 and "wick heap --leaks" in process.stderr
    assert "unscanned" in process.stdout
    process = wick.run("heap", "-q", "--fail-on", "definite", "-o", path, "--", "sh", "-c", "kill -9 $$")
    assert process.returncode == 1 and "killed before its heap could be scanned" in process.stderr
    assert "--scan-every" in process.stderr and "wick: leaks: " not in process.stderr
    process = wick.run("heap", "-q", "--fail-on", "definite", "-o", path, "--", *workload("own_malloc"))
    assert process.returncode == 1 and "has a statically linked malloc()" in process.stderr
    assert "cannot tell whether there are leaks: a scan at the end of a program failed" in process.stderr
    (tmp_path / "bad").write_text("rule x\nsize many\nend\n")
    process = wick.run("leaks", path, "--suppressions", tmp_path / "bad")
    assert process.returncode == 2 and "bad:2:" in process.stderr and not process.stdout


def test_functions_that_allocate_for_others_are_passed_over(wick, tmp_path):
    path = tmp_path / "x.wick"
    process = wick.run("heap", "-q", "--leaks", "--alloc-fn", "^block$", "-o", path, "--", *workload("leaks", "lost"))
    assert " lost  " in process.stderr and " block  " not in process.stderr

    def places(*options):
        return {row["function_name"] for row in wick.json("leaks", "--format", "json", *options, path)["leaks"]}
    assert places() == {"block"} and places("--alloc-fn", "^block$") == {"lost"}
    sites = wick.json("report", "--by", "site", "--alloc-fn", "^block$", "--format", "json", path)["rows"]
    assert "lost" in {row["function_name"] for row in sites}
    for command in (("leaks", path), ("heap", "-o", tmp_path / "y.wick", "--", "true")):
        bad = wick.run(command[0], "--alloc-fn", "(", *command[1:])
        assert bad.returncode == 2 and "( is not a regular expression" in bad.stderr
    assert not (tmp_path / "y.wick").exists()


def test_a_forked_child_is_scanned(wick, tmp_path):
    """It has blocks of its parent, which are not reported, and has lost one of its own."""
    path = tmp_path / "x.wick"
    process = wick.run("heap", "-q", "--fail-on", "definite", "-o", path, "--", *workload("leaks", "global", "child"))
    assert process.returncode == 3, process.stderr
    told = wick.json("leaks", path, "--format", "json")
    assert len(told["scans"]) == 2 and told["sums"]["unscanned"]["blocks"] == 0
    assert told["sums"]["definite"] == {"bytes": 2101, "blocks": 1}


def test_a_child_that_was_killed_is_not_judged(wick, tmp_path):
    path, rules = tmp_path / "x.wick", tmp_path / "rules"
    gates = (("--fail-on", "definite"), ("--max-leak", "1M"))
    unknown = "whether there are leaks: a process that did not free all its blocks was not scanned"
    for gate in gates:
        process = wick.run("heap", "-q", *gate, "-o", path, "--", *workload("leaks", "killed-child"))
        assert process.returncode == 1 and unknown in process.stderr and "--no-children" in process.stderr
        again = wick.run("leaks", *gate, path)
        assert again.returncode == 1 and unknown in again.stderr
    # Growth asks for no scan but for time, a leak that is known comes first, and what was freed is no question.
    short = wick.run("leaks", "--fail-on", "growth", path)
    assert short.returncode == 1 and "growth analysis needs at least 8 s" in short.stderr, short.stderr
    for command, options, status in ((("killed-child", "lost"), (), 3), (("killed-child",), ("--no-children",), 0),
                                     (("freed-child",), (), 0)):
        process = wick.run("heap", "-q", "--fail-on", "definite", *options, "-o", tmp_path / "y.wick", "--",
                           *workload("leaks", *command))
        assert process.returncode == status and unknown not in process.stderr, process.stderr
    rules.write_text("rule the child\nkinds unscanned\nfunction block\nend\n")
    wick.ok("leaks", "--fail-on", "definite", "--suppressions", rules, path)


def test_a_program_that_allocates_nothing_has_no_leaks(wick, tmp_path):
    path = tmp_path / "x.wick"
    process = wick.ok("heap", "-q", "--fail-on", "definite", "-o", path, "--", *workload("nothing"))
    assert "no leaks found" in process.stderr
    told = wick.json("leaks", path, "--format", "json")
    assert told["scanned"] and len(told["scans"]) == 1 and told["scans"][0]["process"] == "nothing"
    assert told["scans"][0]["live_blocks"] == 0 and told["leaks"] == []
    assert wick.run("leaks", path, "--fail-on", "possible", "--max-leak", "1").returncode == 0


@pytest.mark.parametrize("allocator", ("", "_jemalloc", "_tcmalloc_minimal"))
def test_what_operator_new_does_when_there_is_no_memory_is_recorded(wick, tmp_path, allocator):
    """The memory of an exception, and what a handler frees: neither is reported as an invalid free or a leak."""
    path = tmp_path / "x.wick"
    command = workload("bad_alloc" + allocator)
    process = wick.ok("heap", "-q", "--fail-on", "possible", "-o", path, "--", *command)
    assert process.stdout == "6\n" and "no leaks found" in process.stderr
    assert "misuse" not in process.stderr

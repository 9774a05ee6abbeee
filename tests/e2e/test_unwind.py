# SPDX-License-Identifier: BSD-2-Clause
"""Stacks of code without frame pointers, followed by the binaries' own tables."""
import json
import os
import re
import shutil
import subprocess

import pytest

import contract
from conftest import PATIENCE, workload

@pytest.fixture(scope="module", name="go_program")
def build_go_program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("go")
    (folder / "main.go").write_text(GO_PROGRAM)
    subprocess.run(["go", "build", "-ldflags=-s -w", "-o", folder / "program", folder / "main.go"],
                   env={**os.environ, "GOCACHE": str(folder / "cache"), "GOFLAGS": ""},
                   check=True, timeout=300)
    return folder / "program"


ROOT_SHARE = re.compile(r"unwinding\s+([\d.]+) % reached the root")


def root_percent(recording):
    return float(ROOT_SHARE.search(recording.stderr).group(1))


def test_a_chain_without_frame_pointers_is_whole(wick):
    recording = wick.record(workload("chain_nofp", 500), "-F", 999, "--unwind", "dwarf")
    stacks = recording.folded("--no-inline")
    total = sum(count for _, count in stacks)
    whole = sum(count for frames, count in stacks
                if ";".join(frames).endswith("main;chain_a;chain_b;chain_c"))
    assert whole > 0.95 * total
    assert root_percent(recording) > 99


def test_a_split_without_frame_pointers_keeps_its_shares_and_callers(wick):
    recording = wick.record(workload("split_nofp", 1000), "-F", 999, "--unwind", "dwarf")
    report = recording.report("--no-inline")
    assert abs(contract.self_percent(report, "hot_70") - 70) < contract.SHARE_TOLERANCE
    assert contract.total_percent(report, "main") > 97


def test_a_plugin_is_unwound_after_dlopen(wick):
    recording = wick.record(workload("dlopen", 300), "-F", 999, "--unwind", "dwarf")
    assert root_percent(recording) > 99
    report = recording.report()
    assert contract.total_percent(report, "plugin_a_burn") > 20
    assert contract.total_percent(report, "plugin_b_burn") > 20


def assert_interrupted(wick, way, functions):
    if wick.run("record", *way, "-o", wick.new_path(), "--", "true").returncode != 0:
        pytest.skip(f"{way[1]} does not work here")
    recording = wick.record(workload("faults", 300), *way, "-F", 499, "--no-kernel")
    stacks = [";".join(frames) for frames, _ in recording.folded()]
    for function in functions:
        assert any(re.search(rf";call_{function};fault_{function};[^;]*;on_fault", stack)
                   for stack in stacks), stacks


@pytest.mark.parametrize("way", [["--engine", "perf", "--unwind", "dwarf"],
                                 ["--engine", "ebpf"]])
def test_the_function_that_a_signal_interrupted_is_there(wick, way):
    assert_interrupted(wick, way, ["middle"])


@pytest.mark.parametrize("way", [["--engine", "ptrace"], ["--engine", "ebpf"],
                                 ["--engine", "perf"],
                                 ["--engine", "perf", "--unwind", "dwarf"]])
def test_a_function_interrupted_at_its_first_instruction_has_its_own_name(wick, way):
    assert_interrupted(wick, way, ["first", "middle"])


COPY_WAYS = [["--engine", "perf"], ["--engine", "perf", "--unwind", "dwarf"],
             ["--engine", "ebpf"], ["--engine", "ptrace"]]


@pytest.mark.parametrize("way", COPY_WAYS)
@pytest.mark.parametrize("program", ["twice", "twice_fixed"])
def test_code_that_a_program_maps_again_has_its_names_and_callers(wick, way, program):
    if wick.run("record", *way, "-o", wick.new_path(), "--", "true").returncode != 0:
        pytest.skip(f"{way[1]} does not work here")
    recording = wick.record(workload(program, 500 * PATIENCE), *way, "-F", 499, "--no-kernel")
    stacks = [one for one in recording.folded("--no-inline") if "clock" not in one[0][-1]]
    assert whole_share(stacks, ["main;copied_outer(;copied_inner)?$"]) > 0.9, stacks


def test_the_signal_engine_names_code_that_a_program_maps_again(wick):
    recording = wick.record(workload("twice_fixed", 500 * PATIENCE), "--engine", "signal",
                            "-F", 499)
    stacks = [one for one in recording.folded("--no-inline") if "clock" not in one[0][-1]]
    assert whole_share(stacks, ["copied_inner$"]) > 0.9, stacks


@pytest.mark.parametrize("program", ["twice", "twice_fixed"])
def test_the_signal_engine_soon_follows_callers_in_code_that_a_program_maps_again(wick, program):
    """The code is found when the first stacks that lead there are read; those are cut."""
    recording = wick.record(workload(program, 2000 * PATIENCE), "--engine", "signal", "-F", 499)
    stacks = [one for one in recording.folded("--no-inline") if "clock" not in one[0][-1]]
    assert whole_share(stacks, ["main;copied_outer(;copied_inner)?$"]) > 0.6, stacks


@pytest.mark.parametrize("program", ["twice", "twice_fixed"])
def test_maps_shows_the_address_that_a_copy_has_in_its_file(wick, background, program):
    target = background(workload(program, 1, "stay"))
    copy = json.loads(target.stdout.readline())["copy"]
    place = wick.json("maps", "-p", target.pid, "--format", "json", hex(copy))["addresses"][0]
    assert place["library"].endswith(f"/{program}")
    of_file = wick.ok("symbolize", "-f", "-e", place["library"], place["offset"]).stdout
    of_process = wick.ok("symbolize", "-f", "-p", target.pid, hex(copy)).stdout
    assert of_file.startswith("copied_outer\n")
    assert of_process.startswith("copied_outer\n")


def whole_share(stacks, shapes):
    """The share of samples whose stack ends with one of the shapes."""
    total = sum(count for _, count in stacks)
    return sum(count for frames, count in stacks
               if any(re.search(shape, ";".join(frames)) for shape in shapes)) / total


# A copy has one stack alone, and the clock runs on another: eBPF's first samples are copies too.
GO_WAYS = [(["--engine", "ebpf"], 0.85), (["--engine", "ptrace"], 0.95),
           (["--engine", "perf", "--unwind", "dwarf"], 0.4)]


@pytest.mark.parametrize("way, least", GO_WAYS)
def test_frames_as_those_of_go_are_followed_to_their_root(wick, way, least):
    if wick.run("record", *way, "-o", wick.new_path(), "--", "true").returncode != 0:
        pytest.skip(f"{way[1]} does not work here")
    recording = wick.record(workload("go_shape", 500 * PATIENCE), *way, "-F", 499, "--no-kernel")
    # In wall-clock time reading the clock, where others get the CPU, takes long.
    stacks = [one for one in recording.folded() if one[0][-1] == "go_burn"]
    outer = "^[^;]*;go_top;go_outer;go_middle;"
    assert whole_share(stacks, [f"{outer}(go_clock;)?go_burn$"]) > least, stacks
    assert whole_share(stacks, [f"{outer}go_burn$"]) == pytest.approx(0.5, abs=0.15)


GO_PROGRAM = """package main

import "fmt"

//go:noinline
func spin(n uint64) uint64 {
	var s uint64 = 1
	for i := uint64(0); i < n; i++ {
		s = s*6364136223846793005 + i
	}
	return s
}

//go:noinline
func deeper(depth int) uint64 {
	if depth == 0 {
		return spin(20000)
	}
	return deeper(depth-1) + 1
}

func work(done chan uint64) {
	var s uint64
	for i := 0; i < 16000; i++ {
		s += deeper(10)
	}
	done <- s
}

func main() {
	done := make(chan uint64)
	go work(done)
	go work(done)
	<-done
	<-done
	fmt.Println("{}")
}
"""


@pytest.mark.skipif(not shutil.which("go"), reason="go is not installed")
@pytest.mark.parametrize("way", [["--engine", "ebpf"], ["--engine", "perf", "--unwind", "dwarf"]])
def test_goroutines_reach_their_root_in_a_stripped_program(wick, go_program, way):
    if wick.run("record", *way, "-o", wick.new_path(), "--", "true").returncode != 0:
        pytest.skip(f"{way[1]} does not work here")
    recording = wick.record([go_program], *way, "-F", 499, "--no-kernel")
    shape = "^[^;]*;runtime.goexit[^;]*;(main.main.func.;)?main.work;(main.deeper;){11}main.spin$"
    assert whole_share(recording.folded(), [shape]) > 0.9
    assert root_percent(recording) > 97


PYTHON = "/usr/bin/python3"


@pytest.mark.skipif(not os.path.exists(PYTHON), reason="needs the distribution's python3")
def test_a_real_program_reaches_its_root(wick):
    recording = wick.record([PYTHON, "-c",
                             "import json\n"
                             "d = {str(i): list(range(20)) for i in range(2000)}\n"
                             "for i in range(20): json.loads(json.dumps(d, indent=1))\n"
                             "print('{}')"], "-F", 999, "--unwind", "dwarf")
    assert root_percent(recording) > 99


def test_a_small_copy_says_that_stacks_were_cut(wick):
    recording = wick.record(workload("fib", 300), "-F", 999, "--unwind", "dwarf", "--stack-size",
                            "1K", "--no-kernel")
    assert contract.sample_count(recording.info()) > 100
    assert ROOT_SHARE.search(recording.stderr)


def test_a_wrong_way_to_unwind_is_named(wick):
    done = wick.run("record", "--unwind", "magic", "--", "true")
    assert done.returncode == contract.USAGE
    assert "magic" in done.stderr and "dwarf" in done.stderr


def test_a_32_bit_program_is_counted_and_named_in_the_summary(wick, background):
    target = background(workload("narrow"))
    recording = wick.attach("-p", target.pid, "-F", 999, "-d", "0.5", "--unwind", "dwarf")
    assert "32-bit programs" in recording.stderr
    assert contract.sample_count(recording.info()) > 100
    # One function spins, called by another: noise would have more addresses.
    assert len(recording.folded("--no-kernel")) < 10


CUT = re.compile(r"([\d.]+) % truncated")


def verdict_of(wick, path):
    return wick.json("info", "--check", "--format", "json", path)


def test_stacks_of_frame_pointers_that_reach_no_root_count_as_cut(wick):
    way = ["--engine", "perf", "--unwind", "fp", "-F", 499]
    if wick.run("record", *way, "-o", wick.new_path(), "--", "true").returncode != 0:
        pytest.skip("perf events do not work here")
    cut = wick.record(workload("split_nofp", 500 * PATIENCE), *way, "--no-kernel")
    whole = wick.record(workload("split", 500 * PATIENCE), *way, "--no-kernel")
    # Code of aarch64 without frame pointers may leave the register alone: callers in the middle are missing then,
    # but chains continue at the C library's frames and reach the root.
    if max(contract.total_percent(cut.report("--no-inline"), name) for name in ("main", "_start")) > 50:
        pytest.skip("chains reach the root here, with frame pointers or not")
    assert float(CUT.search(cut.stderr).group(1)) > 50
    assert "remove --unwind fp" in cut.stderr
    assert float(CUT.search(whole.stderr).group(1)) < 5
    assert verdict_of(wick, cut.path)["quality"] == "poor"
    assert "have truncated stacks" in wick.ok("report", cut.path).stdout
    assert "have truncated stacks" not in wick.ok("report", whole.path).stdout


def test_a_summary_counts_stacks_as_cut_whatever_the_reason(wick):
    recording = wick.record(workload("twice_fixed", 500 * PATIENCE), "--engine", "signal",
                            "-F", 499)
    cut, whole = float(CUT.search(recording.stderr).group(1)), root_percent(recording)
    assert cut + whole == pytest.approx(100, abs=1), recording.stderr


@pytest.mark.root
@pytest.mark.parametrize("engine", ["signal", "perf", "ptrace"])
def test_a_program_that_may_not_be_read_is_named_as_the_reason(wick, as_nobody, tmp_path, engine):
    program = tmp_path / "hidden"
    shutil.copy(workload("split")[0], program)
    program.chmod(0o711)
    done = wick.run("record", "--engine", engine, "-o", wick.new_path(), "--", program, 300,
                    prefix=as_nobody)
    if "not allowed" in done.stderr and done.returncode != 0:
        pytest.skip(f"{engine} does not work here")
    assert "is executable but not readable for you" in done.stderr, done.stderr
    assert "chmod +r" in done.stderr

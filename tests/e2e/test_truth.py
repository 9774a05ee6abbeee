# SPDX-License-Identifier: BSD-2-Clause
"""The numbers of a recording match those of the program."""
import contract
import pytest
from conftest import workload

pytestmark = pytest.mark.perf


def near(share, expected):
    return pytest.approx(expected, abs=contract.SHARE_TOLERANCE) == share


def test_a_seventy_thirty_split_comes_out_as_seventy_thirty(wick):
    recording = wick.record(workload("split", 2000), "-F", 999)
    report = recording.report()
    assert near(contract.total_percent(report, "hot_70"), 70)
    assert near(contract.total_percent(report, "cool_30"), 30)
    assert near(contract.total_percent(report, "main"), 100)


def test_a_split_without_frame_pointers_keeps_its_self_shares(wick):
    report = wick.record(workload("split_nofp", 1000), "-F", 999).report("--no-inline")
    assert near(contract.self_percent(report, "hot_70"), 70)
    assert near(contract.self_percent(report, "cool_30"), 30)


def test_calls_that_were_inlined_are_frames_of_their_own(wick):
    recording = wick.record(workload("split_nofp", 1000), "-F", 999)
    report = recording.report()
    assert near(contract.self_percent(report, "burn_until"), 100)
    assert near(contract.total_percent(report, "hot_70"), 70)
    assert any(frames[-3:] == ["hot_70", "burn_cpu", "burn_until"]
               for frames, _ in recording.folded())


@pytest.fixture(scope="module")
def phases(shared_wick):
    return shared_wick.record(workload("phases", 800), "-F", 999)


def slice_of(recording, first_ns, last_ns):
    start_ns = contract.start_ns(recording.info())
    return recording.report("--from", f"{(first_ns - start_ns) / 1e9:.6f}",
                            "--to", f"{(last_ns - start_ns) / 1e9:.6f}")


def test_a_slice_before_the_boundary_holds_only_the_first_phase(phases):
    truth = phases.truth
    report = slice_of(phases, truth["start_ns"], truth["boundary_ns"])
    assert contract.total_percent(report, "phase_a") > 97
    assert contract.total_percent(report, "phase_b") < 1


def test_a_slice_after_the_boundary_holds_only_the_second_phase(phases):
    truth = phases.truth
    report = slice_of(phases, truth["boundary_ns"], truth["end_ns"])
    assert contract.total_percent(report, "phase_b") > 97
    assert contract.total_percent(report, "phase_a") < 1


def test_the_whole_of_two_equal_phases_is_half_and_half(phases):
    report = phases.report()
    assert near(contract.total_percent(report, "phase_a"), 50)
    assert near(contract.total_percent(report, "phase_b"), 50)


def test_a_slice_with_nothing_in_it_is_empty_and_no_failure(phases):
    report = phases.report("--from", "1000", "--to", "1001")
    assert contract.rows(report) == []


def test_recursion_counts_a_function_once_a_sample(wick):
    recording = wick.record(workload("fib", 800), "-F", 999)
    report = recording.report()
    assert 95 < contract.total_percent(report, "fib") <= 100.0001
    assert contract.self_percent(report, "fib") > 90
    depths = [frames[1:].count("fib") for frames, _ in recording.folded()]  # the first is the name of the process
    assert 3 <= max(depths) <= recording.truth["max_depth"]


def test_io_shows_the_cpu_time_and_not_the_waiting(wick):
    recording = wick.record(workload("io", 1000), "-F", 999)
    taken_ns = contract.sample_count(recording.info()) * 1e9 / 999
    # Start-up, exit, interrupts and what a host takes are not in the program's own clock.
    cpu_ns = recording.truth["cpu_ns"]
    slack_ns = max(0.25 * cpu_ns, 30e6)
    assert contract.is_near(taken_ns, cpu_ns, slack_ns, more=recording.outside_ns), (taken_ns, recording.outside_ns)
    report = recording.report()
    # The libc's write() has no frame of its own, so a walk by frame pointers goes on with the
    # caller of its caller: main is the first that is sure to be there.
    assert contract.total_percent(report, "main") > 80
    modules = contract.functions(recording.report("--by", "module"))
    assert modules["[kernel]"]["self_percent"] > 10


def test_threads_have_their_names_and_shares(wick):
    recording = wick.record(workload("threads", 2000), "-F", 999)
    shares = contract.threads(recording.report("--by", "thread"))
    for i in range(4):
        assert near(shares[f"w{i}"], 10 * (i + 1))


def test_a_reused_address_belongs_to_the_library_loaded_at_that_moment(wick):
    recording = wick.record(workload("dlopen", 500), "-F", 999)
    report = recording.report()
    assert near(contract.total_percent(report, "plugin_a_burn"), 100 / 3)
    assert near(contract.total_percent(report, "plugin_b_burn"), 200 / 3)
    assert "plugin_a" in contract.module_of(report, "plugin_a_burn")
    assert "plugin_b" in contract.module_of(report, "plugin_b_burn")


def test_a_chain_of_calls_is_folded_in_its_order(wick):
    recording = wick.record(workload("chain", 500), "-F", 999)
    total = sum(count for _, count in recording.folded())
    in_order = sum(count for frames, count in recording.folded()
                   if ";".join(recording.truth["stack"]) in ";".join(frames))
    assert in_order / total > 0.95


def test_the_call_tree_nests_the_chain(wick):
    recording = wick.record(workload("chain", 300))
    text = wick.ok("report", "--tree", recording.path).stdout
    indents = []
    for name in ("chain_a", "chain_b", "chain_c"):
        line = next(line for line in text.splitlines() if name in line)
        indents.append(line.index(name))
    assert indents == sorted(set(indents))


def test_cpp_names_are_demangled_unless_told_otherwise(wick):
    recording = wick.record(workload("names", 300))
    wanted = recording.truth["contains"]
    assert any(wanted in row["name"] for row in contract.rows(recording.report()))
    raw = recording.report("--no-demangle")
    assert any(row["name"].startswith("_ZN") for row in contract.rows(raw))


@pytest.mark.parametrize("rate_hz", (100, 999))
def test_as_many_samples_are_taken_as_the_rate_and_the_cpu_time_say(wick, rate_hz):
    recording = wick.record(workload("spin", 2000), "-F", rate_hz)
    info = recording.info()
    expected = recording.truth["cpu_ns"] / 1e9 * rate_hz
    # Start-up and exit of the program add a few milliseconds, and interrupts and a host some more.
    slack = max(0.01 * rate_hz + 1, contract.COUNT_TOLERANCE * expected)
    outside = recording.outside_ns / 1e9 * rate_hz
    assert contract.is_near(contract.sample_count(info), expected, slack, more=outside), (info, expected, outside)
    assert contract.lost_count(info) <= contract.sample_count(info) * 0.001 + 1


def test_the_fastest_rate_loses_less_than_one_in_a_hundred(wick):
    recording = wick.record(workload("spin", 1000), "-F", 10000)
    info = recording.info()
    expected = recording.truth["cpu_ns"] / 1e9 * 10000
    assert contract.sample_count(info) > expected * (1 - contract.COUNT_TOLERANCE)
    assert contract.lost_count(info) < expected * 0.01


def test_by_module_names_the_program(wick):
    recording = wick.record(workload("spin", 300))
    shares = contract.modules(recording.report("--by", "module"))
    own = sum(percent for name, percent in shares.items() if name.endswith("spin"))
    # A busy machine interrupts more often; that time is the kernel's.
    assert own > 0.95 * (100 - shares.get("[kernel]", 0))


def test_shares_of_self_add_up_to_the_whole(wick):
    report = wick.record(workload("split", 500)).report()
    total = sum(row["self_percent"] for row in contract.rows(report))
    assert 95 < total < 100.5  # the smallest rows may be cut off

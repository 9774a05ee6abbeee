# SPDX-License-Identifier: BSD-2-Clause
"""Each engine gives the same correct results, on every kernel that it works with."""
import os
import pathlib
import platform
import re
import shutil

import contract
import pytest
from conftest import workload

pytestmark = pytest.mark.perf

CAPABILITIES = 1 << 21 | 1 << 39  # CAP_SYS_ADMIN, CAP_BPF
ROOT_SHARE = re.compile(r"unwinding\s+([\d.]+) % reached the root")


def root_percent(recording):
    return float(ROOT_SHARE.search(recording.stderr).group(1))


def kernel_version():
    return tuple(int(part) for part in re.match(r"(\d+)\.(\d+)", platform.release()).groups())


def ebpf_refusal():
    """Why this machine cannot use the eBPF engine, or None; found without asking wick."""
    status = pathlib.Path("/proc/self/status").read_text(encoding="utf-8")
    if kernel_version() < (5, 17):
        return "Linux before 5.17 has no loops for eBPF programs"
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        return "this kernel has no BTF"
    if not int(re.search(r"CapEff:\s+(\w+)", status)[1], 16) & CAPABILITIES:
        return "loading eBPF programs is not permitted here"
    return None


REFUSAL = ebpf_refusal()
needs_ebpf = pytest.mark.skipif(REFUSAL is not None, reason=str(REFUSAL))
outside_containers = pytest.mark.skipif(
    not os.readlink("/proc/self/ns/pid").endswith("[4026531836]"),
    reason="time off the CPUs cannot be watched from inside a container")
ENGINES = (pytest.param(("--engine", "ebpf"), id="ebpf", marks=needs_ebpf),
           pytest.param(("--engine", "perf", "--unwind", "dwarf"), id="perf"))


def assert_is_the_split(report):
    hot = contract.total_percent(report, "hot_70")
    cool = contract.total_percent(report, "cool_30")
    assert 100 * hot / (hot + cool) == pytest.approx(70, abs=contract.SHARE_TOLERANCE)
    # A program's start takes some hundredths of a second on an emulated machine.
    assert hot + cool > 0.97 * contract.total_percent(report, "main") > 85


@pytest.mark.parametrize("engine", ENGINES)
def test_a_launched_program_without_frame_pointers_is_whole(wick, engine):
    recording = wick.record(workload("split_nofp", 1000), "-F", 999, *engine)
    assert_is_the_split(recording.report("--no-inline"))
    assert root_percent(recording) > 99
    assert "instead of" not in recording.stderr


@pytest.mark.parametrize("engine", ENGINES)
def test_a_program_that_runs_already_is_whole(wick, background, engine):
    target = background(workload("split_nofp", 20000))
    recording = wick.attach("-p", target.pid, "-F", 999, "-d", 1, *engine)
    assert_is_the_split(recording.report("--no-inline"))
    assert root_percent(recording) > 99


@pytest.mark.root
@pytest.mark.parametrize("engine", ENGINES)
def test_the_whole_machine_is_sampled(wick, background, engine):
    target = background(workload("split_nofp", 20000))
    recording = wick.attach("-a", "-F", 997, "-d", 1.5, *engine)
    assert_is_the_split(recording.report("--no-inline", "--pid", target.pid))


@needs_ebpf
@outside_containers
def test_time_off_the_cpu_is_that_of_the_sleep(wick):
    recording = wick.record(workload("io", 600), "--engine", "ebpf", "--mode", "offcpu")
    slept = contract.functions(recording.report())["sleep_for"]["total"]
    assert slept >= 0.98 * recording.truth["slept_ns"]
    assert slept <= recording.info()["duration_ns"]


@needs_ebpf
@outside_containers
def test_wall_time_is_time_on_and_off_the_cpu(wick):
    recording = wick.record(workload("io", 600), "--engine", "ebpf", "--mode", "wall", "-F", 999)
    rows, truth = contract.functions(recording.report()), recording.truth
    assert rows["sleep_for"]["total"] >= 0.98 * truth["slept_ns"]
    assert rows["write_file"]["total"] > 0 and rows["read_file"]["total"] > 0
    assert rows["main"]["total"] <= 1.02 * recording.info()["duration_ns"]
    assert rows["main"]["total"] >= 0.9 * (truth["slept_ns"] + truth["cpu_ns"])


def test_a_kernel_that_is_too_old_for_ebpf_gets_perf_events_and_a_line(wick):
    if kernel_version() >= (5, 17):
        pytest.skip("this kernel is new enough")
    recording = wick.record(workload("split", 500), "-F", 999)
    assert_is_the_split(recording.report())
    lines = [line for line in recording.stderr.splitlines() if "instead of eBPF" in line]
    assert len(lines) == 1, recording.stderr
    for words in (("--engine", "ebpf"), ("--mode", "offcpu")):
        refused = wick.record(workload("short"), *words, status=contract.FAILED)
        assert "5.17" in refused.stderr, refused.stderr


@pytest.mark.parametrize("engine", ENGINES)
def test_code_that_the_kernel_maps_has_its_caller(wick, engine):
    recording = wick.record(workload("vdso", 600), "-F", 999, *engine)
    stacks = recording.folded("--no-kernel")
    total = sum(count for _, count in stacks)
    asked = sum(count for frames, count in stacks
                if frames[-1] != "ask_vdso" and "main" in frames and "ask_vdso" in frames)
    assert asked > 0.2 * total
    assert root_percent(recording) > 99
    if "vsyscall" in recording.truth:
        asked = sum(count for frames, count in stacks if frames[-2:-1] == ["ask_vsyscall"])
        assert asked > 0.2 * total, stacks


@pytest.mark.skipif(not shutil.which("openssl"), reason="needs openssl")
@pytest.mark.parametrize("what", (
    pytest.param("aes-256-gcm", marks=pytest.mark.skipif(
        platform.machine() == "aarch64", reason="no CFI tells what its assembly does there")),
    "sha256", "chacha20-poly1305"))
@pytest.mark.parametrize("engine", ENGINES)
def test_assembly_of_openssl_is_followed(wick, engine, what):
    """Its CFAs are computed from registers of any kind, and from words in memory."""
    recording = wick.record(["openssl", "speed", "-seconds", "2", "-bytes", "4096", "-evp", what],
                            "-F", 999, *engine)
    assert contract.sample_count(recording.info()) > 200
    assert root_percent(recording) >= 99.5, recording.stderr


@pytest.mark.parametrize("engine", ENGINES)
def test_too_few_descriptors_are_named_with_the_limit(wick, engine):
    if not shutil.which("prlimit"):
        pytest.skip("needs prlimit")

    def record(limit):
        return wick.run("record", *engine, "-o", wick.new_path(), "--", *workload("short"),
                        prefix=("prlimit", f"--nofile={limit}:{limit}"))

    # How many are too few depends on the number of CPUs: the most that are is looked for.
    too_few, enough = 3, 128 + 4 * os.cpu_count()
    while enough - too_few > 1:
        limit = (too_few + enough) // 2
        if record(limit).returncode == contract.DONE:
            enough = limit
        else:
            too_few = limit
    done = record(too_few)
    assert done.returncode == contract.FAILED
    assert "open files" in done.stderr and f"now {too_few}: " in done.stderr
    assert "nofile=65536" in done.stderr


@pytest.mark.root
def test_more_threads_than_descriptors_are_followed_by_an_engine_that_needs_fewer(wick, background):
    if not shutil.which("prlimit"):
        pytest.skip("needs prlimit")
    target = background(workload("crowd", 120))
    done = wick.run("record", "-p", target.pid, "-d", "0.1", "-o", wick.new_path(),
                    prefix=("prlimit", "--nofile=100:100"))
    assert done.returncode == contract.DONE
    assert "ptrace engine" in done.stderr and "now 100: " in done.stderr

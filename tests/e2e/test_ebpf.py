# SPDX-License-Identifier: BSD-2-Clause
"""The eBPF engine, time on the CPUs: stacks of all kinds of programs, walked in the kernel."""
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import time

import pytest

import contract
from conftest import PATIENCE, children_of, thread_names, wait_for, workload
from ebpf import OUTSIDE, needs_ebpf, root_percent, share_of

pytestmark = [pytest.mark.perf, needs_ebpf]

ENGINE = ("--engine", "ebpf", "-F", 999)


def near(share, expected):
    return pytest.approx(expected, abs=contract.SHARE_TOLERANCE) == share


def test_a_split_comes_out_as_it_is_without_frame_pointers(wick):
    recording = wick.record(workload("split_nofp", 1500), *ENGINE)
    report = recording.report()
    assert near(contract.total_percent(report, "hot_70"), 70)
    assert near(contract.total_percent(report, "cool_30"), 30)
    assert near(contract.total_percent(report, "main"), 100)
    assert root_percent(recording) > 99
    info = recording.info()
    assert contract.sample_count(info) == pytest.approx(contract.expected_count(info), rel=0.02)
    assert contract.lost_count(info) == 0


def test_a_chain_without_frame_pointers_is_whole(wick):
    recording = wick.record(workload("chain_nofp", 500), *ENGINE)
    whole = share_of(recording.folded(), lambda frames: ";".join(frames).find(
        "_start;__libc_start_main;") > 0 and "main;chain_a;chain_b;chain_c" in ";".join(frames))
    assert whole > 0.95


def test_soon_no_stack_leaves_the_kernel_unwalked(wick):
    recording = wick.record(workload("split_nofp", 2000), *ENGINE)
    outside = OUTSIDE.search(recording.stderr)
    assert outside is None or float(outside.group(1)) < 10


def test_forked_workers_are_walked_in_the_kernel_at_once(wick):
    """The process that forks them waits, and is hardly ever sampled itself."""
    script = ("import os, time\n"
              "def work():\n"
              "    end = time.process_time() + 0.03\n"
              "    while time.process_time() < end: sum(range(100))\n"
              "for _ in range(40):\n"
              "    if os.fork() == 0: work(); os._exit(0)\n"
              "    os.wait()\n")
    recording = wick.record(["/usr/bin/python3", "-c", script], *ENGINE)
    outside = OUTSIDE.search(recording.stderr)
    assert outside is None or float(outside.group(1)) < 12 * PATIENCE
    assert root_percent(recording) > 99
    assert len(contract.thread_ids(recording.report("--by", "thread"))) == 41


def test_attaching_knows_the_stacks_of_what_runs(wick, background):
    target = background(workload("split_nofp", 20000))
    recording = wick.attach("-p", target.pid, "-d", 1, *ENGINE)
    report = recording.report()
    assert near(contract.total_percent(report, "hot_70"), 70)
    assert contract.total_percent(report, "main") > 97
    assert contract.thread_ids(recording.report("--by", "thread")) == {target.pid}


def test_one_thread_alone(wick, background):
    target = background(workload("threads", 20000))
    tasks = f"/proc/{target.pid}/task"
    wait_for(lambda: "w3" in thread_names(target.pid), what="the threads")
    wanted = next(int(tid) for tid in os.listdir(tasks)
                  if open(f"{tasks}/{tid}/comm", encoding="utf-8").read() == "w3\n")
    recording = wick.attach("-t", wanted, "-d", 1, *ENGINE)
    assert contract.thread_ids(recording.report("--by", "thread")) == {wanted}
    assert contract.total_percent(recording.report(), "worker_burn") > 95


def test_the_whole_machine_is_walked(wick, background):
    target = background(workload("split_nofp", 20000))
    recording = wick.attach("-a", "-d", 2, *ENGINE)
    report = recording.report("--pid", target.pid)
    hot = contract.total_percent(report, "hot_70")
    cool = contract.total_percent(report, "cool_30")
    assert 100 * hot / (hot + cool) == pytest.approx(70, abs=5)
    assert contract.total_percent(report, "main") > 95


def test_children_are_left_out_when_told(wick):
    recording = wick.record(["sh", "-c", f"{shlex.join(workload('spin', 300))}; true"], *ENGINE,
                            "--no-children")
    assert contract.total_percent(recording.report(), "spin_here") == 0
    recording = wick.record(["sh", "-c", f"{shlex.join(workload('spin', 300))}; true"], *ENGINE)
    assert contract.total_percent(recording.report(), "spin_here") > 80


def join(folder):
    return lambda: (folder / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")


@pytest.mark.root
def test_a_control_group_holds_its_processes_and_no_others(wick, cgroup):
    inside = subprocess.Popen(workload("split_nofp", 20000), stdout=subprocess.DEVNULL,
                              preexec_fn=join(cgroup))
    outside = subprocess.Popen(workload("spin", 20000), stdout=subprocess.DEVNULL)
    try:
        recording = wick.attach("--cgroup", cgroup, "-d", 1, *ENGINE)
        assert contract.thread_ids(recording.report("--by", "thread")) == {inside.pid}
        assert near(contract.total_percent(recording.report(), "hot_70"), 70)
        assert contract.total_percent(recording.report(), "main") > 95
    finally:
        for process in (inside, outside):
            process.kill()
            process.wait()


@pytest.mark.root
@pytest.mark.parametrize("mode", ("cpu", "offcpu"))
def test_what_is_no_control_group_is_named(wick, mode):
    done = wick.run("record", "--cgroup", "/no/such/group", "--mode", mode, "-d", 1, "-o",
                    wick.new_path(), "--engine", "ebpf")
    assert done.returncode == contract.FAILED
    assert "no such control group: /no/such/group" in done.stderr
    assert len(done.stderr.splitlines()) <= 2


def test_a_chain_of_execs_is_followed(wick):
    recording = wick.record(["sh", "-c", f"exec env {shlex.join(workload('split_nofp', 500))}"],
                            *ENGINE)
    report = recording.report("--comm", "split_nofp")
    assert near(contract.total_percent(report, "hot_70"), 70)
    assert root_percent(recording) > 97


def test_a_program_that_executes_itself_is_followed(wick):
    recording = wick.record(workload("execs", 200, 3), *ENGINE)
    report = recording.report()
    assert near(contract.total_percent(report, "before_exec"), 75)
    assert near(contract.total_percent(report, "spin_here"), 25)
    assert root_percent(recording) > 97


def test_programs_that_live_for_a_moment_have_their_names(wick, tmp_path):
    """20 per second, for as many seconds as there is time for."""
    seconds = 4
    names = [f"brief{i:02}" for i in range(20)]
    for name in names:
        shutil.copy(workload("spin")[0], tmp_path / name)
    script = "\n".join(f"{tmp_path / name} 15; sleep 0.03" for name in names * seconds)
    path = wick.new_path()
    process = wick.start("record", *ENGINE, "-q", "-o", path, "--", "sh", "-c", script)
    sizes = []
    while process.poll() is None:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
        # Once the command is gone the recording is being finished, which takes memory of its own.
        if children_of(process.pid):
            sizes += [int(line.split()[1]) for line in status.splitlines() if "RssAnon" in line]
        time.sleep(0.2)
    _, err = process.communicate(timeout=10)
    assert process.returncode == 0, err
    # After the first second there is nothing new in it.
    settled = sizes[len(sizes) // 3]
    assert sizes[-1] < settled + 2048, sizes
    for name in names:
        report = wick.json("report", path, "--format", "json", "--comm", name)
        if report["samples"] >= 2:
            assert contract.total_percent(report, "spin_here") > 50, (name, report["rows"][:5])
        # The loader has no symbols on most machines; the programs have.
        assert not [one for one in contract.functions(report) if one.startswith(f"{name}+0x")]


def test_an_address_that_is_used_again_belongs_to_who_was_there(wick):
    recording = wick.record(workload("dlopen", 500), *ENGINE)
    report = recording.report()
    assert near(contract.total_percent(report, "plugin_a_burn"), 100 / 3)
    assert near(contract.total_percent(report, "plugin_b_burn"), 200 / 3)
    assert root_percent(recording) > 98


def test_a_deleted_program_is_walked(wick, tmp_path, background):
    copy = shutil.copy(workload("split_nofp")[0], tmp_path / "gone")
    target = background([copy, "20000"])
    time.sleep(0.1)
    os.unlink(copy)
    recording = wick.attach("-p", target.pid, "-d", 1, *ENGINE)
    assert root_percent(recording) > 97


def test_reading_clocks_has_callers(wick):
    recording = wick.record(workload("clocks", 500), *ENGINE)
    assert contract.total_percent(recording.report(), "read_clocks") > 95
    assert root_percent(recording) > 97


def test_a_static_program_is_walked(wick):
    recording = wick.record(workload("chain_static", 500), *ENGINE)
    assert share_of(recording.folded(), lambda frames: "main;chain_a;chain_b;chain_c" in
                    ";".join(frames)) > 0.95
    assert root_percent(recording) > 99


@pytest.mark.parametrize("program", ("recurse", "recurse_nofp"))
def test_a_thousand_frames_are_kept(wick, program):
    recording = wick.record(workload(program, 1000, 300), *ENGINE, "--depth", 1024)
    assert share_of(recording.folded(), lambda frames: frames.count("descend") == 1000) > 0.95
    assert root_percent(recording) > 99


@pytest.mark.skipif(PATIENCE > 1, reason="long stacks are cut where the recorder has no time")
def test_a_stack_that_is_longer_than_a_record_is_whole_from_its_first_sample_on(wick):
    recording = wick.record(workload("recurse_wide", 25, 200), *ENGINE)
    assert share_of(recording.folded(), lambda frames: frames.count("descend") == 25) > 0.97
    assert root_percent(recording) > 98.4


def test_deeper_than_the_limit_is_marked(wick):
    recording = wick.record(workload("recurse_nofp", 1500, 300), *ENGINE, "--depth", 100)
    stacks = recording.folded("--no-kernel")
    assert share_of(stacks, lambda frames: frames[1] == "[truncated]") > 0.95
    assert share_of(stacks, lambda frames: "bottom" in frames) > 0.95
    assert max(frames.count("descend") for frames, _ in stacks) <= 100
    assert "depth limit" in recording.stderr


def test_a_signal_on_a_stack_of_its_own_shows_what_it_interrupted(wick):
    # A stack that is walked from its copy ends where that does.
    recording = wick.record(workload("altstack", 1500 * PATIENCE), *ENGINE)
    stacks = recording.folded()
    assert share_of(stacks, lambda frames: "handle_here" in frames) > 0.95
    assert share_of(stacks, lambda frames: "main;interrupted_here" in ";".join(frames)) > 0.95


def test_code_without_tables_has_its_callers(wick):
    recording = wick.record(workload("jit", 500), *ENGINE)
    assert share_of(recording.folded(), lambda frames: "main;call_jit" in ";".join(frames)) > 0.95


def test_more_mappings_than_the_programs_hold_are_walked_outside(wick):
    # So many mappings take an emulated machine a second.
    recording = wick.record(workload("jit", 500 * PATIENCE**2, 6000), *ENGINE)
    report = recording.report()
    assert contract.total_percent(report, "call_jit") > 70
    assert contract.total_percent(report, "main") > 90
    assert contract.lost_count(recording.info()) < 0.05 * contract.sample_count(recording.info())


def test_the_kernel_is_there_or_not_as_told(wick):
    recording = wick.record(workload("io", 500), *ENGINE)
    assert contract.modules(recording.report("--by", "module"))["[kernel]"] > 10
    recording = wick.record(workload("io", 500), *ENGINE, "--no-kernel")
    assert "[kernel]" not in contract.modules(recording.report("--by", "module"))
    assert contract.total_percent(recording.report(), "main") > 80


def test_a_leader_that_ends_first_leaves_its_threads_watched(wick):
    script = ("import ctypes, threading, time\n"
              "def burn():\n"
              "    end = time.monotonic() + 0.8\n"
              "    while time.monotonic() < end: pass\n"
              "threading.Thread(target=burn).start()\n"
              "ctypes.CDLL(None).syscall(ctypes.c_long(93 if __import__('platform').machine() == "
              "'aarch64' else 60), 0)\n")
    recording = wick.record(["/usr/bin/python3", "-c", script], *ENGINE)
    assert contract.sample_count(recording.info()) > 100
    assert root_percent(recording) > 97
    # Its space is known to the programs although the process is taken for ended.
    assert float(OUTSIDE.search(recording.stderr).group(1)) < 60


def test_two_recorders_see_the_same(wick, background):
    target = background(workload("split_nofp", 20000))
    paths = [wick.new_path(), wick.new_path()]
    both = [wick.start("record", *ENGINE, "-p", target.pid, "-d", 1.5, "-o", path)
            for path in paths]
    for process, path in zip(both, paths):
        _, err = process.communicate(timeout=20)
        assert process.returncode == 0, err
        report = wick.json("report", path, "--format", "json")
        assert near(contract.total_percent(report, "hot_70"), 70)
        assert contract.total_percent(report, "main") > 97


def test_a_target_that_is_killed_ends_the_recording(wick, background):
    target = background(workload("split_nofp", 20000))
    path = wick.new_path()
    process = wick.start("record", *ENGINE, "-p", target.pid, "-o", path)
    time.sleep(PATIENCE)
    target.send_signal(signal.SIGKILL)
    target.wait()
    _, err = process.communicate(timeout=10)
    assert process.returncode == 0, err
    assert contract.total_percent(wick.json("report", path, "--format", "json"), "main") > 95

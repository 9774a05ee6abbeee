# SPDX-License-Identifier: BSD-2-Clause
"""wick sample: raw stacks, and the target is unchanged afterwards."""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading
import time

import contract
import pytest
from conftest import (PATIENCE, WICK, assert_short_message, children_of, state_of, thread_names,
                      wait_for, workload)

HEAD = re.compile(r"Attached to process (\d+), sampling every (\d+) ms\nPress Ctrl\+C to stop\n\n")
TITLE = re.compile(r"--- sample (\d+)(?: thread (\d+) \((.*)\))? ---")
ADDRESS = re.compile(r"  (0x[0-9a-f]+)")
NAMED = re.compile(r"  (0x[0-9a-f]+)  (\S.*?)(?:\+0x[0-9a-f]+)?(?: \((\S+)\)(?: \S.*:\d+)?)?")
CHAIN = ["chain_c", "chain_b", "chain_a", "main"]


def parse(text, line_form=ADDRESS):
    """[(number, tid, name of the thread, lines as matched groups)]"""
    head = HEAD.match(text)
    assert head, text[:200]
    samples = []
    for line in text[head.end():].splitlines():
        title = TITLE.fullmatch(line)
        if title:
            samples.append((int(title[1]), title[2] and int(title[2]), title[3], []))
        else:
            match = line_form.fullmatch(line)
            assert match, line
            samples[-1][3].append(match.groups())
    return samples


def functions(sample):
    return [groups[1] for groups in sample[3]]


def tracer_of(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(re.search(r"^TracerPid:\s*(\d+)", status, re.M)[1])


@pytest.fixture
def stopped(background):
    """A process that was stopped by SIGSTOP before wick attached."""
    target = background(workload("spin", 20000))
    target.send_signal(signal.SIGSTOP)
    wait_for(lambda: state_of(target.pid) == "T", what="the stop")
    return target


def test_the_output_is_as_the_contract_says(wick, background):
    target = background(workload("spin", 20000))
    done = wick.ok("sample", target.pid, 20, "-n", 3)
    assert HEAD.match(done.stdout).groups() == (str(target.pid), "20")
    samples = parse(done.stdout)
    assert [number for number, *_ in samples] == [1, 2, 3]
    assert all(tid is None and len(lines) >= 3 for _, tid, _, lines in samples)
    assert done.stderr == ""


def test_the_usual_interval_is_100_ms(wick, background):
    target = background(workload("spin", 20000))
    start = time.monotonic()
    done = wick.ok("sample", target.pid, "-n", 6)
    assert "every 100 ms" in done.stdout
    assert 0.5 <= time.monotonic() - start < 5


def test_callers_are_found_without_frame_pointers(wick, background):
    target = background(workload("chain_nofp", 20000))
    samples = parse(wick.ok("sample", "-v", target.pid, 5, "-n", 50).stdout, NAMED)
    right = [names for names in map(functions, samples)
             if names[-1] == "_start" and any(names[i:i + 4] == CHAIN for i in range(len(names)))]
    assert len(right) >= 49, [functions(sample) for sample in samples]


def test_lines_follow_the_functions(wick, background):
    target = background(workload("spin", 20000))
    text = wick.ok("sample", "-v", target.pid, 5, "-n", 10).stdout
    source = pathlib.Path(__file__).parents[1] / "workloads/spin.c"
    line = next(n for n, text in enumerate(source.read_text().splitlines(), 1) if "= spin_here(" in text)
    assert re.search(rf"^  0x[0-9a-f]+  main\+0x[0-9a-f]+ \(spin\) .*spin\.c:{line}$", text, re.M), text
    assert re.search(r"^  0x[0-9a-f]+  spin_here\+0x[0-9a-f]+ \(spin\) .*spin\.c:\d+$", text, re.M), text


def test_one_stop_is_told_as_one(wick, background):
    target = background(workload("spin", 20000))
    assert re.search(r"^wick: stopped the thread once, for \d+ us$", wick.ok("sample", "-v", "-n", 1, target.pid, 5).stderr, re.M)
    assert re.search(r"^wick: 3 stops: half of them", wick.ok("sample", "-v", "-n", 3, target.pid, 5).stderr, re.M)


def test_frame_pointers_alone_on_request(wick, background):
    target = background(workload("chain", 20000))
    samples = parse(wick.ok("sample", "-v", "--unwind", "fp", target.pid, 5, "-n", 50).stdout,
                    NAMED)
    assert sum("chain_b" in functions(sample) for sample in samples) >= 45


def test_all_threads_with_their_names(wick, background):
    target = background(workload("threads", 20000))
    wait_for(lambda: len(thread_names(target.pid)) == 5, what="the threads")
    samples = parse(wick.ok("sample", "--threads", target.pid, 10, "-n", 20).stdout)
    # One that cannot be stopped in time, on a busy machine, is left out of that round.
    assert {"threads", "w0", "w1", "w2", "w3"} in [
        {name for number, _, name, _ in samples if number == n} for n in range(2, 21)]
    assert {tid for _, tid, _, _ in samples} == {
        int(tid) for tid in os.listdir(f"/proc/{target.pid}/task")}


def test_threads_that_start_later_are_sampled(wick, background):
    target = background(workload("threads", 1500, 500))
    done = wick.ok("sample", "--threads", target.pid, 20, timeout=30)
    assert {"w0", "w1", "w2", "w3"} <= {name for _, _, name, _ in parse(done.stdout)}
    assert target.wait(timeout=5) == 0
    assert json.loads(target.stdout.read())["cpu_ns"] > 1e9


def test_a_program_that_execs_is_followed(wick, background):
    target = background(workload("execs", 300, 1))
    done = wick.ok("sample", "-v", target.pid, 5, timeout=30)
    names = {name for sample in parse(done.stdout, NAMED) for name in functions(sample)}
    assert {"before_exec", "spin_here"} <= names


@pytest.mark.parametrize("options", [[], ["--threads"]])
def test_an_exec_by_another_thread_is_followed(wick, background, options):
    target = background(workload("crowd", 2, "exec"))
    assert target.stdout.readline() == "ready\n"
    done = wick.ok("sample", "-v", *options, "-d", 1.5, target.pid, 20)
    assert "has ended" not in done.stderr
    # The exec makes the thread that calls it the first one.
    names = [functions(sample) for sample in parse(done.stdout, NAMED) if int(sample[1] or target.pid) == target.pid]
    assert "pause" in names[0] or "main" in names[0], names[0]
    assert "clock_nanosleep" in names[-1], names[-1]
    assert tracer_of(target.pid) == 0


def test_a_process_goes_on_when_its_main_thread_has_ended(wick, background):
    target = background(workload("crowd", 2, "leave"))
    wait_for(lambda: state_of(target.pid) == "Z", what="the end of the main thread")
    done = wick.ok("sample", "-v", "--threads", target.pid, 20, "-n", 3)
    samples = parse(done.stdout, NAMED)
    assert len(samples) == 6
    assert all("sleep_on" in functions(sample) for sample in samples), done.stdout
    alone = wick.run("sample", target.pid)
    assert alone.returncode == contract.FAILED
    assert "main thread" in alone.stderr and "--threads" in alone.stderr
    recording = wick.attach("--engine", "ptrace", "-p", target.pid, "-d", 0.5)
    assert contract.total_percent(recording.report(), "sleep_on") > 95


def test_a_library_in_the_place_of_another_is_not_taken_for_it(wick, background):
    target = background(workload("dlopen", 500))
    done = wick.ok("sample", "-v", target.pid, 10, timeout=30)
    if not json.loads(target.stdout.read())["address_reused"]:
        pytest.skip("the loader did not use the address again")
    names = [name for sample in parse(done.stdout, NAMED) for name in functions(sample)]
    assert names.count("plugin_a_burn") > 20 and names.count("plugin_b_burn") > 40, names
    recording = wick.record(workload("dlopen", 500), "--engine", "ptrace")
    report = recording.report()
    # Wall-clock time: on a busy machine it is not what was burnt.
    assert contract.total_percent(report, "plugin_a_burn") > 15
    assert contract.total_percent(report, "plugin_b_burn") > 30


@pytest.mark.root
def test_a_deleted_program_keeps_its_names(wick, background, tmp_path):
    program = tmp_path / "gone"
    shutil.copy(workload("chain")[0], program)
    target = background([str(program), "20000"])
    wait_for(lambda: os.readlink(f"/proc/{target.pid}/exe") == str(program), what="its exec")
    time.sleep(0.1)
    program.unlink()
    shutil.copy(workload("spin")[0], program)  # another one bears the name now
    samples = parse(wick.ok("sample", "-v", target.pid, 5, "-n", 10).stdout, NAMED)
    assert all("chain_b" in functions(sample) for sample in samples), samples[0]
    assert samples[0][3][-1][2] == "gone"


def test_a_process_that_ends_ends_the_sampling(wick, background):
    target = background(workload("spin", 300))
    done = wick.ok("sample", target.pid, 10, timeout=20)
    assert f"process {target.pid} has ended" in done.stderr
    assert target.wait(timeout=5) == 0


def test_a_killed_process_keeps_its_status(wick, background):
    target = background(workload("spin", 20000))
    process = wick.start("sample", target.pid, 1)
    process.stdout.readline()
    time.sleep(0.2)
    target.kill()
    process.communicate(timeout=10)
    assert process.returncode == contract.DONE
    assert target.wait(timeout=5) == -signal.SIGKILL


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_leaves_the_target_running(wick, background, number):
    target = background(workload("spin", 700))
    process = wick.start("sample", target.pid, 5)
    wait_for(lambda: tracer_of(target.pid) == process.pid, what="the attach")
    time.sleep(0.1)
    process.send_signal(number)
    out, err = process.communicate(timeout=10)
    assert process.returncode == contract.DONE, err
    assert parse(out)
    assert tracer_of(target.pid) == 0
    assert target.wait(timeout=20) == 0


def test_a_killed_wick_leaves_the_target_running(wick, background):
    target = background(workload("spin", 500))
    process = wick.start("sample", "--threads", target.pid, 1)
    wait_for(lambda: tracer_of(target.pid) == process.pid, what="the attach")
    time.sleep(0.1)
    process.kill()
    process.communicate(timeout=10)
    assert target.wait(timeout=20) == 0


@pytest.mark.parametrize("options", [[], ["--threads"]])
def test_a_stopped_target_stays_stopped_and_is_left_stopped(wick, stopped, options):
    samples = parse(wick.ok("sample", *options, stopped.pid, 5, "-n", 5).stdout)
    assert len({str(lines) for *_, lines in samples}) == 1, "it did not move"
    assert len(samples) == 5
    # A thread that is let go of is woken, to stop again by itself: on one CPU that shows.
    wait_for(lambda: state_of(stopped.pid) == "T", what="the stop")
    stopped.send_signal(signal.SIGCONT)
    wait_for(lambda: state_of(stopped.pid) in "RS", what="SIGCONT")


def test_stop_and_continue_work_while_sampled(wick, background):
    target = background(workload("spin", 20000))
    process = wick.start("sample", target.pid, 2)
    wait_for(lambda: tracer_of(target.pid) == process.pid, what="the attach")
    cpu = pathlib.Path(f"/proc/{target.pid}/schedstat")
    for _ in range(5):
        target.send_signal(signal.SIGSTOP)
        time.sleep(0.1)
        before = int(cpu.read_text(encoding="ascii").split()[0])
        time.sleep(0.2)
        spent = int(cpu.read_text(encoding="ascii").split()[0]) - before
        assert spent < 50e6, "a stopped target runs only to be shown"
        target.send_signal(signal.SIGCONT)
        wait_for(lambda: int(cpu.read_text(encoding="ascii").split()[0]) > before + 100e6,
                 what="running again")
    target.send_signal(signal.SIGSTOP)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=10)
    wait_for(lambda: state_of(target.pid) == "T", seconds=2, what="the stop after leaving")


@pytest.mark.parametrize("arguments", [
    ["sample"], ["sample", "--threads"],
    ["record", "-q", "--engine", "ptrace", "-F", "500", "-o", "z.wick", "-p"]])
def test_ctrl_z_suspends_wick_and_not_the_target(background, tmp_path, arguments):
    target = background(workload("calls", 20000))
    assert target.stdout.readline() == "ready\n"
    # A group of its own in this session: the kernel suspends nobody without a shell above.
    process = background([str(WICK), *arguments, str(target.pid)], cwd=tmp_path,
                         preexec_fn=os.setpgrp, stderr=subprocess.DEVNULL)
    if arguments[0] == "sample":
        reader = threading.Thread(target=process.stdout.read)
        reader.start()
    for _ in range(3):
        wait_for(lambda: tracer_of(target.pid) == process.pid, what="the attach")
        process.send_signal(signal.SIGTSTP)
        wait_for(lambda: state_of(process.pid) == "T", what="the suspension")
        assert tracer_of(target.pid) == 0
        for _ in range(20):
            assert state_of(target.pid) in "RS"
            os.kill(target.pid, signal.SIGRTMIN)
            time.sleep(0.005)
        process.send_signal(signal.SIGCONT)
    wait_for(lambda: tracer_of(target.pid) == process.pid, what="the attach")
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=10) == contract.DONE
    assert tracer_of(target.pid) == 0


def test_ctrl_z_suspends_a_recorded_command_too(background, tmp_path):
    process = background([str(WICK), "record", "-q", "--engine", "ptrace", "-F", "500", "-o",
                          str(tmp_path / "z.wick"), "--", *workload("spin", 1000)],
                         preexec_fn=os.setpgrp, stderr=subprocess.DEVNULL)
    child = wait_for(lambda: children_of(process.pid), what="the command")[0]
    wait_for(lambda: tracer_of(child) == process.pid, what="the attach")
    time.sleep(0.2)
    os.killpg(process.pid, signal.SIGTSTP)
    wait_for(lambda: state_of(process.pid) == "T" and state_of(child) == "T", what="both stops")
    os.killpg(process.pid, signal.SIGCONT)
    assert process.wait(timeout=20) == 0


def test_the_parent_sees_stops_of_a_sampled_child(wick):
    child = os.spawnv(os.P_NOWAIT, workload("spin")[0], workload("spin", 20000))
    process = wick.start("sample", child, 2)
    try:
        wait_for(lambda: tracer_of(child) == process.pid, what="the attach")
        os.kill(child, signal.SIGSTOP)
        pid, status = os.waitpid(child, os.WUNTRACED)
        assert pid == child and os.WIFSTOPPED(status) and os.WSTOPSIG(status) == signal.SIGSTOP
        os.kill(child, signal.SIGCONT)
        _, status = os.waitpid(child, os.WCONTINUED)
        assert os.WIFCONTINUED(status)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_every_signal_arrives_once(wick, background):
    target = background(workload("calls", 1500))
    assert target.stdout.readline() == "ready\n"
    process = wick.start("sample", "--threads", target.pid, 1)
    wait_for(lambda: tracer_of(target.pid) == process.pid, what="the attach")
    for _ in range(400):
        os.kill(target.pid, signal.SIGRTMIN)
        time.sleep(0.001)
    process.communicate(timeout=20)
    assert json.loads(target.stdout.readline())["signals"] == 400
    assert target.wait(timeout=5) == 0


def test_only_calls_that_cannot_be_restarted_see_eintr(wick, background):
    """epoll_wait returns EINTR whenever a thread was stopped and continued: signal(7)."""
    target = background(workload("calls", 1500))
    assert target.stdout.readline() == "ready\n"
    done = wick.ok("sample", "--threads", target.pid, 2)
    assert len(parse(done.stdout)) > 300
    truth = json.loads(target.stdout.readline())
    assert truth["eintr"] == 0
    assert target.wait(timeout=5) == 0


def test_a_storm_of_signals_keeps_nobody_from_sampling_or_leaving(wick, background):
    target = background(workload("crowd", 50, "storm"))
    assert target.stdout.readline() == "ready\n"
    done = wick.ok("sample", "--threads", "-d", 1, target.pid, 50, timeout=20)
    assert len({tid for _, tid, _, _ in parse(done.stdout)}) == 51
    assert tracer_of(target.pid) == 0


def test_a_thread_is_not_held_longer_where_there_are_many(wick, background):
    target = background(workload("crowd", 400))
    assert target.stdout.readline() == "ready\n"
    done = wick.ok("sample", "-v", "--threads", "-n", 5, target.pid, 100, timeout=30)
    half_us = int(re.search(r"half of them took at most (\d+) us", done.stderr)[1])
    assert half_us < 400, "some 30; 2,000 when all are asked to stop before the first is looked at"


def test_what_cannot_be_interrupted_is_left_after_a_moment(wick, background):
    target = background(workload("crowd", 1, "vfork"))
    assert target.stdout.readline() == "ready\n"
    wait_for(lambda: state_of(target.pid) == "D", what="its wait for a child")
    start = time.monotonic()
    done = wick.ok("sample", "--threads", "-d", 0.3, target.pid, 50, timeout=20)
    assert time.monotonic() - start < 3.3, "two seconds to leave, once"
    assert {tid for _, tid, _, _ in parse(done.stdout)} == {
        int(tid) for tid in os.listdir(f"/proc/{target.pid}/task")} - {target.pid}
    for child in children_of(target.pid):
        os.kill(child, signal.SIGKILL)


def test_a_target_under_a_debugger_is_refused(wick, background):
    if not shutil.which("strace"):
        pytest.skip("strace is not installed")
    target = background(workload("spin", 20000))
    tracer = background(["strace", "-p", str(target.pid)], stderr=subprocess.DEVNULL)
    wait_for(lambda: tracer_of(target.pid) == tracer.pid, what="strace")
    done = wick.run("sample", target.pid, "-n", 1)
    assert done.returncode == contract.FAILED
    assert f"strace (process {tracer.pid}) is tracing it" in done.stderr
    assert done.stdout == ""
    assert tracer_of(target.pid) == tracer.pid


def test_two_hundred_times_do_no_harm(wick, background):
    """Two programs at once, a hundred times each."""
    targets = [background(workload("threads", 4000 * PATIENCE)) for _ in range(2)]

    def look(target):
        for _ in range(100 // PATIENCE):
            wick.ok("sample", "--threads", target.pid, 1, "-n", 1)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(look, targets))
    for target in targets:
        assert target.wait(timeout=60) == 0
        assert set(json.loads(target.stdout.read())["threads"]) == {"w0", "w1", "w2", "w3"}


def test_processes_that_it_starts_are_not_disturbed(wick, background):
    target = background(workload("forks"))
    done = wick.run("sample", "--threads", target.pid, 1, timeout=30)
    assert done.returncode in (contract.DONE, contract.FAILED)
    assert target.wait(timeout=20) == 0


@pytest.mark.parametrize("arguments", [
    ["0"], ["-5"], ["x"], ["99999999999"], [], ["1", "0"], ["1", "x"], ["1", "99999999999"],
    ["1", "10", "10"], ["1", "1.5"], ["--unwind", "dwarf", "1"]])
def test_wrong_arguments_are_wrong_usage(wick, arguments):
    done = wick.run("sample", *arguments)
    assert done.returncode == contract.USAGE
    assert done.stdout == ""
    assert "wick sample" in done.stderr


def test_a_process_that_is_not_there_is_named(wick):
    done = wick.run("sample", 2 ** 22 - 1)
    assert done.returncode == contract.FAILED
    assert str(2 ** 22 - 1) in done.stderr
    assert_short_message(done, "no_such_pid")


def test_a_32_bit_program_is_refused_with_a_reason(wick, background):
    target = background(workload("narrow"))
    done = wick.run("sample", target.pid, 10, "-n", 3)
    assert done.returncode == contract.FAILED
    assert "32-bit" in done.stderr and "--- sample" not in done.stdout
    assert target.poll() is None


def test_a_process_of_another_user_is_refused_with_a_remedy(wick, as_nobody):
    done = wick.run("sample", 1, prefix=as_nobody)
    assert done.returncode == contract.FAILED
    assert_short_message(done, "other_user")


def test_a_reader_that_leaves_ends_it_quietly(wick, background):
    target = background(workload("spin", 20000))
    process = wick.start("sample", target.pid, 1)
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=10) == 141
    assert process.stderr.read() == ""
    process.stderr.close()
    assert tracer_of(target.pid) == 0


def test_a_full_pipe_holds_wick_and_not_the_target(wick, background):
    target = background(workload("spin", 500))
    process = wick.start("sample", target.pid, 1)
    assert target.wait(timeout=20) == 0
    reader = threading.Thread(target=process.communicate)
    reader.start()
    reader.join(timeout=10)
    assert process.returncode == contract.DONE


def test_the_name_sampler_is_wick_sample(background, tmp_path):
    (tmp_path / "sampler").symlink_to(WICK)
    target = background(workload("spin", 20000))
    done = subprocess.run([tmp_path / "sampler", str(target.pid), "5", "-n", "2"], check=True,
                          capture_output=True, text=True, timeout=20)
    assert len(parse(done.stdout)) == 2
    wrong = subprocess.run([tmp_path / "sampler"], check=False, capture_output=True, timeout=20)
    assert wrong.returncode == contract.USAGE


def test_kernel_frames_of_a_sleeper_come_before_its_own(wick, background):
    target = background(["sleep", "20"])
    wait_for(lambda: state_of(target.pid) == "S", what="its sleep")
    done = wick.ok("sample", "-v", "--kernel", "-n", 2, target.pid, 20)
    for sample in parse(done.stdout, NAMED):
        kernel = [groups[2] == "[kernel]" for groups in sample[3]]
        assert kernel[0] and not kernel[-1] and kernel == sorted(kernel, reverse=True), sample
    assert re.search(r"  __\w*_sys_\w+\+0x", done.stdout), done.stdout
    plain = wick.ok("sample", "-v", "-n", 1, target.pid)
    assert "[kernel]" not in plain.stdout


def test_kernel_frames_need_permission(wick, as_nobody):
    done = wick.run("sample", "--kernel", "-n", 1, os.getpid(), prefix=as_nobody)
    assert done.returncode == contract.FAILED
    assert len(done.stderr.splitlines()) <= 2
    assert "remove --kernel" in done.stderr


def test_the_ptrace_engine_records_kernel_frames(wick, background):
    target = background(["sleep", "20"])
    wait_for(lambda: state_of(target.pid) == "S", what="its sleep")
    recording = wick.attach("--engine", "ptrace", "-p", target.pid, "-d", 0.5)
    assert "reached the root" in recording.stderr
    names = list(contract.functions(recording.report()))
    assert any("_sys_" in name for name in names), names
    without = wick.attach("--engine", "ptrace", "--no-kernel", "-p", target.pid, "-d", 0.5)
    names = list(contract.functions(without.report()))
    assert not any("_sys_" in name for name in names), names


def test_the_ptrace_engine_records_wall_time_with_states(wick, background):
    target = background(workload("threads", 20000))
    wait_for(lambda: len(thread_names(target.pid)) == 5, what="the threads")
    recording = wick.attach("--engine", "ptrace", "-p", target.pid, "-d", 1.5)
    shares = contract.threads(recording.report("--by", "thread"))
    assert set(shares) == {"threads", "w0", "w1", "w2", "w3"}
    assert all(share == pytest.approx(20, abs=3) for share in shares.values()), shares
    assert contract.total_percent(recording.report("--comm", "w3"), "worker_burn") > 95
    assert tracer_of(target.pid) == 0


def test_the_ptrace_engine_records_a_command_and_passes_its_status_on(wick):
    recording = wick.record(workload("split", 800), "--engine", "ptrace", "-F", 499)
    hot = contract.total_percent(recording.report(), "hot_70")
    assert hot == pytest.approx(70, abs=8)
    assert recording.truth["cpu_ns"] > 7e8
    wick.record(workload("signals", "exit", 7), "--engine", "ptrace", status=7)
    wick.record(workload("signals", "die", 15), "--engine", "ptrace", status=128 + 15)
    wick.record(["./not-there"], "--engine", "ptrace", status=contract.NOT_FOUND)


def test_the_ptrace_engine_follows_exec_and_children(wick):
    names = wick.record(workload("execs"), "--engine", "ptrace", "-F", 499).report()
    assert contract.total_percent(names, "spin_here") > 15
    recording = wick.record(workload("forks"), "--engine", "ptrace", "-F", 997)
    assert recording.truth["failed"] == 0


def test_the_ptrace_engine_keeps_its_rate_when_programs_exec_all_the_time(wick):
    """Fifty execs, each earlier than the next tick would be."""
    recording = wick.record(workload("execs", 20, 50), "--engine", "ptrace", "-F", 20)
    assert recording.info()["samples"] >= 10


def test_the_ptrace_engine_follows_frame_pointers_alone_on_request(wick):
    command = workload("chain_nofp", 500)
    tables = wick.record(command, "--engine", "ptrace", "--unwind", "dwarf")
    assert contract.total_percent(tables.report(), "main") > 90
    assert "--stack-size" not in tables.stderr
    pointers = wick.record(command, "--engine", "ptrace", "--unwind", "fp", "--stack-size", "1K")
    assert contract.total_percent(pointers.report(), "chain_b") < 50
    assert "by frame pointers only" in pointers.stderr
    assert "--stack-size has no effect" in pointers.stderr

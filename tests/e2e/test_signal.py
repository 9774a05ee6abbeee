# SPDX-License-Identifier: BSD-2-Clause
"""The signal engine: as accurate as the others, and the program does not notice it."""
import errno
import fcntl
import glob
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import contract
import pytest
from conftest import WICK, wait_for, workload

ENGINE = ("--engine", "signal")
NO_RIGHTS = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")


def is_left_over(session):
    """Its recorder lives as long as somebody holds the lock."""
    try:
        with open(f"{session}/control", encoding="utf-8") as control:
            fcntl.flock(control, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def left_over_sessions(pids):
    """For recorders with these ids: others may belong to tests that run in parallel."""
    return [session for pid in pids for session in glob.glob(f"/dev/shm/wick-session-{pid}-*")
            if is_left_over(session)]


def lost_nothing(recording):
    assert "0 lost" in recording.stderr, recording.stderr


@pytest.fixture(autouse=True)
def no_session_stays(wick):
    yield
    assert not left_over_sessions(wick.pids)


@pytest.mark.parametrize("program", ["split", "split_nofp"])
@pytest.mark.parametrize("rate", [197, 997])
def test_a_program_is_told_truly(wick, program, rate):
    """At the lower rate the CPU-time timer ticks, at the higher one the wall-clock timer. The kernel's own ticks are
    in step with a program whose parts take 7 and 3 ms: samples must not be."""
    recording = wick.record(workload(program, 1500), "-F", rate, *ENGINE)
    report = recording.report("--no-inline")
    hot = contract.total_percent(report, "hot_70")
    cool = contract.total_percent(report, "cool_30")
    tolerance = contract.SHARE_TOLERANCE if rate > 500 else 10
    assert 100 * hot / (hot + cool) == pytest.approx(70, abs=tolerance)
    assert hot + cool > 0.97 * contract.total_percent(report, "main") > 85
    assert "100.00 % reached the root" in recording.stderr
    lost_nothing(recording)
    svg = wick.new_path().with_suffix(".svg")
    wick.ok("flame", recording.path, "-o", svg)
    drawn = svg.read_text(encoding="utf-8")
    assert re.search(r'class="p\d+"[^>]*?(>\s*<title>|data-t=")hot_70', drawn), "hot_70 is the program's own"


def test_calls_are_not_interrupted(wick):
    """A sampled program sees no EINTR that it would not see otherwise."""
    recording = wick.record(workload("guest", "interrupts", 400), *ENGINE)
    assert recording.truth["calls"] > 100
    assert recording.truth["interrupted"] == 0


@pytest.mark.parametrize("rate", [100, 1000])
def test_a_tick_reads_each_clock_once(wick, rate):
    """System calls are most of what it costs. One tick in 16 is timed: it reads the CPU time twice more."""
    if not shutil.which("strace"):
        pytest.skip("strace is not installed")
    trace = wick.new_path()
    wick.record(["strace", "-f", "-o", str(trace), *map(str, workload("split", 800))], "-F", rate, *ENGINE)
    ticks = re.findall(r"--- SIG\w+ \{[^\n]*si_code=SI_TIMER[^\n]*---\n(.*?)\d+ +rt_sigreturn",
                       trace.read_text(encoding="utf-8"), re.S)
    assert len(ticks) >= 10
    assert {tick.count("CLOCK_MONOTONIC") for tick in ticks} == {1}
    assert {tick.count("CLOCK_THREAD_CPUTIME_ID") for tick in ticks} <= {1, 3}
    assert sum(tick.count("CLOCK_THREAD_CPUTIME_ID") == 3 for tick in ticks) <= 1 + len(ticks) / 8
    assert not any("gettid" in tick for tick in ticks)


@pytest.mark.parametrize("mode", ["cpu", "wall"])
def test_a_program_may_have_sigprof_for_itself(wick, mode):
    recording = wick.record(workload("guest", "own-timer", 500), "--mode", mode, *ENGINE)
    assert recording.truth["kept"]
    assert recording.truth["others"] == 0
    assert 20 <= recording.truth["ticks"] <= 60
    assert contract.total_percent(recording.report("--no-inline"), "burn_ms") > 80


def test_a_program_may_have_sigprof_the_oldest_way(wick):
    plain = json.loads(subprocess.run(workload("guest", "by-sigset", 100), capture_output=True, text=True,
                                      check=True).stdout)
    assert plain["right"]
    assert wick.record(workload("guest", "by-sigset", 200), *ENGINE).truth == plain


@pytest.fixture
def no_timers():
    """The kernel has no timers for threads then."""
    if not shutil.which("prlimit"):
        pytest.skip("needs prlimit")
    return ("prlimit", "--sigpending=0")


def test_threads_without_timers_share_that_of_their_process(wick, no_timers):
    recording = wick.record(workload("threads"), *ENGINE, prefix=no_timers)
    assert "no timer for 5 threads: sampled by the process timer" in recording.stderr
    report = recording.report("--by", "thread")
    assert report["value"]["total"] == pytest.approx(recording.truth["cpu_ns"], rel=0.1)
    shares = contract.threads(report)
    assert [shares[f"w{i}"] for i in range(4)] == pytest.approx([10, 20, 30, 40], abs=6)


@pytest.mark.parametrize("code", [errno.EPERM, errno.ENOSYS])
def test_a_filter_of_system_calls_leaves_the_timer_of_the_process(wick, code):
    recording = wick.record(workload("split", 400), *ENGINE,
                            prefix=workload("forbid", code, "timers"))
    assert "sampled by the process timer" in recording.stderr
    total_ns = recording.report()["value"]["total"]
    assert total_ns == pytest.approx(recording.truth["cpu_ns"], rel=0.05)


def test_the_timer_of_a_process_stays_its_own(wick, no_timers):
    recording = wick.record(workload("guest", "own-timer", 300), *ENGINE, prefix=no_timers)
    assert recording.truth["kept"]
    assert recording.truth["others"] == 0
    assert 15 <= recording.truth["ticks"] <= 40
    assert "raise ulimit -i" in recording.stderr


def test_no_tick_of_the_process_comes_to_what_it_becomes(wick, no_timers):
    """The timer outlives exec, and its signal would end a program that has no handler."""
    static = workload("chain_static")[0]
    recording = wick.record(workload("guest", "becomes", 200, static), *ENGINE, prefix=no_timers)
    assert recording.truth["stack"]  # it ran to its end
    assert contract.total_percent(recording.report("--no-inline"), "becomes") > 80


def test_a_program_that_blocks_all_signals_is_sampled(wick):
    recording = wick.record(workload("guest", "blocked", 300), *ENGINE)
    assert recording.truth["blocked"] == 1
    assert contract.total_percent(recording.report("--no-inline"), "blocked") > 80


@pytest.mark.parametrize("mode", ["cpu", "wall"])
def test_a_thread_that_waits_for_all_signals_gets_its_own(wick, mode):
    recording = wick.record(workload("guest", "waiting", 200), "--mode", mode, *ENGINE)
    assert recording.truth["waited_for"] == recording.truth["sent"]


@pytest.mark.parametrize("mode", ["cpu", "wall"])
def test_a_blocked_sigprof_waits_for_whom_it_was_sent_to(wick, mode):
    """Blocked alone or with all others: it stays pending, is awaited, inherited, and handled later."""
    program = workload("guest", "held", 200)
    alone = json.loads(subprocess.run(program, check=True, capture_output=True, text=True).stdout)
    assert alone["one"]["got"] == alone["all"]["got"] == signal.SIGPROF
    recording = wick.record(program, "--mode", mode, *ENGINE)
    assert recording.truth == alone


def test_a_stack_that_is_used_to_its_end_has_room_for_a_tick(wick):
    """The kernel kills programs that have no stack space for a signal."""
    recording = wick.record(["sh", "-c", 'ulimit -S -s 8192; exec "$@"', "sh", *workload("guest", "full-stack", 100)], *ENGINE)
    assert recording.truth["lived"]


def test_a_program_lives_by_its_own_faults(wick):
    recording = wick.record(workload("guest", "faults", 300), *ENGINE)
    assert recording.truth["survived"]


def test_faults_of_our_own_code_harm_nobody(wick):
    """After three of them sampling of the program stops, and wick says so."""
    recording = wick.record(workload("guest", "no-tables", 300), *ENGINE)
    assert recording.truth["unmapped"] > 0
    assert "3 faults" in recording.stderr


def test_files_in_memory_get_their_room(wick):
    """The kernel aborts the call on a signal, and does not restart it."""
    recording = wick.record(workload("guest", "rooms", 200), *ENGINE)
    assert recording.truth["cut"] == 0


def test_a_small_alternate_stack_is_not_written_beyond(wick):
    assert wick.record(workload("guest", "small-stack", 200), *ENGINE).truth["changed"] == 0


def test_texts_that_are_none_and_weights_that_cannot_be_harm_nobody(wick):
    recording = wick.record(workload("guest", "nothings", 200), *ENGINE)
    assert recording.truth["told"]
    assert "1 event dropped" in recording.stderr
    assert contract.sample_count(recording.info()) > 50


def test_a_large_write_to_a_slow_pipe_is_whole(wick):
    script = "import os, sys; sys.exit(os.write(1, b'x' * 9000000) != 9000000)"
    writer = wick.start("record", *ENGINE, "-q", "-o", wick.new_path(), "--", sys.executable, "-c",
                        script)
    time.sleep(0.5)
    got = len(writer.communicate(timeout=60)[0])
    assert (got, writer.returncode) == (9000000, 0)


@pytest.mark.parametrize("name", ["SEGV", "BUS", "PROF"])
def test_what_a_program_ignores_stays_so_in_the_next(wick, name):
    script = f"trap '' {name}; sh -c 'kill -{name} $$; echo alive'"
    assert wick.record(["sh", "-c", script], *ENGINE).stdout == "alive\n"


def test_programs_that_outlive_the_recording_find_their_library(wick):
    script = "i=0; while [ $i -lt 6 ]; do sleep 0.2; ls / >/dev/null; i=$((i+1)); done"
    recording = wick.record(["sh", "-c", script], "-d", "0.4", *ENGINE)
    assert "ld.so" not in recording.stderr, recording.stderr


def test_threads_that_live_for_a_moment_are_sampled(wick):
    recording = wick.record(workload("guest", "births", 100), *ENGINE)
    assert recording.truth["born"] > 20
    report = recording.report("--no-inline")
    lived_ns = report["value"]["total"] * contract.total_percent(report, "live_shortly") / 100
    assert lived_ns == pytest.approx(recording.truth["lived_ns"], rel=0.35)


def test_children_are_followed(wick):
    recording = wick.record(workload("guest", "forks", 200), *ENGINE)
    assert recording.truth["right"] == 4
    report = recording.report("--by", "thread")
    assert len([row for row in contract.thread_rows(report) if row[2] > 20]) == 2, report


def test_a_child_of_a_thread_is_walked_on_the_stack_of_that_thread(wick):
    recording = wick.record(workload("guest", "thread-forks", 200), *ENGINE)
    assert recording.truth["right"] == 1
    assert contract.total_percent(recording.report("--no-inline"), "fork_there") > 80


@pytest.mark.parametrize("rate", [199, 997])
def test_in_wall_time_running_is_the_cpu_time(wick, rate):
    """Two of the threads burn on one CPU: the time that one waits for the other is neither sleep nor CPU time."""
    recording = wick.record(workload("waits", 200), "--mode", "wall", "-F", rate, *ENGINE)
    states = {row["name"]: row["total"] for row in contract.rows(recording.report("--by", "state"))}
    threads = recording.truth
    cpu_ns = sum(thread["cpu_ns"] for thread in threads.values())
    assert states["on CPU"] == pytest.approx(cpu_ns, rel=0.1), states
    waited_ns = sum(threads[name]["wall_ns"] - threads[name]["cpu_ns"] for name in ("runner_a", "runner_b"))
    assert states["preempted"] == pytest.approx(waited_ns, rel=0.2), (states, threads)
    for state in ("on CPU", "running", "preempted"):  # running: as it is called elsewhere
        assert contract.total_percent(recording.report("--label", f"state={state}"), "run_here") > 80


def test_sockets_with_a_time_limit_are_not_interrupted(wick):
    recording = wick.record(workload("guest", "timeouts", 80), "--mode", "wall", *ENGINE)
    assert recording.truth["calls"] == 40
    assert recording.truth["interrupted"] == 0


def test_a_program_that_filters_its_system_calls_is_left_alone(wick):
    recording = wick.record(workload("guest", "sealed", 100), *ENGINE, status=4)
    assert "seccomp filter installed" in recording.stderr


def test_a_limit_on_files_is_no_trap(wick):
    """The kernel kills a program that lets a file grow beyond the limit."""
    split = shlex.join(workload("split", 50))
    done = wick.run("record", *ENGINE, "-o", wick.new_path(), "--", "sh", "-c", f"ulimit -f 8; {split}")
    assert done.returncode == 0, done.stderr
    assert "hot_70" in done.stdout
    assert "ulimit -f" in done.stderr and "--engine ptrace" in done.stderr


def test_a_program_that_lost_its_environment_is_missed(wick):
    recording = wick.record(["env", "-i", *workload("split", 500)], *ENGINE)
    assert "(env -i)" in recording.stderr and "--engine ptrace" in recording.stderr


@pytest.mark.root
def test_a_setuid_program_is_refused_with_another_engine(wick, tmp_path):
    program = shutil.copy(workload("split")[0], tmp_path)
    os.chown(program, 65534, 65534)
    os.chmod(program, 0o4755)
    done = wick.run("record", *ENGINE, "-o", wick.new_path(), "--", program, "50")
    assert done.returncode == contract.FAILED
    assert "setuid" in done.stderr and "--engine ptrace" in done.stderr


def test_a_limit_on_addresses_leaves_room_for_both(wick):
    split = shlex.join(workload("split", 100))
    recording = wick.record(["sh", "-c", f"ulimit -v 50000; {split}"], *ENGINE)
    assert contract.total_percent(recording.report("--no-inline"), "hot_70") > 40


def test_nothing_is_said_where_the_library_cannot_go(wick, tmp_path):
    """After chroot the library is missing; after setuid it can be read, but no file can be created."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("needs root and setpriv")
    listed = subprocess.run(["ldd", "/bin/sh"], capture_output=True, text=True, check=True).stdout
    for path in ["/bin/sh", *re.findall(r"(/\S+) \(", listed)]:
        place = tmp_path / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place)
    for command in (["chroot", str(tmp_path), "/bin/sh", "-c", "echo inside"], [*NO_RIGHTS, "sh", "-c", "echo inside"]):
        done = wick.run("record", *ENGINE, "-o", wick.new_path(), "--", *command)
        assert done.stdout == "inside\n"
        if os.access(WICK, os.X_OK) and "Permission" not in done.stderr:
            assert "ld.so" not in done.stderr


def test_children_are_left_alone_on_request(wick):
    recording = wick.record(["sh", "-c", shlex.join(workload("split", 300)) + "; true"],
                            "--no-children", *ENGINE)
    assert "hot_70" in recording.stdout  # it ran
    assert "hot_70" not in wick.ok("export", recording.path, "--format", "folded").stdout


@pytest.mark.parametrize("how, status", [("exit", 5), ("_exit", 5), ("abort", 128 + signal.SIGABRT),
                                         ("kill", 128 + signal.SIGKILL),
                                         ("segv", 128 + signal.SIGSEGV)])
def test_what_was_sampled_survives_any_death(wick, how, status):
    recording = wick.record(workload("guest", "dies", 300, how), *ENGINE, status=status)
    assert contract.total_percent(recording.report("--no-inline"), "dies") > 80
    lost_nothing(recording)


def test_wrappers_are_passed_through(wick):
    spin = workload("spin", 200)
    recording = wick.record(["env", "A=b c", "timeout", "20", "sh", "-c", shlex.join(spin)], *ENGINE)
    assert contract.total_percent(recording.report("--no-inline"), "main") > 50


def test_a_program_goes_on_when_the_recorder_dies(wick, tmp_path):
    out = tmp_path / "out"
    with out.open("w") as stdout:
        recorder = subprocess.Popen([str(WICK), "record", *ENGINE, "-q", "-o", str(tmp_path / "x.wick"),
                                     "--", *workload("split", 1500)], stdout=stdout,
                                    stderr=subprocess.DEVNULL, cwd=tmp_path)
        wait_for(lambda: glob.glob(f"/dev/shm/wick-session-{recorder.pid}-*"), what="its session")
        time.sleep(0.7)
        recorder.kill()
        recorder.wait()
    wick.pids.add(recorder.pid)
    deadline = time.monotonic() + 30
    while not out.read_text() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert out.read_text().startswith("{")
    # The next recorder takes away what the dead one left.
    wick.record(["true"], *ENGINE)


def test_no_rights_are_needed(wick, tmp_path):
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("needs root and setpriv")
    os.chmod(tmp_path, 0o777)
    for folder in tmp_path.parents:
        if str(folder).startswith("/tmp/") and folder.owner() == "root":
            os.chmod(folder, 0o755)
    done = wick.run("record", *ENGINE, "-o", wick.new_path(), "--", *workload("split", 200),
                    prefix=NO_RIGHTS)
    if "permission denied" in done.stderr.lower() or done.returncode == 126:
        pytest.skip("the build cannot be read by others")
    assert done.returncode == 0, done.stderr


def test_a_static_program_is_refused_with_another_engine(wick):
    done = wick.run("record", *ENGINE, "-o", wick.new_path(), "--", *workload("chain_static"))
    assert done.returncode == contract.FAILED
    assert "statically" in done.stderr and "--engine ptrace" in done.stderr


def test_what_runs_already_is_refused_with_another_engine(wick):
    done = wick.run("record", *ENGINE, "-p", os.getpid(), "-d", 1)
    assert done.returncode == contract.FAILED
    assert "--engine ptrace" in done.stderr


def test_a_session_in_a_folder_with_spaces_is_found(wick, tmp_path):
    """So is the program, and what it loads."""
    folder = tmp_path / "with some spaces"
    folder.mkdir()
    program = shutil.copy(workload("split")[0], folder)
    recording = wick.record([program, "200"], *ENGINE, env={**os.environ, "TMPDIR": str(folder)})
    assert contract.total_percent(recording.report("--no-inline"), "main") > 50


def test_other_preloaded_libraries_stay(wick):
    libraries = sorted(glob.glob("/lib/*-linux-gnu/libdl.so.2"))
    if not libraries:
        pytest.skip("no library to preload")
    recording = wick.record(["sh", "-c", "cat /proc/self/maps"], *ENGINE,
                            env={**os.environ, "LD_PRELOAD": libraries[0]})
    assert "libdl.so.2" in recording.stdout
    assert re.search(r"wick-preload", recording.stdout)
    assert pathlib.Path(libraries[0]).exists()

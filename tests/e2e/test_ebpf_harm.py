# SPDX-License-Identifier: BSD-2-Clause
"""The eBPF engine when it is refused, overrun or killed: what it leaves behind and what it reports."""
import errno
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import pytest

import contract
from conftest import PATIENCE, WICK, children_of, thread_names, wait_for, workload
from ebpf import loaded_programs, needs_ebpf, root_percent

pytestmark = [pytest.mark.perf, needs_ebpf]

ENGINE = ("--engine", "ebpf", "-F", 999)
PROG_LOAD = 5
INSTEAD = "wick: perf events instead of eBPF: "


def notices(process):
    """The lines before the summary."""
    return process.stderr.split("wick: recorded")[0].splitlines()


def end_all(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def is_program(pid, name):
    try:
        return os.readlink(f"/proc/{pid}/exe").endswith(name)
    except OSError:
        return False


def programs_of(pid):
    """{id} of the BPF programs that a process holds: other tests load such programs at the same time."""
    texts = []
    for path in pathlib.Path(f"/proc/{pid}/fdinfo").iterdir():
        try:
            texts.append(path.read_text(encoding="ascii"))
        except OSError:
            pass  # closed meanwhile
    return {int(number) for text in texts for number in re.findall(r"^prog_id:\s+(\d+)$", text, re.MULTILINE)}


@pytest.mark.root
@pytest.mark.parametrize("mode, whom", (("cpu", "-p"), ("offcpu", "-p"), ("cpu", "-a"), ("cpu", "--"),
                                        ("wall", "--")))
def test_a_recorder_that_is_killed_leaves_no_program_behind(wick, background, mode, whom):
    """A BPF program exists as long as a perf event that runs it, including events of children."""
    target = background(workload("split_nofp", 20000))
    watched = {"-p": ["-p", target.pid], "-a": ["-a"], "--": ["--", *workload("split_nofp", 20000)]}
    process = wick.start("record", "--engine", "ebpf", "--mode", mode, "-o", wick.new_path(),
                         *watched[whom])
    wait_for(lambda: programs_of(process.pid), what="the programs")
    if whom == "--":  # before its exec a child ends with its recorder
        wait_for(lambda: [child for child in children_of(process.pid)
                          if is_program(child, "split_nofp")], what="the program")
    time.sleep(0.3)
    children = children_of(process.pid)
    assert bool(children) == (whom == "--")
    own = programs_of(process.pid) & loaded_programs()
    assert own
    process.send_signal(signal.SIGKILL)
    try:
        process.wait()
        wait_for(lambda: not loaded_programs() & own, what="the end of the programs")
        assert target.poll() is None
        assert all(os.path.exists(f"/proc/{child}/exe") for child in children)
    finally:
        end_all(children)
        process.communicate()
    assert not os.path.exists("/sys/fs/bpf") or not [
        name for name in os.listdir("/sys/fs/bpf") if "wick" in name]


@pytest.mark.root
def test_who_records_beside_a_recorder_that_is_killed_sees_it_all(wick, background):
    target = background(workload("split_nofp", 20000))
    others = [wick.start("record", "--engine", "ebpf", "--mode", mode, "-a", "-o", wick.new_path())
              for mode in ("cpu", "wall")]
    path = wick.new_path()
    process = wick.start("record", *ENGINE, "-p", target.pid, "-d", 2, "-o", path)
    time.sleep(1)
    for other in others:
        other.kill()
        other.communicate()
    _, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    info = wick.json("info", path, "--format", "json")
    assert contract.sample_count(info) == pytest.approx(contract.expected_count(info), rel=0.05)
    assert contract.total_percent(wick.json("report", path, "--format", "json"), "main") > 97


@pytest.mark.root
def test_a_recording_that_ends_leaves_no_program_behind(wick):
    before = loaded_programs()
    wick.record(workload("spin", 200), *ENGINE)
    left = loaded_programs() - before  # of another test, perhaps
    wait_for(lambda: not loaded_programs() & left, what="the end of the programs")


# A stack of 900 frames takes an emulated machine a millisecond.
FLOOD_HZ = 10000 if PATIENCE == 1 else 500
# How long a recorder is held until its ring has been full for a while.
HELD_S = 2 if PATIENCE == 1 else 3


def test_a_full_ring_is_counted_and_recording_goes_on(wick, background):
    target = background(workload("recurse", 900, 60000))
    path = wick.new_path()
    process = wick.start("record", "--engine", "ebpf", "-F", FLOOD_HZ, "--depth", 1024, "-p",
                         target.pid, "-o", path)
    time.sleep(1)
    process.send_signal(signal.SIGSTOP)
    time.sleep(HELD_S)
    process.send_signal(signal.SIGCONT)
    time.sleep(PATIENCE)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    info = wick.json("info", path, "--format", "json")
    lost = int(re.search(r", (\d+) lost", err).group(1))
    assert lost > 300, err
    assert contract.lost_count(info) == lost
    # All that was to come came, or is counted; throttling is a matter of its own.
    if "throttled sampling" not in err:
        assert contract.sample_count(info) + lost == pytest.approx(
            contract.expected_count(info), rel=0.05)
    start_s = contract.start_ns(info) / 1e9
    end = wick.json("report", path, "--format", "json", "--from", f"{HELD_S + 1.3}s")
    assert end["samples"] > 100, start_s
    assert contract.total_percent(end, "bottom") > 90


def test_losses_at_the_very_end_are_counted(wick, background):
    target = background(workload("recurse", 900, 60000))
    path = wick.new_path()
    process = wick.start("record", "--engine", "ebpf", "-F", FLOOD_HZ, "--depth", 1024, "-p",
                         target.pid, "-o", path)
    time.sleep(0.7 * PATIENCE)
    process.send_signal(signal.SIGSTOP)
    time.sleep(HELD_S)
    target.kill()  # nothing comes after what was lost
    target.wait()
    process.send_signal(signal.SIGCONT)
    _, err = process.communicate(timeout=30)
    assert int(re.search(r", (\d+) lost", err).group(1)) > 300, err


def memory_bytes(pid):
    """What a recorder holds: its own memory, pinned rings, and maps of the kernel."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    total = 1024 * sum(int(found) for found in re.findall(r"^Vm(?:RSS|Pin):\s+(\d+)", status, re.M))
    maps = {}
    for path in pathlib.Path(f"/proc/{pid}/fdinfo").iterdir():
        try:
            text = path.read_text(encoding="ascii")
        except FileNotFoundError:
            continue  # it was closed meanwhile
        told = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
        if "map_id" in told and "memlock" in told:
            maps[int(told["map_id"])] = int(told["memlock"])
    assert maps
    return total + sum(maps.values())


@pytest.mark.root
def test_memory_follows_what_is_watched(wick, background):
    target = background([sys.executable, "-c", "while True: sorted(range(1000))"])
    process = wick.start("record", *ENGINE, "-p", target.pid, "-d", 2, "-o", wick.new_path())
    time.sleep(1.5)
    held = memory_bytes(process.pid)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert held < 40e6, err


@pytest.mark.root
def test_a_small_limit_on_locked_memory_does_not_matter(wick):
    recording = wick.record(workload("split_nofp", 300), *ENGINE,
                            prefix=("prlimit", "--memlock=65536:65536"))
    assert root_percent(recording) > 97


def test_loading_needs_no_other_program(wick):
    done = wick.run("record", *ENGINE, "-o", wick.new_path(), "--", *workload("spin", 200),
                    env={"PATH": "/nowhere", "HOME": str(wick.folder)})
    assert done.returncode == 0, done.stderr


def test_without_privilege_auto_says_what_it_is_instead(wick, as_nobody):
    done = wick.run("record", "-o", wick.new_path(), "--", *workload("spin", 200),
                    prefix=as_nobody)
    assert done.returncode == 0, done.stderr
    assert len(notices(done)) == 1 and notices(done)[0].startswith(INSTEAD), done.stderr


def test_without_privilege_ebpf_itself_is_refused_with_a_remedy(wick, as_nobody):
    done = wick.run("record", "--engine", "ebpf", "-o", wick.new_path(), "--",
                    *workload("spin", 200), prefix=as_nobody)
    assert done.returncode == contract.FAILED
    assert "eBPF programs are not allowed here" in done.stderr
    assert 'let a group use it: see "Without root" in the manual (setcap, mode 0750)' in done.stderr
    assert len(done.stderr.splitlines()) == 2


@pytest.mark.parametrize("what", (("offcpu", "--", "true"), ("wall", "-a", "-d", "1")))
def test_without_privilege_other_modes_are_refused_with_a_remedy(wick, as_nobody, what):
    done = wick.run("record", "-o", wick.new_path(), "--mode", *what, prefix=as_nobody)
    assert done.returncode == contract.FAILED
    assert f"--mode {what[0]} needs eBPF" in done.stderr and "root" in done.stderr
    assert len(done.stderr.splitlines()) == 2


def test_without_privilege_all_time_of_a_program_is_seen_from_inside(wick, as_nobody):
    path = wick.new_path()
    done = wick.run("record", "--mode", "wall", "-o", path, "--", "sleep", "0.1", prefix=as_nobody)
    assert done.returncode == 0 and "eBPF programs are not allowed here" in done.stderr
    told = wick.json("info", "--format", "json", path)
    assert told["session"]["engine"] == "signal"


def test_a_program_keeps_its_input_where_ebpf_is_refused(wick, as_nobody):
    for options in ((), ("--unwind", "auto")):
        done = wick.run("record", "-q", *options, "-o", wick.new_path(), "--", "cat",
                        input="still here", prefix=as_nobody)
        assert done.stdout == "still here", done.stderr


def test_who_asks_for_the_other_way_is_not_told_of_ebpf(wick, as_nobody):
    done = wick.run("record", "--unwind", "dwarf", "-o", wick.new_path(), "--",
                    *workload("spin", 200), prefix=as_nobody)
    assert done.returncode == 0, done.stderr
    assert "instead of eBPF" not in done.stderr


def test_two_capabilities_are_enough(wick, as_nobody):
    wanted = "+bpf,+perfmon"
    prefix = [*as_nobody, f"--inh-caps={wanted}", f"--ambient-caps={wanted}"]
    recording = wick.record(workload("split_nofp", 500), *ENGINE, prefix=prefix)
    assert contract.total_percent(recording.report(), "hot_70") == pytest.approx(70, abs=4)
    assert root_percent(recording) > 97
    recording = wick.record(workload("waits", 200), "--mode", "offcpu", prefix=prefix)
    assert contract.total_percent(recording.report("--comm", "sleeper"), "sleep_here") > 90


@pytest.mark.root
def test_fewer_capabilities_fall_back(wick):
    if not shutil.which("setpriv"):
        pytest.skip("setpriv is not installed")
    drop = ("setpriv", "--bounding-set=-sys_admin,-bpf,-perfmon", "--inh-caps=-all")
    done = wick.run("record", "-o", wick.new_path(), "--", *workload("spin", 200), prefix=drop)
    assert done.returncode == 0, done.stderr
    assert notices(done) and notices(done)[0].startswith(INSTEAD), done.stderr


@pytest.mark.parametrize("command, code", (("all", errno.EPERM), ("all", errno.ENOSYS),
                                           (PROG_LOAD, errno.EINVAL), (PROG_LOAD, errno.EACCES),
                                           (0, errno.ENOMEM)))
def test_a_kernel_that_refuses_is_fallen_back_from(wick, command, code):
    prefix = workload("forbid", code, command)
    recording = wick.record(workload("split_nofp", 300), "-F", 999, prefix=prefix)
    assert len(notices(recording)) == 1, recording.stderr
    assert notices(recording)[0].startswith(INSTEAD)
    assert contract.total_percent(recording.report(), "hot_70") > 60
    done = wick.run("record", *ENGINE, "-o", wick.new_path(), "--", *workload("spin", 200),
                    prefix=prefix)
    assert done.returncode == contract.FAILED
    lines = done.stderr.splitlines()
    assert len(lines) == 2 and lines[0].startswith("wick: ") and "--engine perf" in lines[1], lines


QUOTED = shlex.quote(str(WICK))


def in_namespaces(script, *options):
    if not shutil.which("unshare"):
        pytest.skip("unshare is not installed")
    done = subprocess.run(["unshare", *options, "sh", "-c", script], capture_output=True,
                          text=True, check=False, timeout=60)
    if "unshare:" in done.stderr:
        pytest.skip(f"no namespaces here: {done.stderr.strip()}")
    return done


@pytest.mark.root
def test_a_kernel_without_type_information_is_fallen_back_from(wick):
    path = wick.new_path()
    spin = shlex.join(workload("spin", 200))
    hide = "mount -t tmpfs none /sys/kernel/btf && "
    done = in_namespaces(f"{hide} {QUOTED} record -o {path} -- {spin}", "--mount")
    assert done.returncode == 0, done.stderr
    assert notices(done)[0].startswith(INSTEAD) and "btf" in notices(done)[0]
    done = in_namespaces(f"{hide} {QUOTED} record --engine ebpf -o {path} -- {spin}", "--mount")
    assert done.returncode == contract.FAILED
    assert "/sys/kernel/btf/vmlinux" in done.stderr and "--engine perf" in done.stderr
    done = in_namespaces(f"{hide} {QUOTED} doctor", "--mount")
    assert re.search(r"no +engine ebpf .*btf", done.stdout), done.stdout


CONTAINER = ("--pid", "--mount", "--fork", "--mount-proc")


@pytest.mark.root
def test_inside_a_container_names_and_ids_are_those_of_the_container(wick):
    path = wick.new_path()
    done = in_namespaces(f"{QUOTED} record --engine ebpf -F 999 -o {path} -- "
                         f"{shlex.join(workload('split_nofp', 500))}; {QUOTED} report --by thread "
                         f"--format json {path}", *CONTAINER)
    assert done.returncode == 0, done.stderr
    report = wick.json("report", path, "--format", "json")
    assert contract.total_percent(report, "hot_70") == pytest.approx(70, abs=4)
    assert contract.total_percent(report, "main") > 95
    ids = contract.thread_ids(wick.json("report", path, "--format", "json", "--by", "thread"))
    assert len(ids) == 1 and max(ids) < 50, ids


@pytest.mark.root
def test_an_id_that_comes_again_belongs_to_who_has_it(wick):
    path = wick.new_path()
    first, second = (shlex.join(workload(name, 300)) for name in ("spin", "split_nofp"))
    script = (f"{first} & id=$!; wait; echo $((id - 1)) > /proc/sys/kernel/ns_last_pid; "
              f"{second} & test $! = $id || exit 42; wait")
    done = in_namespaces(f"{QUOTED} record --engine ebpf -F 999 -o {path} -- "
                         f"sh -c {shlex.quote(script)}", *CONTAINER)
    if done.returncode == 42:
        pytest.skip("ids cannot be chosen here")
    assert done.returncode == 0, done.stderr
    report = wick.json("report", path, "--format", "json", "--comm", "spin")
    assert contract.total_percent(report, "spin_here") > 95
    assert contract.total_percent(report, "hot_70") == 0
    report = wick.json("report", path, "--format", "json", "--comm", "split_nofp")
    assert contract.total_percent(report, "hot_70") == pytest.approx(70, abs=5)
    assert contract.total_percent(report, "main") > 95


@pytest.mark.root
def test_a_container_is_seen_from_outside(wick):
    inside = subprocess.Popen(["unshare", *CONTAINER, *workload("split_nofp", 20000)],
                              stdout=subprocess.DEVNULL)
    try:
        name = os.path.basename(workload("split_nofp")[0])
        wait_for(lambda: [1 for pid in children_of(inside.pid) if name in thread_names(pid)],
                 what="the program")
        child = children_of(inside.pid)[0]
        recording = wick.attach("-p", child, "-d", 1, *ENGINE)
        assert contract.total_percent(recording.report(), "hot_70") == pytest.approx(70, abs=4)
        assert root_percent(recording) > 97
        os.kill(child, signal.SIGKILL)
    finally:
        inside.kill()
        inside.wait()


@pytest.mark.root
@pytest.mark.parametrize("whom", ("-p", "-a"))
def test_a_container_has_its_own_files(wick, tmp_path, whom):
    """The file with the same path outside is another program."""
    room = tmp_path / "room"
    (room / "bin").mkdir(parents=True)
    outside = tmp_path / "bin" / "program"
    outside.parent.mkdir()
    shutil.copy(workload("spin")[0], outside)
    shutil.copy(workload("split_nofp")[0], room / "bin/program")
    script = (f"mount --bind {shlex.quote(str(room))} {shlex.quote(str(tmp_path))} && "
              f"exec {shlex.quote(str(outside))} 20000")
    inside = subprocess.Popen(["unshare", "--mount", "sh", "-c", script], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)
    try:
        wait_for(lambda: inside.poll() is not None or "program" in thread_names(inside.pid),
                 what="the program")
        if inside.poll() is not None:
            pytest.skip(f"no mounts here: {inside.stderr.read()}")
        recording = wick.attach(*([whom, inside.pid] if whom == "-p" else [whom]), "-d", 1, *ENGINE)
        report = recording.report("--comm", "program")
        assert contract.total_percent(report, "hot_70") == pytest.approx(70, abs=5)
        assert contract.total_percent(report, "main") > 95
        assert contract.total_percent(report, "spin_here") == 0
    finally:
        inside.kill()
        inside.wait()


@pytest.mark.root
@pytest.mark.parametrize("mode", ("offcpu", "wall"))
def test_inside_a_container_time_off_the_cpus_is_that_of_the_container(wick, mode):
    """Threads, children and wakers, by the ids that they have inside."""
    path = wick.new_path()
    done = in_namespaces(f"{QUOTED} record --mode {mode} --waker -o {path} -- "
                         f"{shlex.join(workload('wakes', 60))}", *CONTAINER)
    assert done.returncode == 0, done.stderr
    threads = [row["name"].rpartition("/") for row in
               contract.rows(wick.json("report", path, "--format", "json", "--by", "thread"))]
    assert {"wakes", "reader", "waiter", "child"} <= {name for name, _, _ in threads}
    assert max(int(tid) for _, _, tid in threads) < 50, threads
    report = wick.json("report", path, "--format", "json", "--comm", "child")
    assert contract.total_percent(report, "read_here") > 80
    assert contract.total_percent(report, "wake_child") > 80
    wakers = [f"wakes/{tid}" for name, _, tid in threads if name == "wakes"]
    assert max(contract.total_percent(report, waker) for waker in wakers) > 80, wakers


@pytest.mark.root
@pytest.mark.parametrize("target", ("-p $!", "-t $!", "-a"))
def test_inside_a_container_sleepers_are_those_of_the_container(wick, target):
    path = wick.new_path()
    crowd = shlex.join(workload("crowd", 3))
    done = in_namespaces(f"{crowd} > /dev/null & sleep 0.3; {QUOTED} record --mode offcpu {target} "
                         f"-d 1 -o {path}; kill $!", *CONTAINER)
    rows = contract.rows(wick.json("report", path, "--format", "json", "--by", "thread"))
    slept = [row for row in rows if row["name"].startswith("crowd/")]
    assert len(slept) == (1 if "-t" in target else 4), done.stderr
    duration_ns = wick.json("info", path, "--format", "json")["duration_ns"]
    assert all(row["total"] == pytest.approx(duration_ns, rel=0.05) for row in slept), slept
    assert all(int(row["name"].rpartition("/")[2]) < 50 for row in rows), rows


def test_the_doctor_and_the_list_know_the_engine(wick):
    doctor = wick.json("doctor", "--format", "json")
    checks = {check["name"]: check for check in doctor["checks"]}
    assert checks["engine_ebpf"]["status"] == checks["heap_attach"]["status"] == "ok"
    assert "samples of a test program" in checks["engine_ebpf"]["text"] and doctor["engine"] == "ebpf"
    done = wick.run("list", "engines", prefix=workload("forbid", errno.EPERM, "all"))
    assert re.search(r"ebpf .*not available: bpf\(\) is refused here", done.stdout)

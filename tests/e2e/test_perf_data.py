# SPDX-License-Identifier: BSD-2-Clause
"""perf.data, read by wick and by perf itself: same samples, same stacks."""
import bisect
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import time

import contract
import pytest
from conftest import WICK, wait_for_samples, workload

pytestmark = [
    pytest.mark.perf,
    pytest.mark.skipif(not shutil.which("perf"), reason="perf is not installed (linux-perf)"),
]
FRAME = re.compile(r"^\s+([0-9a-f]+) (.*) \((.*)\)$")
HEAD = re.compile(r"^(.*?)\s+(-?\d+)\s+([\d.]+):\s+(\S+):\s*$")
SINGLE = re.compile(r"^\s*(\S.*?)\s+(-?\d+)\s+([\d.]+):\s+(\S+):\s+[0-9a-f]+ (.*) \((.*)\)$")
NOTHING = {"[unknown]", ""}


def perf_record(path, *options, command=None):
    """Records with perf; skips if perf cannot do it."""
    command = [str(word) for word in command or workload("threads", 300)]
    # -N: perf's own cache is left alone; several of it at once write to it and crash.
    line = ["perf", "record", "-q", "-N", *map(str, options), "-o", str(path), "--", *command]
    done = subprocess.run(line, capture_output=True, timeout=120)
    if not path.exists() or path.stat().st_size == 0:
        pytest.skip(f"perf does not record: {done.stderr.decode(errors='replace').strip()[-200:]}")
    return path


def perf_samples(path, name_of=None):
    """The output of perf script: (comm, tid, event, [(symbol, file)], root first) of each sample.

    name_of() may know better: it is given a name, its address and whether that is a return address.

    In code without frame pointers the kernel's walk may read a return address of 0: perf shows it as a caller.
    """
    done = subprocess.run(["perf", "script", "-i", str(path), "--no-inline", "--no-demangle",
                           "-F", "comm,tid,time,event,ip,sym,dso"],
                          capture_output=True, text=True, timeout=120, check=True)
    samples = []
    for line in done.stdout.splitlines():
        head, frame = HEAD.match(line), FRAME.match(line)
        single = SINGLE.match(line)
        if single:
            samples.append((single[1], int(single[2]), single[4].split(":")[0],
                            [(single[5], os.path.basename(single[6]))]))
        elif head:
            samples.append((head[1].strip(), int(head[2]), head[4].split(":")[0], []))
        elif frame and int(frame[1], 16) != 0:
            stack = samples[-1][3]
            name = name_of(frame[2], int(frame[1], 16), bool(stack)) if name_of else frame[2]
            stack.insert(0, (name, os.path.basename(frame[3])))
    return samples


def wick_samples(wick, path):
    text = wick.ok("export", "--format", "samples", "--no-inline", "--no-demangle",
                   "--symbols", "names", path).stdout
    return [(s["comm"], s["tid"], s["event"],
             [(f["function"], os.path.basename(f["module"] or "")) for f in s["stack"]])
            for s in map(json.loads, text.splitlines())]


def imported(wick, path):
    result = path.with_suffix(".wick")
    wick.ok("import", path, "-o", result)
    return result


def simple(stack, program):
    """Names where both must agree: of the program; of other files which one it is.

    On aarch64 perf shows a function twice when it is interrupted while its frame is set up
    or taken down: it trusts the link register there. Repeats count once, if it is known what they are of.
    """
    result = []
    # In the midst of an exec the user part is of the program before, whose files perf remembers and wick does not.
    if any(name.startswith("bprm_execve") for name, _ in stack):
        stack = [(name, file) for name, file in stack if "kernel" in file]
    for i, (name, file) in enumerate(stack):
        if i > 0 and (name, file) == stack[i - 1] and file not in NOTHING:
            continue
        if file == program:
            result.append(name if name not in NOTHING else file)
        elif name != "[truncated]":
            is_kernel = "kernel" in file or file.endswith(".ko")
            result.append("kernel" if is_kernel else "" if file in NOTHING else file)
    return result


def assert_same(ours, theirs, program):
    assert len(ours) == len(theirs)
    assert [s[:3] for s in ours] == [s[:3] for s in theirs]
    different = [(a, b) for a, b in zip(ours, theirs)
                 if simple(a[3], program) != simple(b[3], program)]
    assert not different, different[:3]


@pytest.mark.parametrize("options", [
    ("-g",),
    ("-g", "-z"),
    ("-g", "--buildid-all"),
    ("-g", "-k", "mono"),
    ("--call-graph", "dwarf"),
    ("--call-graph", "dwarf", "-z"),
    (),
], ids=lambda options: " ".join(options) or "no chains")
def test_samples_are_those_that_perf_script_shows(wick, tmp_path, options):
    path = perf_record(tmp_path / "perf.data", "-e", "cpu-clock:u", "-F", 999, *options)
    theirs = perf_samples(path)
    assert len(theirs) > 50
    assert_same(wick_samples(wick, path), theirs, "threads")


def test_of_a_pipe_too(wick, tmp_path):
    path = tmp_path / "pipe.data"
    quiet = ["sh", "-c", 'exec "$0" "$@" > /dev/null', *workload("threads", 300)]
    with open(path, "wb") as out:
        done = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", "999", "-g", "-o",
                               "-", "--", *quiet], stdout=out, stderr=subprocess.PIPE, timeout=120)
    if path.stat().st_size < 1000:
        pytest.skip(f"perf does not write to a pipe: {done.stderr.decode().strip()[-200:]}")
    result = tmp_path / "x.wick"
    done = subprocess.run(f"cat '{path}' | '{WICK}' import -o '{result}' -", shell=True,
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert_same(wick_samples(wick, result), perf_samples(path), "threads")


def test_of_processes_that_fork(wick, tmp_path):
    path = perf_record(tmp_path / "perf.data", "-e", "cpu-clock:u", "-F", 999, "-g",
                       command=workload("forks", 100, 3))
    assert_same(wick_samples(wick, path), perf_samples(path), "forks")


@pytest.mark.root
def test_of_a_machine_with_its_kernel(wick, tmp_path, background):
    background(["dd", "if=/dev/zero", "of=/dev/null", "bs=1"])  # keeps the kernel busy
    path = perf_record(tmp_path / "perf.data", "-a", "-g", "-F", 499)
    address = {}
    functions = []
    with open("/proc/kallsyms", encoding="ascii") as symbols:
        for line in symbols:
            address.setdefault(line.split()[2].split(".")[0], line.split()[0])
            functions.append((int(line.split()[0], 16), line.split()[2]))
    functions.sort()

    def caller(name, ip, returns):
        """perf looks return addresses up as they are: behind a call that never returns the next function begins."""
        is_start = returns and address.get(name.split(".")[0]) == f"{ip:016x}"
        return functions[bisect.bisect_left(functions, (ip,)) - 1][1] if is_start else name

    # A thread on its last steps has no number: neither side knows whose a sample of it is.
    ours = [s for s in wick_samples(wick, path) if s[1] != 2 ** 32 - 1]
    theirs = [s for s in perf_samples(path, caller) if s[1] != -1]
    assert [s[:3] for s in ours] == [s[:3] for s in theirs]
    assert_same([s for s in ours if s[0] == "threads"],
                [s for s in theirs if s[0] == "threads"], "threads")

    def place(name):
        """Of several names for one address, and copies of a function, each shows its own."""
        return address.get(name.split(".")[0], name)

    kernel = [name for s in theirs for name, file in s[3] if "kernel.kallsyms" in file]
    # Code that others load into the kernel meanwhile has no name: perf shows it as a file of its own.
    named = [name for s in ours for name, file in s[3] if file == "[kernel]" and not name.startswith("[kernel]+")]
    assert len(kernel) > 50
    assert sorted(map(place, kernel)) == sorted(map(place, named))


def test_of_several_events(wick, tmp_path):
    path = perf_record(tmp_path / "perf.data", "-e", "cpu-clock:u,page-faults:u", "-c", 100000,
                       "-g", command=workload("faults", 200))
    theirs = perf_samples(path)
    clock = [s for s in theirs if s[2] == "cpu-clock"]
    assert 0 < len(clock) <= len(theirs)
    assert_same(wick_samples(wick, path), clock, "faults")
    assert wick.json("info", "--format", "json", imported(wick, path))["samples"] == len(theirs)


def test_members_of_a_group_are_counted_with_its_samples(wick, tmp_path):
    path = perf_record(tmp_path / "perf.data", "-e", "{cpu-clock,page-faults}:S", "-F", 999, "-g",
                       command=workload("touches", 100))
    done = subprocess.run(["perf", "script", "-i", str(path), "-F", "event,period"],
                          capture_output=True, text=True, timeout=120, check=True)
    theirs = sum(int(line.split()[0]) for line in done.stdout.splitlines() if "page-faults" in line)
    report = wick.json("report", "--format", "json", path)
    ours = {value["name"]: value["total"] for value in report["values"]}
    assert ours["page-faults"] == theirs > 900
    touch = next(row for row in report["rows"] if row["name"] == "touch_here")
    assert touch["values"]["page-faults"]["total"] > 0.8 * theirs


def test_weights_are_periods(wick, tmp_path):
    path = perf_record(tmp_path / "perf.data", "-e", "cpu-clock:u", "-c", 1500000)
    text = wick.ok("export", "--format", "samples", path).stdout
    samples = [json.loads(line) for line in text.splitlines()]
    assert {s["weight"] for s in samples} == {1500000}
    assert {s["unit"] for s in samples} == {"nanoseconds"}


def test_looking_commands_take_it_directly(wick, tmp_path):
    path = perf_record(tmp_path / "perf.data", "-e", "cpu-clock:u", "-g")
    assert "threads" in wick.ok("report", path).stdout
    wick.ok("flame", path, "-o", tmp_path / "x.svg")
    assert "<svg" in (tmp_path / "x.svg").read_text()


def test_a_perf_that_was_killed_leaves_what_can_be_read(wick, tmp_path):
    path = tmp_path / "perf.data"
    process = subprocess.Popen(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", "999", "-g",
                                "-o", str(path), "--", *map(str, workload("threads", 3000))],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True)
    try:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.1)
            if path.exists() and path.stat().st_size > 100_000:
                break
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if not path.exists() or path.stat().st_size < 100_000:
        pytest.skip("perf wrote nothing before it was killed")
    samples = wick_samples(wick, path)
    assert len(samples) > 50
    named = [s for s in samples if any(file == "threads" for _, file in s[3])]
    assert len(named) > len(samples) // 2
    info = wick.json("info", "--format", "json", imported(wick, path))
    assert info["samples"] == len(samples)


def test_a_cut_file_gives_what_stands_before_the_cut(wick, tmp_path):
    path = perf_record(tmp_path / "perf.data", "-e", "cpu-clock:u", "-F", 999, "-g")
    whole = wick_samples(wick, path)
    data = path.read_bytes()
    start, size = struct.unpack_from("<QQ", data, 40)
    path.write_bytes(data[:start + size * 2 // 3])
    some = wick_samples(wick, path)
    assert 0 < len(some) < len(whole)
    info = wick.json("info", "--format", "json", imported(wick, path))
    assert (info["lost"], info["complete"]) == (0, False)


def test_a_changed_program_names_nothing(wick, tmp_path):
    program = tmp_path / "program"
    shutil.copy(workload("split")[0], program)
    path = perf_record(tmp_path / "perf.data", "-e", "cpu-clock:u", "-F", 999, "-g",
                       command=[program, "300"])
    assert any(f[0] == "hot_70" for s in wick_samples(wick, path) for f in s[3])
    shutil.copy(workload("fib")[0], program)
    names = {f[0] for s in wick_samples(wick, path) for f in s[3] if f[1] == "program"}
    assert names and all(name.startswith("program+0x") for name in names), names


def to_old_maps(path):
    """Turns every MMAP2 record into an MMAP of the same size, which has a name and no more."""
    data = bytearray(path.read_bytes())
    start, size = struct.unpack_from("<QQ", data, 40)
    at, changed = start, 0
    while at < start + size:
        kind, misc, length = struct.unpack_from("<IHH", data, at)
        if kind == 10:
            struct.pack_into("<IH", data, at, 1, misc & ~(1 << 14))
            end = data.index(0, at + 72) - 32
            data[at + 40:at + length - 32] = data[at + 72:at + length]
            tail = bytes(data[end + 1:at + length - 32])  # padding, then the fields of all records
            data[end + 1:at + length] = bytes(32) + tail
            changed += 1
        at += length
    assert changed
    path.write_bytes(data)


@pytest.mark.parametrize("options", ((), ("--no-buildid",)))
def test_maps_without_an_identity_are_found_by_list_or_name(wick, tmp_path, options):
    program = tmp_path / "program"
    shutil.copy(workload("split")[0], program)
    path = perf_record(tmp_path / "perf.data", "-e", "cpu-clock:u", "-F", 999, "-g", *options,
                       command=[program, "200"])
    to_old_maps(path)
    assert any(f[0] == "hot_70" for s in wick_samples(wick, path) for f in s[3])
    shutil.copy(workload("fib")[0], program)
    later = os.stat(path).st_mtime + 10
    os.utime(program, (later, later))
    names = {f[0] for s in wick_samples(wick, path) for f in s[3] if f[1] == "program"}
    assert names and all(name.startswith("program+0x") for name in names), names


def test_the_other_byte_order_is_refused_with_words(wick, tmp_path):
    path = tmp_path / "perf.data"
    path.write_bytes(b"2ELIFREP" + bytes(200))
    done = wick.run("report", path)
    assert done.returncode == 1
    assert "byte order" in done.stderr


@pytest.fixture(name="jit_data")
def record_jit(tmp_path):
    """A perf.data of a program that generated code, and its map, which exists until the end."""
    recorded = []

    def record(mode):
        data = tmp_path / f"{mode}.data"
        truth = tmp_path / f"{mode}.json"
        command = workload("jit_names", mode, 600)
        perf_record(data, "-F", 499, "-g", command=["sh", "-c", '"$@" > "$0"', truth, *command])
        pid = json.loads(truth.read_text())["pid"]
        recorded.append(pathlib.Path(f"/tmp/perf-{pid}.map"))
        return data, recorded[-1]

    yield record
    for path in recorded:
        path.unlink(missing_ok=True)


def hot_percent(wick, data):
    report = wick.json("report", "--format", "json", data)
    return contract.self_percent(report, "jit_hot") if "jit_hot" in contract.functions(report) else 0


def test_code_that_a_program_made_has_the_names_of_its_map(wick, jit_data):
    data, _ = jit_data("map")
    assert hot_percent(wick, data) == pytest.approx(70, abs=12)


def test_the_map_of_a_stranger_or_of_a_later_process_names_nothing(wick, jit_data, tmp_path):
    data, path = jit_data("map")
    text = path.read_bytes()
    recording = tmp_path / "kept.wick"
    wick.ok("import", "-o", recording, data)
    path.unlink()
    assert hot_percent(wick, data) == 0
    assert hot_percent(wick, recording) > 50, "what was imported keeps its names"
    os.utime(data, (1000, 1000))  # written long before this map was made
    path.write_bytes(text)
    if has_birth_time(path):
        assert hot_percent(wick, data) == 0
    os.utime(data)
    assert hot_percent(wick, data) > 50
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").write_bytes(text)
    assert hot_percent(wick, data) == 0


def has_birth_time(path):
    done = subprocess.run(["stat", "-c", "%W", path], capture_output=True, text=True, check=True)
    return done.stdout.strip() not in ("0", "-", "?")


@pytest.mark.root
def test_the_map_of_another_user_names_nothing(wick, jit_data):
    data, path = jit_data("other")
    assert hot_percent(wick, data) == 0
    missing = wick.ok("report", "--missing", data).stdout
    assert f"its list of names was not used: {path} belongs to user {path.stat().st_uid}" in missing
    assert "--perf-basic-prof" not in missing, "that was done"


@pytest.mark.root
def test_root_sees_the_names_of_who_recorded_or_called_sudo(wick, jit_data):
    data, path = jit_data("other")
    user = path.stat().st_uid
    sudo = os.environ | {"SUDO_UID": str(user), "SUDO_GID": str(user)}
    assert "jit_hot" in wick.ok("report", data, env=sudo).stdout
    assert "jit_hot" not in wick.ok("report", data).stdout
    os.chown(data, user, -1)
    assert hot_percent(wick, data) > 50
    os.chown(data, user + 1, -1)
    assert hot_percent(wick, data) == 0


@pytest.mark.root
@pytest.mark.parametrize("engine", ["ebpf", "perf"])
def test_perf_works_beside_a_recorder_of_the_whole_machine(wick, tmp_path, engine):
    """Linux marks what perf gets as having build ids when another event asks for them; perf crashes then."""
    recorder = wick.start("record", "--engine", engine, "-a", "-o", tmp_path / "all.wick")
    try:
        wait_for_samples(wick, recorder.pid, more_than=0)
        done = subprocess.run(["perf", "record", "-g", "-o", tmp_path / "perf.data", "--", *workload("spin", 100)],
                              capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
    finally:
        recorder.send_signal(signal.SIGINT)
        recorder.communicate(timeout=60)

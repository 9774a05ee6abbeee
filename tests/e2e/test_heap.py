# SPDX-License-Identifier: BSD-2-Clause
"""The heap: programs whose correct results are known, compared to the byte."""
import fcntl
import functools
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys

import contract
import pytest
from conftest import BUILD, TIMEOUT, WICK, wait_for, workload

VALUES = {"blocks": "alloc_objects", "bytes": "alloc_space", "live": "inuse_space"}


class Heap:
    """A recording of the heap."""

    def __init__(self, wick, command, *options, status=0, **kwargs):
        self.wick, self.path, self.known = wick, wick.new_path(), {}
        self.process = wick.run("heap", "-o", self.path, *options, "--", *command, **kwargs)
        assert self.process.returncode == status, self.process.stderr

    @property
    def truth(self):
        return json.loads(self.process.stdout.splitlines()[-1])

    @functools.cached_property
    def report(self):
        return self.wick.json("report", self.path, "--by", "site", "--format", "json")

    def stacks(self, value):
        """{(function, root first): amount} of a value."""
        if value in self.known:
            return self.known[value]
        lines = self.wick.ok("export", self.path, "--format", "folded", "--event", value).stdout.splitlines()
        self.known[value] = {tuple(line.rpartition(" ")[0].split(";")): int(line.rpartition(" ")[2])
                             for line in lines}
        return self.known[value]

    def by_function(self, function):
        """The values of stacks with a function, for each value that workloads report."""
        return {name: sum(amount for stack, amount in self.stacks(value).items() if function in stack)
                for name, value in VALUES.items()}


def assert_true(heap, functions=None):
    """Each function has the amounts that it reports itself, and nothing was lost."""
    for name, told in heap.truth.items():
        if isinstance(told, dict) and (not functions or name in functions):
            assert heap.by_function(name) == told, name
    assert " 0 lost" in heap.process.stderr, heap.process.stderr
    quality = heap.report["quality"]
    assert quality["missed_frees"] == quality["bad"] == 0


@pytest.mark.parametrize("command,told", [
    (("blocks", "calls"), {"refused": 100}),
    (("blocks", "refused"), {"right": 14, "kept_errno": 10}),
    (("news",), {"refused": 200, "own": 0}),
    (("news_own",), {"refused": 200, "own": 650}),
], ids=lambda value: "-".join(value) if isinstance(value, tuple) else "")
def test_every_function_of_the_allocator_is_counted_to_the_byte(wick, command, told):
    """All functions of malloc and operator new; failures are the same as without us, including errno."""
    heap = Heap(wick, workload(*command))
    assert heap.process.stdout == subprocess.run(workload(*command), capture_output=True, text=True, check=True).stdout
    assert heap.truth.items() >= told.items()
    assert_true(heap)
    # Nothing of ours is in the program's heap.
    assert not any("libwick" in row["module"] for row in heap.report["rows"])


def test_a_block_is_of_the_line_that_calls_for_it(wick):
    """After `new Both` comes its constructor, inlined: the return address is there."""
    source = pathlib.Path(__file__).parents[1] / "workloads/leaks_cpp.cpp"
    line = next(n for n, text in enumerate(source.read_text().splitlines(), 1) if "new Both" in text)
    rows = Heap(wick, workload("leaks_cpp")).report["rows"]
    assert ("hold()", line) in {(row["function_name"], row["line"]) for row in rows}


def test_the_peak_and_who_held_it_are_exact(wick):
    heap = Heap(wick, workload("blocks", "peak"))
    assert_true(heap)
    held = {stack[-1]: amount for stack, amount in heap.stacks("peak_space").items()}
    assert held["first_part"] == 1000000
    assert held["second_part"] == 2000000
    assert "third_part" not in held
    assert heap.report["totals"]["peak"]["bytes"] == sum(held.values())


def test_time_and_heap_in_one_file(wick):
    path = wick.new_path()
    spins = "import sys\nb = bytearray(3000000)\nfor i in range(2000000): pass\nsys.stdout.write('done')"
    done = wick.ok("record", "--heap", "-F", "2000", "-o", path, "--", "/usr/bin/python3", "-c", spins)
    assert done.stdout == "done" and " allocations and frees" in done.stderr
    time = wick.json("report", path, "--format", "json")
    assert time["value"]["name"] == "cpu" and time["samples"] > 0
    assert wick.json("report", path, "--by", "site", "--format", "json")["totals"]["peak"]["bytes"] > 3000000
    refused = wick.run("record", "--heap", "-p", "1")
    assert refused.returncode == 2 and "needs a program that wick starts" in refused.stderr


@pytest.mark.parametrize("form", ("firefox", "samples"))
def test_formats_of_samples_refuse_a_heap_that_has_none(wick, tmp_path, form):
    heap = Heap(wick, workload("blocks", "peak"))
    out = tmp_path / "out"
    done = wick.run("export", "--format", form, heap.path, "-o", out)
    assert done.returncode == contract.FAILED and not out.exists()
    assert f"has allocations but no samples: nothing to export as {form}" in done.stderr
    wick.ok("export", "--format", "speedscope", heap.path, "-o", out)
    assert sum(sum(one["weights"]) for one in json.loads(out.read_text())["profiles"]) > 3000000


def test_a_page_is_written_beside_or_not_at_all(wick, tmp_path):
    """What is in the page: tests/browser/heap_page.mjs."""
    heap = Heap(wick, workload("blocks", "peak"))
    process = wick.run("heap-report", heap.path)
    page = wick.folder / heap.path.with_suffix(".html").name
    assert process.returncode == 0 and page.read_text().startswith("<!DOCTYPE html>")
    for output, status, words in ((tmp_path / "x.svg", 2, "is an HTML page"), (heap.path, 2, "overwritten"),
                                  (tmp_path / "none/x.html", 1, "cannot write")):
        process = wick.run("heap-report", heap.path, "-o", output)
        assert process.returncode == status and words in process.stderr
    assert not list(tmp_path.glob("x.*"))


def test_a_peak_that_is_too_high_trips_the_gate(wick):
    high = Heap(wick, workload("blocks", "peak"), "--max-peak", "2M", status=3)
    assert "above the limit of 2097152 (--max-peak)" in high.process.stderr
    # What was not recorded cannot be judged.
    done = wick.run("heap", "--max-peak", "3M", "-q", "-o", wick.new_path(), "--", *workload("blocks", "peak"),
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)))
    assert done.returncode == 1 and "--max-peak cannot be checked" in done.stderr, done.stderr
    fine = Heap(wick, workload("blocks", "peak"), "--max-peak", "3M", "-q")
    assert not fine.process.stderr


@pytest.mark.parametrize("turns", [6, 14])
def test_each_of_many_ways_has_its_own_stack(wick, turns):
    """Stacks are recognised without walking them, even more than have numbers at a time: each block's size identifies its path."""
    heap = Heap(wick, [*workload("blocks", "paths"), str(turns)])
    assert_true(heap)
    blocks, sizes = heap.stacks("alloc_objects"), heap.stacks("alloc_space")
    ways = 0
    for stack, count in blocks.items():
        if "at_the_end" not in stack:
            continue
        path, left = divmod(sizes[stack], count)[0] - 1000, sizes[stack] % count
        way = ["right" if path >> level & 1 else "left" for level in range(turns)]
        assert left == 0 and list(stack[-2 - turns:]) == ["left", *way, "at_the_end"]
        ways += 1
    assert ways == (64 if turns == 6 else 11432)  # that the 20,000 meet


def test_deep_stacks_are_whole(wick):
    heap = Heap(wick, workload("blocks", "deep", 400))
    stack = [stack for stack in heap.stacks("alloc_space") if "dive" in stack][0]
    assert stack.count("dive") == 401
    assert "main" in stack and "[truncated]" not in stack


def test_stacks_beyond_the_depth_are_marked(wick):
    """Both ends are kept, and the middle is marked: 1,000 frames, and more than are walked each time."""
    for levels, depth in ((1000, 50), (1000, 512), (8000, 512)):
        heap = Heap(wick, workload("blocks", "deep", levels), "--depth", depth)
        stack = [stack for stack in heap.stacks("alloc_space") if "dive" in stack][0]
        assert len(stack) == depth + 2 and stack[1] == "_start" and "main" in stack
        assert [at for at, name in enumerate(stack) if name == "[truncated]"] == [depth // 2 + 1]
        assert set(stack[depth // 2 + 2:]) == {"dive"}


def notes(heap):
    """What the recording itself says about how it was made."""
    return heap.wick.json("info", heap.path, "--format", "json")["session"].get("note", "")


def test_less_is_recorded_where_memory_is_short(wick):
    """40 threads: some blocks are sampled, others only added up, and the sum is what it should be."""
    heap = Heap(wick, workload("strain", "crowd", 40, 1000), "--max-memory", "12M")
    report, truth = heap.report, heap.truth["blocks"]
    assert "blocks were sampled" in notes(heap) and "only summed by stack" in notes(heap)
    assert "only counted" not in notes(heap) and notes(heap) in heap.process.stderr
    assert report["quality"]["only_totals"] > 0 and report["quality"]["unknown_frees"] == 0
    blocks = heap.by_function("go_on")["blocks"]
    assert abs(blocks - truth) < 5 * report["totals"]["allocated_error"]["blocks"] + 1


def test_blocks_are_counted_where_there_is_no_memory_at_all(wick):
    heap = Heap(wick, workload("strain", "crowd", 40, 100), "--max-memory", "1M")
    assert "only counted" in notes(heap)


def test_limits_that_are_too_small_are_refused(wick):
    process = wick.run("heap", "--max-memory", "5K", "--", "true")
    assert process.returncode == 2 and "--max-memory" in process.stderr


@pytest.mark.parametrize("way", ["all", "some", "none"])
def test_the_program_goes_on_when_it_writes_over_our_tables(wick, way):
    heap = Heap(wick, workload("strain", "damage", way))
    assert heap.truth == {"found": True, "blocks": 6400}
    assert "tables" in notes(heap)
    if way == "some":  # more than 100 times: no more is recorded
        assert "was not recorded" in notes(heap) and heap.by_function("go_on")["blocks"] < 1000
    if way == "all":
        assert heap.by_function("go_on")["blocks"] == 6464


@pytest.mark.parametrize("way", ["head", "tail", "state", "zero"])
def test_the_program_goes_on_when_it_writes_over_its_ring(wick, way):
    """It would wait for room that never comes. What is lost is reported."""
    heap = Heap(wick, workload("strain", "ring", way))
    assert heap.truth == {"found": True, "blocks": 180000}
    recorded = heap.by_function("go_on")["blocks"]
    assert 0 < recorded <= 180000
    assert recorded == 180000 or " 0 lost" not in heap.process.stderr


def test_the_break_of_a_program_is_its_own(wick):
    heap = Heap(wick, workload("strain", "brk"), "--maps")
    assert heap.by_function("by_sbrk") == {"blocks": 1, "bytes": 100000, "live": 100000}
    assert heap.by_function("by_brk")["live"] == 50000


@pytest.mark.parametrize("options, hinted", (((), True), (("--maps",), False)))
def test_memory_that_is_mapped_and_not_allocated_is_hinted_at(wick, options, hinted):
    """Like runtimes with allocators of their own; it stays until the recorder has looked."""
    program = ("import mmap, time\nm = mmap.mmap(-1, 64 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n"
               "for i in range(0, 64 << 20, 4096): m[i] = 1\ntime.sleep(2)")
    heap = Heap(wick, [sys.executable, "-S", "-E", "-c", program], *options)
    assert ("more were mapped, not allocated: use --maps to record them" in heap.process.stderr) == hinted, heap.process.stderr


def test_a_library_that_passes_us_by_is_named(wick):
    heap = Heap(wick, workload("strain", "deepbind", BUILD / "tests" / "workloads" / "plugin_a.so"))
    assert heap.truth["opened"] and "RTLD_DEEPBIND" in notes(heap) and "plugin_a.so" in notes(heap)


def test_operators_of_a_part_are_its_own(wick):
    """A program in C loads a part in C++ that defines operator new: other C++ parts use that one."""
    call = f"import ctypes; print(ctypes.CDLL({str(BUILD / 'tests' / 'workloads' / 'plugin_new.so')!r}).plugin_new())"
    command = [sys.executable, "-S", "-E", "-c", call]
    alone = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert alone == "20\n"
    assert Heap(wick, command).process.stdout == alone


def test_what_went_into_a_pipe_is_not_waited_for(wick):
    path = wick.new_path()
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # what is written fits into it
    done = wick.run("heap", "-o", path, "--", "true", timeout=20)
    assert done.returncode == 0 and os.read(reader, 8) == b"\x89WICK\r\n\x1a", done.stderr
    os.close(reader)
    assert wick.run("heap", "--max-peak", "1", "-o", path, "--", "true").returncode == 2  # no gate that never trips


def test_a_file_that_another_writes_is_left_to_it(wick):
    path = wick.new_path()
    with open(path, "wb") as other:
        other.write(b"his")
        other.flush()
        fcntl.flock(other, fcntl.LOCK_EX)
        done = wick.run("heap", "-o", path, "--", "echo", "ran")
    assert done.returncode == 1 and done.stdout == "" and "another recording" in done.stderr
    assert pathlib.Path(path).read_bytes() == b"his"


def test_threads_and_what_their_destructors_free(wick):
    assert_true(Heap(wick, workload("blocks", "threads", 40)))


@pytest.mark.parametrize("threads", [2000, pytest.param(8000, marks=pytest.mark.long)])
def test_thousands_of_threads_at_once_have_room(wick, threads):
    """Threads beyond 1,024 have slots after the rings of the first."""
    command = workload("strain", "crowd", threads, 100)
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip(f"no {threads} threads at once here")
    heap = Heap(wick, command, timeout=TIMEOUT * 4)
    assert " 0 lost" in heap.process.stderr and "note" not in heap.process.stderr, heap.process.stderr
    assert heap.by_function("go_on")["blocks"] == heap.truth["blocks"] == threads * 100
    assert heap.by_function("go_on")["live"] == 0


def test_blocks_that_other_threads_free(wick):
    heap = Heap(wick, workload("blocks", "across"))
    assert_true(heap)
    assert heap.report["totals"]["foreign_blocks"] >= 1000


def test_children_go_into_the_same_file(wick):
    heap = Heap(wick, workload("blocks", "forks"))
    assert_true(heap)
    assert len({stack[0] for stack in heap.stacks("alloc_space")} & {"blocks", "cat"}) == 2


def test_children_are_left_alone_on_request(wick):
    heap = Heap(wick, workload("blocks", "forks"), "--no-children")
    assert heap.by_function("of_child")["blocks"] == 0


def test_blocks_of_a_signal_handler(wick):
    assert_true(Heap(wick, workload("blocks", "handler")))


def assert_whole(heap):
    """All 100,000 blocks are there, and still there at the end."""
    row = {row["function_name"]: row for row in heap.report["rows"]}["many"]
    assert row["allocated"] == row["live"] == {"bytes": 1000000, "blocks": 100000}


@pytest.mark.parametrize("how,status", [
    ("return", 0), ("exit", 0), ("_exit", 0), ("quick_exit", 0), ("pthread_exit", 0), ("exec", 0), ("abort", 134),
    ("kill", 137), ("segv", 139)])
def test_nothing_is_lost_by_any_death(wick, how, status):
    heap = Heap(wick, workload("blocks", "ends", how), status=status)
    assert_whole(heap)
    if how == "exec":  # what came after it is there too
        assert heap.by_function("dive")["blocks"] == 1


@pytest.fixture
def little_memory():
    """A control group whose processes are killed beyond 32 MB; the file that takes them in."""
    for root, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        folder = pathlib.Path(root, f"wick-heap-{os.getpid()}")
        try:
            folder.mkdir()
        except OSError:
            continue
        if (folder / limit).exists():
            (folder / limit).write_text(str(32 << 20), encoding="ascii")
            yield folder / "cgroup.procs"
            wait_for(lambda: not (folder / "cgroup.procs").read_text(encoding="ascii"), what="an empty group")
            folder.rmdir()
            return
        folder.rmdir()
    pytest.skip("no control group of memory can be made")


def test_nothing_is_lost_when_the_kernel_has_no_memory_left(wick, little_memory):
    command = ["sh", "-c", f'echo $$ >{little_memory}; exec "$@"', "sh", *workload("blocks", "ends", "oom")]
    heap = Heap(wick, command, status=137)
    assert_whole(heap)
    taken = {row["function_name"]: row for row in heap.report["rows"]}["take_all"]
    assert 0 < taken["live"]["bytes"] <= 40 << 20


def test_a_full_disk_does_not_stop_the_program(wick, small_disk):
    (small_disk / "ballast").write_bytes(b"x" * 60 * 1024)
    process = wick.run("heap", "-o", small_disk / "x.wick", "--", *workload("blocks", "paths", 20))
    assert process.returncode == contract.FAILED
    assert "no space left" in process.stderr.lower()
    assert "at_the_end" in process.stdout


def test_a_sample_of_the_blocks_tells_of_all(wick):
    """100 MB in 30,000 sites' blocks of 0.1 to 6 KB: the estimate is within five of its own errors."""
    heap = Heap(wick, workload("blocks", "paths"), "--sample", "64K")
    estimate = heap.by_function("at_the_end")["bytes"]
    truth = heap.truth["at_the_end"]["bytes"]
    samples = truth / 65536
    assert abs(estimate / truth - 1) < 5 / samples ** 0.5
    assert heap.report["totals"]["sampled"]
    info = wick.json("info", heap.path, "--format", "json")
    assert int(info["session"]["heap_events"]) < info["heap_events"]  # which has notes on sampling, too


def test_the_program_goes_on_when_the_recorder_dies(wick, tmp_path):
    out = tmp_path / "out"
    with out.open("w") as stdout:
        recorder = subprocess.Popen([str(WICK), "heap", "-q", "-o", str(tmp_path / "x.wick"), "--", "sh", "-c",
                                     'echo "{"; exec "$@"', "sh", *workload("blocks", "threads", 3000)],
                                    stdout=stdout, stderr=subprocess.DEVNULL, cwd=tmp_path)
        wait_for(out.read_text)
        recorder.kill()
        recorder.wait()
    wait_for(lambda: "of_thread" in out.read_text(), 30)


def test_programs_that_leave_the_library_behind_are_told(wick):
    heap = Heap(wick, ["sh", "-c", "env -i true; true"])
    assert "not recorded: 1 program started with an empty environment" in heap.process.stderr
    assert "empty environment" not in Heap(wick, ["sh", "-c", "env A=b true; true"]).process.stderr


def test_a_program_that_may_not_wait_drops_and_counts(wick, tmp_path):
    """Its recorder is stopped while it runs; a ring has room for some thousands of events."""
    report = tmp_path / "ended"
    recorder = wick.start("heap", "--lossy", "-o", wick.new_path(), "--", "sh", "-c",
                          f"kill -STOP $PPID; '{workload('blocks')[0]}' ends exit >/dev/null; echo >'{report}'")
    wait_for(report.exists, what="the end of the program")
    recorder.send_signal(signal.SIGCONT)
    _, told = recorder.communicate(timeout=TIMEOUT)
    assert recorder.returncode == 0 and int(re.search(r"frees, (\d+) lost", told)[1]) > 10000, told


@pytest.mark.root
def test_a_setuid_program_is_refused_with_what_helps(wick, tmp_path):
    program = shutil.copy(workload("blocks")[0], tmp_path)
    os.chown(program, 65534, 65534)
    os.chmod(program, 0o4755)
    process = wick.run("heap", "-o", wick.new_path(), "--", program, "peak")
    assert process.returncode == 1 and "setuid" in process.stderr
    assert "as its owner, or record a copy" in process.stderr and "dynamically" not in process.stderr


def test_a_static_program_is_refused(wick):
    static = BUILD / "tests/workloads/chain_static"
    if not static.exists():
        pytest.skip("no static programs here")
    process = wick.run("heap", "-o", wick.new_path(), "--", static, "10")
    assert process.returncode == 1
    assert "static" in process.stderr


@pytest.mark.parametrize("name", ["churn", "churn_jemalloc", "churn_mimalloc", "churn_tcmalloc_minimal"])
def test_other_allocators_go_on_as_they_are(wick, name):
    """Threads that free each other's blocks; an allocator that rounds 41 bytes up to 48 is not the C library."""
    heap = Heap(wick, workload(name, 30))
    assert heap.process.stdout == subprocess.run(workload(name, 30), capture_output=True, text=True, check=True).stdout
    assert heap.truth["damaged"] == 0 and heap.truth["usable"] == (56 if name == "churn" else 48)
    assert heap.by_function("take")["blocks"] == heap.truth["blocks"] and heap.by_function("take")["live"] == 0
    assert heap.report["quality"]["unknown_frees"] == heap.report["quality"]["bad"] == 0


@pytest.mark.skipif(not shutil.which("python3"), reason="needs python3")
def test_a_real_program_prints_what_it_prints(wick):
    command = ["python3", "-c", "import json; print(len(json.dumps([{'a': i} for i in range(20000)])))"]
    plain = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    heap = Heap(wick, command)
    assert heap.process.stdout == plain
    assert heap.report["totals"]["allocated"]["blocks"] > 1000


def test_memory_is_split_as_the_kernel_tells(wick, tmp_path):
    """Readings say what the program has of each kind: see tests/workloads/footprint.c."""
    mib = 1 << 20
    heap = Heap(wick, workload("footprint", tmp_path / "mapped"))
    memory = wick.json("timeline", heap.path, "--format", "json")["memory"]
    for resident in heap.truth.values():  # the kernel counts pages on each CPU, and adds them up late
        assert any(abs(each["resident_bytes"] - resident) < 2 * mib for each in memory), (resident, memory)
    splits = [each["split"] for each in memory if each["split"]]
    full = max(splits, key=lambda split: split["tracked_bytes"])
    assert 15.5 * mib < full["tracked_bytes"] < 16.5 * mib and full["fragmentation"] < 0.15, full
    late = max(splits, key=lambda split: split["file_bytes"] + split["stack_bytes"])  # one comes after the other
    assert 7.7 * mib < late["tracked_bytes"] < 8.3 * mib, late
    assert 0.45 < late["fragmentation"] < 0.6, late
    assert 4 * mib <= late["stack_bytes"] < 5 * mib, late
    assert 8 * mib < late["file_bytes"] < 16 * mib, late
    assert 13.5 * mib < late["untracked_bytes"] < 18 * mib, late  # every second block, and 6 MiB mapped
    assert 0 < late["wick_bytes"] < 6 * mib, late
    assert late["heap_bytes"] <= late["heap_size_bytes"], late

# SPDX-License-Identifier: BSD-2-Clause
"""Files of other profilers, generated here record by record: what is imported, reported or refused."""
import os
import pathlib
import shutil
import struct
import subprocess
import sys

import contract
import pprof
import pytest

from conftest import workload

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "fuzz"))
import make_perf_data as perf  # noqa: E402

COUNTS_LOST = 1 << 4  # PERF_FORMAT_LOST
LOST, LOST_SAMPLES = 2, 13
BY_FILTER = 1 << 15


def losing_attr(counts):
    attr = bytearray(perf.attr(perf.BASE))
    attr[32] |= COUNTS_LOST if counts else 0  # its read_format
    return bytes(attr)


def losing_records(at_end, misc=0):
    """7 losses when a ring was full; at_end adds more, without a time, as perf writes them."""
    return (perf.sample(50, 5) + perf.record(LOST, perf.u64(5, 7) + perf.trailer(60, 5)) +
            perf.sample(70, 5) +
            perf.record(LOST_SAMPLES, perf.u64(at_end) + perf.trailer(0, 5), misc))


@pytest.mark.parametrize("counts, at_end, misc, lost", [
    (True, 7, 0, 7),  # the same ones
    (True, 9, 0, 9),  # and two after the last LOST
    (True, 0, 0, 7),
    (False, 2, 0, 9),  # others, of the hardware
    (True, 50, BY_FILTER, 7),  # nobody wanted these
])
def test_losses_that_perf_tells_twice_count_once(wick, tmp_path, counts, at_end, misc, lost):
    path = tmp_path / "perf.data"
    path.write_bytes(perf.file([losing_attr(counts)], losing_records(at_end, misc)))
    info = wick.json("info", "--format", "json", path)
    assert (info["samples"], info["lost"]) == (2, lost)


WHOLE = perf.file([perf.attr(perf.BASE)], perf.sample(50, 5) + perf.sample(60, 5))
PIPE = perf.pipe([perf.attr(perf.BASE)], perf.sample(50, 5) + perf.sample(60, 5))
AUX = perf.record(71, perf.u64(16, 0, 0) + perf.u32(0, 0, 0, 0))
PACKED = perf.pipe([perf.attr(perf.BASE)],
                   perf.compressed(perf.sample(50, 5) + perf.sample(60, 5)[:-4]))


@pytest.mark.parametrize("data, samples, words", [
    (WHOLE[:-1], 2, "the part after its records is cut off"),
    (WHOLE[:WHOLE.index(perf.sample(60, 5))], 1, "in the middle of a record"),
    (WHOLE[:WHOLE.index(perf.sample(60, 5)) + 9], 1, "in the middle of a record"),
    (perf.file([perf.attr(perf.BASE)], perf.sample(50, 5), cut=True), 1, "perf did not finish"),
    (PIPE[:-1], 1, "in the middle of a record"),
    (PIPE + AUX + bytes(15), 2, "in the middle of a record"),
    (PACKED, 1, "in the middle of a record"),
], ids=("end", "between records", "in a record", "killed", "pipe", "trace", "compressed"))
def test_a_cut_perf_data_is_called_incomplete_and_loses_nothing(wick, tmp_path, data, samples, words):
    path = tmp_path / "perf.data"
    path.write_bytes(data)
    info = wick.json("info", "--format", "json", path)
    assert (info["samples"], info["lost"], info["complete"]) == (samples, 0, False)
    assert words in wick.ok("info", path).stdout
    wick.ok("import", path, "-o", tmp_path / "x.wick")
    assert not wick.json("info", "--format", "json", tmp_path / "x.wick")["complete"]
    shown = wick.ok("report", path)
    assert "the recording is incomplete" in shown.stdout + shown.stderr
    assert "lost" not in shown.stdout + shown.stderr


@pytest.mark.parametrize("data", [WHOLE, PIPE, PIPE + AUX + bytes(16)],
                         ids=("file", "pipe", "trace"))
def test_a_whole_perf_data_is_called_complete(wick, tmp_path, data):
    path = tmp_path / "perf.data"
    path.write_bytes(data)
    assert wick.json("info", "--format", "json", path)["complete"]


def test_a_difference_of_pprof_is_refused_with_a_remedy(wick, tmp_path):
    profile = pprof.Writer([("objects", "count"), ("space", "bytes")])
    profile.stack(["main", "grew"], [1, 100])
    profile.stack(["main", "fell"], [2, -30])
    path = tmp_path / "diff.pb"
    path.write_bytes(profile.data())
    done = wick.run("report", path)
    assert done.returncode == 1
    assert "a sample has -30 space" in done.stderr
    assert "wick diff BEFORE AFTER" in done.stderr


def symbol_address(path, name):
    lines = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    return next(int(line.split()[0], 16) for line in lines.splitlines() if line.endswith(f" {name}"))


def mapped_as(path):
    """A program of fixed addresses as /proc/PID/maps would show its code."""
    status = os.stat(path)
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
    headers = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True, check=True)
    code = next(line.split() for line in headers.stdout.splitlines()
                if line.split()[:1] == ["LOAD"] and "E" in line.split()[6:-1])
    offset, start, size = (int(code[i], 16) for i in (1, 2, 4))
    page = offset & 0xfff
    return (f"{start - page:08x}-{(start + size + 0xfff) & ~0xfff:08x} r-xp {offset - page:08x} "
            f"{device} {status.st_ino} {path}\n")


@pytest.mark.skipif(not shutil.which("nm") or not shutil.which("readelf"), reason="no binutils")
def test_profiles_of_gperftools_have_the_names_of_the_mapped_files(wick, tmp_path):
    program = workload("twice_fixed")[0]
    leaf = symbol_address(program, "copied_inner") + 4
    main = symbol_address(program, "main") + 8
    cpu = struct.pack("<12Q", 0, 3, 0, 1000, 0, 7, 2, leaf, main, 0, 1, 0)
    heap = (f"heap profile: 3: 300 [3: 300] @ heapprofile\n 3: 300 [3: 300] @ {leaf:#x} {main:#x}\n"
            "MAPPED_LIBRARIES:\n")
    for name, data, total in (("cpu", cpu, 7), ("heap", heap.encode(), 300)):
        path = tmp_path / f"app.{name}"
        path.write_bytes(data + mapped_as(program).encode())
        stacks = wick.ok("export", "--format", "folded", "--no-inline", "-o", "-", path).stdout
        assert stacks == f"twice_fixed;main;copied_inner {total}\n"


def test_text_of_perf_script_is_the_same_profile_as_its_perf_data(wick, tmp_path):
    data = tmp_path / "perf.data"
    command = workload("chain", 300)
    made = subprocess.run(["perf", "record", "-q", "-F", "499", "-g", "-o", data, "--", *command],
                          capture_output=True, check=False) if shutil.which("perf") else None
    if not made or made.returncode != 0:
        pytest.skip("perf does not record here")
    text = tmp_path / "perf.txt"
    text.write_bytes(subprocess.run(["perf", "script", "-i", data], stdin=subprocess.DEVNULL,
                                    capture_output=True, check=True).stdout)
    samples = [wick.json("info", "--format", "json", path)["samples"] for path in (data, text)]
    assert samples[0] == samples[1] > 0
    totals = [sum(count for frames, count in folded(wick, path) if "chain_c" in frames)
              for path in (data, text)]
    assert totals[0] == totals[1] > 0


@pytest.mark.parametrize("root, verdict", [("main", "good"), ("work", "poor")])
def test_stacks_of_perf_script_that_reach_no_root_are_cut(wick, tmp_path, root, verdict):
    path = tmp_path / "perf.txt"
    path.write_text("".join(f"app 7/7 [000] {i}.0: 1000 cycles:\n\t1 leaf+0x1 (/bin/app)\n\t2 {root}+0x2 (/bin/app)\n\n"
                            for i in range(1, 200)))
    assert wick.json("info", "--check", "--format", "json", path)["quality"] == verdict
    alone = tmp_path / "alone.txt"  # without -g there are no callers that could lack
    alone.write_text("".join(f"app 7/7 [000] {i}.0: 1000 cycles: 1 leaf+0x1 (/bin/app)\n" for i in range(1, 200)))
    assert wick.json("info", "--check", "--format", "json", alone)["quality"] == "good"


def folded(wick, path):
    lines = wick.ok("export", "--format", "folded", "-o", "-", path).stdout.splitlines()
    return [(line.rsplit(" ", 1)[0].split(";"), int(line.rsplit(" ", 1)[1])) for line in lines]


@pytest.mark.parametrize("data, words", [
    (b"JAVA PROFILE 1.0.2\0", "looks like a Java heap dump (hprof)"),
    (b"goroutine profile: total 3\n3 @ 0x1 0x2\n", "looks like a Go profile as text"),
    (b"Some notes.\nNothing else.\n", "looks like text that is not a profile"),
    (b"PK\3\4rest", "looks like a zip archive"),
], ids=("hprof", "go", "text", "zip"))
def test_a_file_of_another_kind_is_refused_with_what_it_looks_like(wick, tmp_path, data, words):
    path = tmp_path / "file"
    path.write_bytes(data)
    for command in (["report", path], ["import", "-o", tmp_path / "x.wick", path]):
        done = wick.run(*command)
        assert done.returncode == 1
        assert words in done.stderr, done.stderr
        assert not (tmp_path / "x.wick").exists()


@pytest.mark.parametrize("end", ("", "\n"))
def test_a_cut_line_of_folded_stacks_is_left_out_and_told(wick, tmp_path, end):
    path, copy = tmp_path / "x.folded", tmp_path / "x.wick"
    path.write_text("app;main;a 5\napp;main;b 3\napp;main;lon" + end)
    words = f"{path} is incomplete: line 3, the last one, has no count and is ignored"
    for command in (("import", path, "-o", copy), ("flame", path, "-o", "-"),
                    ("export", "--format", "folded", path)):
        assert wick.ok(*command).stderr.splitlines() == [f"wick: {words}"], command
    report = wick.ok("report", path).stdout
    assert "incomplete: line 3, the last one, has no count and is ignored" in report
    assert wick.json("report", "--format", "json", path)["samples"] == 8
    assert not wick.json("info", "--format", "json", copy)["complete"]
    path.write_text("app;main;lon\napp;main;a 5\n")  # not the last one
    assert wick.run("import", path, "-o", copy).returncode == contract.FAILED


PERF_REPORT = """# To display the perf.data header info, please use --header/--header-only options.
#
#
# Total Lost Samples: 0
#
# Samples: 515  of event 'cpu-clock:pppH'
# Event count (approx.): 515515515
#
# Children      Self  Command  Shared Object      Symbol
# ........  ........  .......  .................  ...................................
#
    19.81%    19.81%  sh       libc.so.6          [.] strcmp
            |
            |--6.80%--strcmp

     1.75%     1.75%  sh       dash               [.] 0x0000000000014a80
"""


@pytest.mark.parametrize("text", (
    PERF_REPORT, PERF_REPORT.replace("Children      Self", "Overhead"),
    "\n".join(line for line in PERF_REPORT.splitlines() if not line.startswith("#")),
    "     1.75%  sh       dash               [.] 0x0000000000014a80\n     1.00%  sh  dash  [.] main\n"),
    ids=("children", "overhead", "quiet", "address first"))
def test_the_text_of_perf_report_is_called_that(wick, tmp_path, text):
    path = tmp_path / "report.txt"
    path.write_text(text)
    for command in (("flame", path, "-o", tmp_path / "x.svg"), ("import", path, "-o", tmp_path / "x.wick")):
        done = wick.run(*command)
        assert done.returncode == contract.FAILED
        assert "looks like the output of perf report" in done.stderr
        assert "perf.data" in done.stderr and "perf script" in done.stderr

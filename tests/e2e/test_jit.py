# SPDX-License-Identifier: BSD-2-Clause
"""Code that programs generate while they run: names from perf maps and jitdumps."""
import contextlib
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import xml.etree.ElementTree

import contract
import pytest
from conftest import wait_for, workload

pytestmark = pytest.mark.perf
TOLERANCE = 12


@pytest.fixture
def jit(wick):
    """Records the workload; removes its map in /tmp afterwards."""
    made = []

    def record(*args, **options):
        recording = wick.record(workload("jit_names", *args), "-F", 997, **options)
        made.append(recording.truth["pid"])
        return recording

    yield record
    for pid in made:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"/tmp/perf-{pid}.map")


def assert_split(report, hot="jit_hot"):
    assert abs(contract.self_percent(report, hot) - 70) < TOLERANCE
    assert abs(contract.self_percent(report, "jit cool()") - 30) < TOLERANCE
    assert "thrown_away" not in contract.functions(report)
    assert not [name for name in contract.functions(report) if name.startswith("[anon]")]


@pytest.mark.parametrize("mode", ("map", "dump"))
def test_functions_that_a_program_made_have_names(jit, mode):
    assert_split(jit(mode, 600).report())


def test_code_at_a_reused_address_is_told_apart_by_time(jit, wick):
    recording = jit("reuse", 800)
    report = recording.report()
    assert abs(contract.self_percent(report, "jit_hot") - 35) < TOLERANCE
    assert abs(contract.self_percent(report, "jit_second") - 35) < TOLERANCE
    assert abs(contract.self_percent(report, "jit cool()") - 30) < TOLERANCE
    # Each sample has the function that was there then: none of the first after the second.
    names = [json.loads(line)["stack"][-1]["function"] for line in
             wick.ok("export", recording.path, "--format", "samples").stdout.splitlines()]
    names = [name for name in names if name in ("jit_hot", "jit_second")]
    assert names == sorted(names) and len(set(names)) == 2
    piped = wick.ok("report", "-", "--format", "json", input=recording.path.read_bytes().decode(
        "latin-1"), encoding="latin-1").stdout
    assert json.loads(piped)["rows"] == report["rows"]


def test_code_that_a_map_names_later_counts_from_then_on(jit):
    report = jit("append", 1200).report()
    # The map has no times: wick looks at it now and then.
    assert contract.self_percent(report, "jit_hot") > 10
    assert contract.self_percent(report, "jit_second") > 10
    assert "unfinished and thrown away" not in contract.functions(report)


def test_lines_of_compiled_code_are_shown(jit):
    rows = jit("reuse", 400).report("--by", "line")["rows"]
    found = {row["name"] for row in rows}
    assert {"made.js:7", "made.js:9", "later.js:7", "later.js:9"} & found
    assert not [name for name in found if ".js:" in name
                and name not in {"made.js:7", "made.js:9", "later.js:7", "later.js:9"}]


def test_names_survive_a_merge(jit, wick):
    recording = jit("reuse", 400)
    wick.ok("merge", recording.path, "-o", "merged.wick")
    rows = wick.json("report", "merged.wick", "--format", "json")["rows"]
    assert ({row["name"]: row["self"] for row in rows}
            == {row["name"]: row["self"] for row in recording.report()["rows"]})


def test_names_are_kept_in_the_recording(jit):
    recording = jit("map", 300)
    os.unlink(f"/tmp/perf-{recording.truth['pid']}.map")
    assert_split(recording.report())


def test_a_running_process_is_asked_too(wick, background):
    process = background(workload("jit_names", "map", 20000))
    wait_for(lambda: os.path.exists(f"/tmp/perf-{process.pid}.map"), what="the map")
    try:
        wick.ok("record", "-p", process.pid, "-d", "0.5s", "-o", "attached.wick")
        report = wick.json("report", "attached.wick", "--format", "json")
        assert contract.self_percent(report, "jit_hot") > 50
    finally:
        os.unlink(f"/tmp/perf-{process.pid}.map")


@pytest.mark.parametrize("mode,reason", [
    ("link", "is a symbolic link"),
    pytest.param("other", "belongs to user 65534", marks=pytest.mark.root)])
def test_a_file_that_may_be_a_trap_is_refused_with_a_reason(jit, mode, reason):
    recording = jit(mode, 200)
    assert reason in recording.stderr
    assert "jit_hot" not in contract.functions(recording.report())


def test_without_a_list_the_memory_is_shown(jit, wick):
    recording = jit("none", 200)
    assert "compiled code" not in recording.stderr
    hint = wick.ok("report", "--missing", recording.path).stdout
    assert "node --perf-basic-prof" in hint
    assert "java -XX:+PreserveFramePointer" in hint
    assert "-X perf" not in hint, "stacks are cut at Python's trampolines"
    names = contract.functions(recording.report())
    assert [name for name in names if name.startswith("[anon]+0x")]


@pytest.mark.root
def test_the_map_is_found_by_the_pid_in_the_process_own_namespaces(wick):
    unshare = shutil.which("unshare")
    if not unshare:
        pytest.skip("no unshare")
    command = workload("jit_names", "map", 20000)
    with subprocess.Popen([unshare, "--mount", "--pid", "--fork", "--kill-child", "sh", "-c",
                           # The program may itself lie below /tmp.
                           f"exec 3<{shlex.quote(command[0])} && mount -t tmpfs tmpfs /tmp && cat <&3 >/tmp/made && "
                           f"chmod +x /tmp/made && exec /tmp/made {' '.join(command[1:])}"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as outer:
        try:
            inner = []
            wait_for(lambda: inner or inner.extend(
                pid.name for pid in pathlib.Path("/proc").glob("[0-9]*")
                if is_made_by(pid, outer.pid)), what="the program")
            wait_for(lambda: os.path.exists(f"/proc/{inner[0]}/root/tmp/perf-1.map"),
                     what="the map")
            wick.ok("record", "-p", inner[0], "-d", "0.5s", "-o", "inner.wick")
        finally:
            outer.send_signal(signal.SIGKILL)
    report = wick.json("report", "inner.wick", "--format", "json")
    assert contract.self_percent(report, "jit_hot") > 50


def is_made_by(folder, parent):
    with contextlib.suppress(OSError):
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        return int(fields[1]) == parent and os.readlink(folder / "exe") == "/tmp/made"
    return False


def test_names_with_any_bytes_come_out_safe(jit, wick):
    recording = jit("map", 300, os.fsdecode(b"a\x1b[31m;b\tc<&\"'\xff\xe2\x82z"))
    text = wick.ok("report", recording.path).stdout
    assert "\x1b" not in text and "a\\x1b[31m;b\\x09c<&\"'\ufffd" in text
    assert any(name.startswith("a\x1b[31m;b\tc<&\"'\ufffd")
               for name in contract.functions(recording.report()))
    folded = wick.ok("export", recording.path, "--format", "folded").stdout
    assert "\x1b" not in folded and "\t" not in folded
    assert all(line.rpartition(" ")[2].isdigit() for line in folded.splitlines())
    assert not any("a\\x1b[31m;b" in line for line in folded.splitlines())
    wick.ok("flame", recording.path, "-o", "flame.svg")
    xml.etree.ElementTree.parse(wick.folder / "flame.svg")
    assert b"\x1b" not in (wick.folder / "flame.svg").read_bytes()


NODE_PROGRAM = """
function hotInner(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; return s; }
const end = Date.now() + 1500; let r = 0;
while (Date.now() < end) r ^= hotInner(100000);
"""


@pytest.mark.parametrize("flag", ("--perf-basic-prof", "--perf-prof"))
def test_functions_of_node_have_names(wick, flag):
    node = shutil.which("node")
    if not node:
        pytest.skip("node is not installed")
    (wick.folder / "hot.js").write_text(NODE_PROGRAM + "console.log('{\"pid\":' + process.pid + '}');")
    recording = wick.record([node, flag, "hot.js"])
    try:
        named = sum(row["self_percent"] for name, row in
                    contract.functions(recording.report()).items() if "hotInner" in name)
        assert named > 50
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"/tmp/perf-{recording.truth['pid']}.map")

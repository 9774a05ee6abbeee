# SPDX-License-Identifier: BSD-2-Clause
"""The programs of examples/, run by the commands of examples/README.md: wick finds what is wrong with them."""
import concurrent.futures
import json
import os
import re
import subprocess

import pytest

from conftest import BUILD, LONG, ROOT, WICK
from ebpf import needs_ebpf, share_of

README = ROOT / "examples/README.md"
SHARES = {"intersect": 45, "blur_image": 30, "shade": 15, "encode_frame": 10}


def commands_of(text):
    """{first word of a heading: [commands of its console blocks]}"""
    sections = {}
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        commands = [line[2:] for body in re.findall(r"^```console\n(.*?)^```$", part, re.MULTILINE | re.DOTALL)
                    for line in body.splitlines() if line.startswith("$ ")]
        if commands:
            sections[re.match(r"\w+", part)[0]] = commands
    return sections


class Place:
    """A folder that looks like the checkout after make, with wick in the PATH."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "build").symlink_to(BUILD.resolve())
        (folder / "examples").symlink_to(ROOT / "examples")
        (folder / "bin").mkdir()
        (folder / "bin/wick").symlink_to(WICK.resolve())
        (folder / "bin/python3").symlink_to("/usr/bin/python3")
        self.environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}

    def run(self, command):
        return subprocess.run(["sh", "-c", command], cwd=self.folder, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)

    def json(self, command):
        return json.loads(self.run(f"{command} --format json").stdout)

    def folded(self, name):
        """[(frames from the root, samples)]"""
        lines = self.run(f"wick export --format folded {name}").stdout.splitlines()
        return [(stack.split(";"), int(count)) for stack, _, count in (line.rpartition(" ") for line in lines)]


@pytest.fixture(scope="module")
def place(tmp_path_factory, wick_exists):
    return Place(tmp_path_factory.mktemp("a checkout"))


@pytest.fixture(scope="module")
def done(place):
    """{section: [result of each command]}: sections run in parallel."""
    def run_section(commands):
        return [place.run(command) for command in commands]

    sections = commands_of(README.read_text(encoding="utf-8"))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return dict(zip(sections, pool.map(run_section, sections.values())))


def outputs(done, section):
    for process in done[section]:
        assert process.returncode == 0, process.stderr
    return [process.stdout for process in done[section]]


def test_every_program_is_listed(done):
    assert set(done) == {"demo", "locks", "leak", "mixed", "events"}
    text = README.read_text(encoding="utf-8")
    for path in [*(ROOT / "examples").glob("*.c"), *(ROOT / "examples").glob("*.py")]:
        assert f"]({path.name})" in text, path.name


@pytest.mark.perf
def test_the_shares_of_the_demo_are_those_of_its_loops(done, place):
    _, table, _ = outputs(done, "demo")
    rows = {row["name"]: row["self_percent"] for row in place.json("wick report demo.wick")["rows"]}
    for name, percent in SHARES.items():
        assert abs(rows[name] - percent) < 4 + percent / 5, rows
        assert name in table


@needs_ebpf
def test_all_waiting_for_the_lock_is_found_and_who_held_it(done, place):
    recorded, tree = outputs(done, "locks")
    waited_s = float(re.search(r"tellers waited ([\d.]+) s", recorded)[1])
    found = place.json("wick report --only pay_in locks.wick")["value"]
    assert found["name"] == "off-cpu"
    assert 0.9 * waited_s - 0.02 < found["total"] / 1e9 < 1.1 * waited_s + 0.02
    assert "[woken by]" in tree and "audit (locks)" in tree
    # audit() and main() sleep at one place. On a busy machine waits are summed by place, and how a sum
    # is split between callers is an estimate: what is exact is the sleep of both together.
    audit, both = (place.json(f"wick report --only {name} --ignore pay_in locks.wick")["value"]["total"]
                   for name in ("audit", "main"))
    assert both >= 0.99 * 20 * 25e6, "the auditor sleeps 20 times for 20 ms and for 5 ms"
    assert audit >= 0.9 * 20 * 20e6, "it holds the lock for 20 times 20 ms"


def test_what_was_lost_is_found_to_the_byte(done, place):
    recorded, leaks, sites = outputs(done, "leak")
    assert recorded == "lost 20000 bytes in 20 blocks, kept 800000 bytes in 200 sessions\n"
    assert re.search(r"definite .* 20 .* parse_request", leaks)
    found = {(row["class"], row["function_name"]): (row["bytes"], row["blocks"])
             for row in place.json("wick leaks --all leak.wick")["leaks"]}
    assert found["definite", "parse_request"] == (20000, 20)
    assert found["reachable", "remember_session"] == (800000, 200)
    assert re.search(r"grows steadily .* remember_session", sites)


@pytest.mark.skipif(not LONG, reason="long: runs in make test-long")
def test_what_grows_is_called_growth_in_time(place):
    place.run("wick heap --leaks -o grown.wick -- build/examples/leak 2000")
    rows = place.json("wick leaks grown.wick")["leaks"]
    assert ("growth", "remember_session") in {(row["class"], row["function_name"]) for row in rows}


@pytest.mark.perf
def test_the_time_of_python_and_of_its_c_library_are_told_apart(done, place):
    recorded, table = outputs(done, "mixed")
    assert "600 ms in C, 200 ms in Python" in recorded
    assert re.search(r"smooth +mixed\.so$", table, re.MULTILINE)
    stacks = place.folded("mixed.wick")
    assert 0.5 < share_of(stacks, lambda frames: "smooth" in frames) < 0.85
    called = [(frames, count) for frames, count in stacks if "smooth" in frames]
    assert share_of(called, lambda frames: "[truncated]" in frames) < 0.1, "stacks lead through libffi"


def test_what_a_program_tells_is_recorded(done):
    recorded, table = outputs(done, "events")
    assert recorded == "recorded\n"
    assert "query" in table

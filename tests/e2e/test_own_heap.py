# SPDX-License-Identifier: BSD-2-Clause
"""A recording that a program writes about its own heap: every command reads it."""
import gzip
import json
import subprocess

import pytest
from conftest import BUILD

EXAMPLE = BUILD / "examples/example_own_heap"
ROUNDS = 1000


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """parse allocates 100 bytes and frees them, cache keeps 16, a thousand times."""
    name = tmp_path_factory.mktemp("own") / "shop.wick"
    done = subprocess.run([EXAMPLE, name], capture_output=True, text=True, check=True)
    assert done.stdout == "1000 blocks are live, 16000 bytes, the last one of cache\n"
    return name


def test_numbers_are_exact(wick, path):
    info = wick.json("info", path, "--format", "json")
    assert info["complete"] and info["lost"] == 0
    report = wick.json("report", path, "--by", "site", "--format", "json")
    totals = report["totals"]
    assert totals["allocated"] == {"bytes": 116 * ROUNDS, "blocks": 2 * ROUNDS}
    assert totals["live"] == {"bytes": 16 * ROUNDS, "blocks": ROUNDS}
    assert totals["peak"]["bytes"] == 16 * ROUNDS + 100
    text = wick.ok("report", "--by", "site", path).stdout
    assert "cache  shop.toy:11" in text and "parse  shop.toy:10" in text


def test_stacks_are_those_that_were_written(wick, path):
    folded = wick.ok("export", "--format", "folded", "--event", "alloc_space", path).stdout.splitlines()
    assert [line.split(";", 1)[1] for line in folded] == [f"main;cache {16 * ROUNDS}", f"main;parse {100 * ROUNDS}"]


@pytest.mark.parametrize("words", [
    ["report"], ["report", "--tree"], ["report", "--by", "thread"], ["timeline"], ["leaks"],
    ["annotate", "--format", "json"], ["diff"], ["info", "--check"]], ids=" ".join)
def test_commands_read_it(wick, path, words):
    after = {"annotate": ["cache"], "diff": [path]}.get(words[0], [])
    assert wick.ok(*words, path, *after).stdout


def test_pictures_and_pages_are_made_of_it(wick, path, tmp_path):
    for command, name in (("flame", "x.svg"), ("flame", "x.html"), ("heap-report", "heap.html")):
        wick.ok(command, path, "-o", tmp_path / name)
    assert "cache" in (tmp_path / "x.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("form", ["pprof", "speedscope", "perfetto", "json", "otlp"])
def test_it_is_exported(wick, path, tmp_path, form):
    wick.ok("export", "--format", form, path, "-o", tmp_path / "out")
    data = (tmp_path / "out").read_bytes()
    assert b"cache" in (gzip.decompress(data) if form == "pprof" else data)


def test_two_are_merged_and_one_is_read_from_a_pipe(wick, path, tmp_path):
    wick.ok("merge", "-o", tmp_path / "both.wick", path, path)
    both = wick.json("report", tmp_path / "both.wick", "--by", "site", "--format", "json")["totals"]
    assert both["live"] == {"bytes": 32 * ROUNDS, "blocks": 2 * ROUNDS}
    with open(path, "rb") as file:
        piped = wick.run("report", "-", "--by", "site", "--format", "json", stdin=file)
    assert json.loads(piped.stdout)["totals"]["live"]["blocks"] == ROUNDS


def test_each_length_of_the_file_is_readable(wick, path, tmp_path):
    """As it was at any moment, or when the disk was full."""
    data = path.read_bytes()
    part = tmp_path / "part.wick"
    seen = set()
    for size in range(16, len(data), 61):
        part.write_bytes(data[:size])
        info = wick.json("info", part, "--format", "json")
        assert not info["complete"]
        seen.add(info["heap_events"])
    assert len(seen) >= 3  # nothing, the first flush, all but the end

# SPDX-License-Identifier: BSD-2-Clause
"""The heap of deterministic programs, compared with heaptrack: equal to the byte.

Known differences are excluded by name:

* heaptrack does not see memalign() and pvalloc(), and reports a block that realloc(p, 0) freed as a leak;
* its library brings libstdc++ into programs that have none, with its emergency block for exceptions;
* the block for thread-local variables of a new thread is larger by those of heaptrack's libraries;
* for us the memory of an exception that operator new itself throws belongs to operator new.
"""
import collections
import re
import shutil
import subprocess

import pytest
from conftest import workload

pytestmark = pytest.mark.skipif(not all(map(shutil.which, ("heaptrack", "heaptrack_print", "zstd"))),
                                reason="heaptrack or zstd is not installed")

COSTS = {"allocations": "alloc_objects", "leaked": "inuse_space", "peak": "peak_space"}
# Frames from here on are the program's own; those before them are shown in other ways.
ROOTS = {"main", "start_thread"}
ABSENT = {"by_memalign", "by_pvalloc", "by_realloc_to_none", "refuse", "allocate_dtv"}

SCRIPT = """create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i+1 from n where i<2000)
 insert into t select i, 'name '||(i*7919%100003), i*0.5 from n;
create index tb on t(b); update t set b=b||'x' where a%3=0; delete from t where a%5=0;
select b, count(*) from t group by b order by 2 desc, 1 limit 5;
"""


def site_of(frames):
    """A stack from main() on, in a common notation; () if it is not the program's."""
    frames = [re.sub(r" \(\S+\)$|^__GI_|\(\)$", "", frame) for frame in frames if frame]
    frames = [frame for frame in frames if not frame.startswith("operator new")]
    starts = [i for i, frame in enumerate(frames) if frame in ROOTS]
    return tuple(frames[starts[0] + 1:]) if starts else ()


def gather(pairs):
    """{site: sum}, without those that are known to differ, and those with nothing."""
    sums = collections.Counter()
    for frames, amount in pairs:
        site = site_of(frames)
        if site and not ABSENT & set(site):
            sums[site] += amount
    return {site: amount for site, amount in sums.items() if amount}


class Peer:
    """A run under heaptrack."""

    def __init__(self, folder, command):
        self.data, self.folded = folder / "peer.zst", folder / "peer.folded"
        subprocess.run(["heaptrack", "-o", str(self.data.with_suffix("")), *command], capture_output=True,
                       check=True, cwd=folder)

    def stacks(self, cost):
        subprocess.run(["heaptrack_print", "-f", str(self.data), "-p0", "-a0", "-T0", "--disable-builtin-suppressions",
                        "--flamegraph-cost-type", cost, "-F", str(self.folded)], capture_output=True, check=True)
        for line in self.folded.read_text().splitlines():
            stack, _, amount = line.rpartition(" ")
            yield stack.split(";"), int(amount)

    def bytes_of_sizes(self):
        """The total allocated: heaptrack_print does not print it per site, its data has it for all."""
        text = subprocess.run(["zstd", "-dc", str(self.data)], capture_output=True, text=True, check=True).stdout
        sizes = [int(line.split()[1], 16) for line in text.splitlines() if line.startswith("a ")]
        return sum(sizes[int(line.split()[1], 16)] for line in text.splitlines() if line.startswith("+ "))

    def strangers(self):
        """(blocks, bytes, bytes at the peak) of libstdc++ in a program that has none: its first block."""
        first = next(iter(self.stacks("peak")))
        return (1, first[1], first[1]) if first[0][1].startswith("_dl_init") else (0, 0, 0)


class Ours:
    """The same under wick."""

    def __init__(self, wick, command):
        self.wick, self.path = wick, wick.new_path()
        wick.ok("heap", "-q", "-o", self.path, "--", *command)

    def stacks(self, value):
        for line in self.wick.ok("export", self.path, "--format", "folded", "--event", value).stdout.splitlines():
            stack, _, amount = line.rpartition(" ")
            yield stack.split(";"), int(amount)

    def totals(self):
        return self.wick.json("report", self.path, "--by", "site", "--format", "json")["totals"]


@pytest.mark.parametrize("arguments", [("calls",), ("peak",), ("paths",), ("threads", 40), ("across",), None],
                         ids=lambda value: value[0] if value else "C++")
def test_sites_are_those_of_heaptrack(wick, arguments):
    """How often each stack allocated, what it left, and what it held at the peak."""
    command = workload("blocks", *arguments) if arguments else workload("news")
    ours, peer = Ours(wick, command), Peer(wick.folder, command)
    for cost, value in COSTS.items():
        if cost == "peak" and arguments == ("calls",):
            continue  # what is absent decides when it was
        expected = gather(peer.stacks(cost))
        assert gather(ours.stacks(value)) == expected, cost
        assert expected or cost != "allocations"


@pytest.mark.skipif(not shutil.which("sqlite3"), reason="needs sqlite3")
def test_the_sums_of_a_real_program_are_those_of_heaptrack(wick):
    script = wick.folder / "script.sql"
    script.write_text(SCRIPT)
    command = ["sqlite3", ":memory:", f".read '{script}'"]
    totals, peer = Ours(wick, command).totals(), Peer(wick.folder, command)
    blocks, size, peak = peer.strangers()
    told = {cost: sum(amount for _, amount in peer.stacks(cost)) for cost in COSTS}
    assert totals["allocated"] == {"bytes": peer.bytes_of_sizes() - size, "blocks": told["allocations"] - blocks}
    assert totals["live"]["bytes"] == told["leaked"]
    assert totals["peak"]["bytes"] == told["peak"] - peak
    assert totals["allocated"]["blocks"] > 10000

# SPDX-License-Identifier: BSD-2-Clause
"""What recording the heap costs, against heaptrack in the same rounds."""
import glob
import json
import re
import shutil

STORMS = (("shallow", 1, 1, 50, 130), ("20 frames", 20, 1, 120, 220),
          ("20 frames, 2 threads", 20, 2, None, None), ("20 frames, 4 threads", 20, 4, None, None))

SCRIPT = """create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i+1 from n where i<{rows})
 insert into t select i, 'name '||(i*7919%100003), i*0.5 from n;
create index tb on t(b);
select count(*), sum(length(b)) from t where b like 'name 1%';
select b, count(*) from t group by b order by 2 desc limit 5;
select sum(x.c) from t x join t y on x.a=y.a+1 where y.b>'name 5';
update t set b=b||'x' where a%3=0;
delete from t where a%5=0;
"""


def heaptrack():
    """The library that it preloads, or None."""
    found = glob.glob("/usr/lib/heaptrack/libheaptrack_preload.so*") + \
        glob.glob("/usr/lib/*/heaptrack/libheaptrack_preload.so*")
    return found[0] if found else None


def sides(wick, recording, raw):
    """{side: what stands before a command}: ours, nothing, and the peer's preloaded library alone."""
    ways = {"bare": [], "wick": [wick, "heap", "-q", "-o", recording, "--"]}
    if heaptrack():
        ways["peer"] = ["env", f"LD_PRELOAD={heaptrack()}", f"DUMP_HEAPTRACK_OUTPUT={raw}"]
    return ways


def rounds(run, ways, command, count):
    """{side: [Run]}, the order turned each round."""
    runs = {name: [] for name in ways}
    order = list(ways)
    for i in range(count):
        for name in order[i % len(order):] + order[:i % len(order)]:
            runs[name].append(run([*ways[name], *command]))
    return runs


def summary(run, wick, recording, command):
    """A run that ends with the summary, which takes some time of its own."""
    return run([wick, "heap", "-o", recording, "--", *command])


def told_us(done):
    return json.loads([line for line in done.stdout.splitlines() if line.startswith("{")][-1])["cpu_us"]


def events(done):
    """(events, lost, bytes an event) of a summary."""
    found = re.search(r"events +(\d+) allocations and frees, (\d+) lost", done.stderr)
    size = re.search(r"([\d.]+) bytes an event", done.stderr)
    return int(found[1]), int(found[2]), float(size[1]) if size else 0.0


def recorder_seconds(done):
    """What a summary says that the recorder took; 0 without one."""
    found = re.search(r"recorder ([\d.]+) s of CPU", done.stderr)
    return float(found[1]) if found else 0.0


def has_sqlite():
    return shutil.which("sqlite3") is not None

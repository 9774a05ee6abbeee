# SPDX-License-Identifier: BSD-2-Clause
"""Measures what recording the heap costs, compared with heaptrack in the same rounds, and with DHAT."""
import glob
import json
import re
import shutil
import statistics

NONE = "–"
# What, frames, threads, goal for the target in times of heaptrack, goal for all in ns.
STORMS = (("shallow", 1, 1, 0.14, 130), ("20 frames", 20, 1, 0.14, 200),
          ("20 frames, 2 threads", 20, 2, None, None), ("20 frames, 4 threads", 20, 4, None, None))
THREADS_GOAL = 1.3
# CPU compared with a plain run: of the program, and with the recorder.
PROGRAM_GOALS = {"sqlite3": (1.12, 1.3), "python3, json": (1.3, None), "cc1": (1.35, None)}
SAMPLED_GOAL = 1.02
BYTES_GOAL = 1.7
MEMORY_GOAL_MB = 6
MEMORY_GOAL_BYTES = 40  # a live block
LIVE_BLOCKS = 1000000
SAMPLED_RUNS = 200
ROUNDS_OF_LIVES = 9

SQL = """create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i+1 from n where i<{rows})
 insert into t select i, 'name '||(i*7919%100003), i*0.5 from n;
create index tb on t(b);
select count(*), sum(length(b)) from t where b like 'name 1%';
select b, count(*) from t group by b order by 2 desc limit 5;
select sum(x.c) from t x join t y on x.a=y.a+1 where y.b>'name 5';
update t set b=b||'x' where a%3=0;
delete from t where a%5=0;
"""
# Each object of it is a block: PYTHONMALLOC=malloc.
JSON = """import json
things = [{{"name": "item %d" % i, "values": [i, i * 2.5, str(i)], "tags": {{"even": i % 2 == 0}}}} for i in range({rows})]
for _ in range(3):
    things = json.loads(json.dumps(things))
print(len(things))
"""


def heaptrack():
    """The library that heaptrack preloads, or None."""
    found = glob.glob("/usr/lib/heaptrack/libheaptrack_preload.so*") + \
        glob.glob("/usr/lib/*/heaptrack/libheaptrack_preload.so*")
    return found[0] if found else None


def told(done):
    return json.loads([line for line in done.stdout.splitlines() if line.startswith("{")][-1])


def events(done):
    """(events, lost, bytes per event) of a summary."""
    found = re.search(r"events +(\d+) allocations and frees, (\d+) lost", done.stderr)
    size = re.search(r"([\d.]+) bytes (?:an|per) event", done.stderr)
    return int(found[1]), int(found[2]), float(size[1]) if size else 0.0


def recorder(done):
    """(seconds of CPU, MB) of the recorder, from a summary."""
    found = re.search(r"recorder ([\d.]+) s of CPU, ([\d.]+) MB", done.stderr)
    return (float(found[1]), float(found[2])) if found else (0.0, 0.0)


def c_source(functions):
    """A file that keeps a compiler busy, the same one every time."""
    parts = ["static int f0(int a, int b) { return a + b; }"]
    parts += [f"static int f{n}(int a, int b) {{ int s = {n}; for (int i = 0; i < a; i++) s = s * 31 + (b ^ i) % {n + 2};"
              f" if (s > {n}) return s - f{n - 1}(a / 2, s & 7); return s; }}" for n in range(1, functions)]
    return "\n".join(parts) + f"\nint use(void) {{ return f{functions - 1}(40, 3); }}\n"


class Heap:
    """Makes the rows. bench has the options and folders; run() and Row are shared by all measurements."""

    def __init__(self, bench, run, row):
        self.bench, self.run, self.row = bench, run, row
        self.wick, self.data = bench.wick, bench.wick_data
        self.quick = bench.options.quick

    def rows(self):
        rows, target = [], {}
        for what, depth, threads, goal, whole_goal in STORMS:
            more, target[depth, threads] = self.storm(what, depth, threads, goal, whole_goal)
            rows += more
        one, four = target[20, 1], target[20, 4]
        rows.append(self.row("heap, 20 frames: target's CPU per pair, 4 threads compared with 1",
                             f"×{four['bare'] / one['bare']:.2f} (plain)", f"×{four['wick'] / one['wick']:.2f}", NONE,
                             f"≤ ×{THREADS_GOAL}", four["wick"] / one["wick"] <= THREADS_GOAL))
        for what, (command, variables) in self.programs().items():
            rows += self.program(what, command, variables)
        return rows + self.memory() + self.sampled() + self.lives()

    # In turns

    def sides(self, variables, sampled):
        """{side: prefix of a command}: nothing, wick, and only the peer's preloaded library."""
        env = ["env", *variables] if variables else []
        ours = [*env, self.wick, "heap", "-q", "-o", self.data]
        ways = {"bare": env, "wick": [*ours, "--"]}
        if sampled:
            ways["sampled"] = [*ours, "--sample", "512K", "--"]
        if heaptrack():  # which records the first program only: env comes before it
            raw = self.bench.folder / "heaptrack.raw"
            ways["peer"] = ["env", *variables, f"LD_PRELOAD={heaptrack()}", f"DUMP_HEAPTRACK_OUTPUT={raw}"]
        return ways

    def rounds(self, command, variables=(), sampled=False):
        """{side: [Run]}, in an order that rotates each round."""
        ways = self.sides(variables, sampled)
        runs = {name: [] for name in ways}
        order = list(ways)
        for i in range(self.bench.options.rounds):
            for name in order[i % len(order):] + order[:i % len(order)]:
                runs[name].append(self.run([*ways[name], *command]))
        return runs

    def summary(self, command, *options, variables=()):
        """A run that ends with the summary, which itself takes some time."""
        return self.run(["env", *variables, self.wick, "heap", "-o", self.data, *options, "--", *command])

    # What is added to pairs of malloc() and free()

    def storm(self, what, depth, threads, goal, whole_goal_ns):
        """Rows, and {side: CPU of the target per pair in ns}."""
        pairs = 200000 if self.quick else 1000000
        storm = self.bench.build / "bench/storm"
        command = [storm, pairs, depth, threads]
        runs = self.rounds(command)
        cpu = {side: statistics.median(1000 * told(one)["cpu_us"] / pairs for one in done)
               for side, done in runs.items()}
        wall = {side: statistics.median(one.wall for one in done) for side, done in runs.items()}
        seen = self.summary(command)
        count, lost, _ = events(seen)
        around, _, _ = events(self.summary([storm, 0, depth, threads]))  # of the program itself
        exact = count - around == 2 * pairs and lost == 0
        own = recorder(seen)[0]
        added, whole = cpu["wick"] - cpu["bare"], cpu["wick"] - cpu["bare"] + 1e9 * own / pairs
        peer = cpu["peer"] - cpu["bare"] if "peer" in cpu else None
        found = f"{'all' if exact else '**NOT EXACT**:'} {count} events, {lost} lost"
        return [self.row(f"heap, {what}: added to a pair", f"{peer:.0f} ns (heaptrack)" if peer else NONE,
                         f"{added:.0f} ns; {found}",
                         f"×{added / peer:.2f}" if peer else NONE, f"≤ {goal} × heaptrack" if goal else NONE,
                         added <= goal * peer and exact if goal and peer else None),
                self.row(f"heap, {what}: with the recorder", f"wall {wall['peer']:.2f} s" if peer else NONE,
                         f"{whole:.0f} ns; {recorder_text(own, wall)}", NONE,
                         f"≤ {whole_goal_ns} ns" if whole_goal_ns else NONE,
                         whole <= whole_goal_ns if whole_goal_ns else None)], cpu

    # Real programs

    def programs(self):
        """{what: (command, variables)} of those that are installed."""
        found, folder, scale = {}, self.bench.folder, 10 if self.quick else 1
        if shutil.which("sqlite3"):
            (folder / "heap.sql").write_text(SQL.format(rows=150000 // scale))
            found["sqlite3"] = ["sqlite3", ":memory:", f".read '{folder / 'heap.sql'}'"], ()
        (folder / "heap.py").write_text(JSON.format(rows=20000 // scale))
        found["python3, json"] = ["/usr/bin/python3", "-S", folder / "heap.py"], ("PYTHONMALLOC=malloc", "PYTHONHASHSEED=0")
        if shutil.which("gcc"):
            compiler = self.run(["gcc", "-print-prog-name=cc1"]).stdout.strip()
            (folder / "heap.i").write_text(c_source(300 // scale))
            found["cc1"] = [compiler, "-quiet", "-O2", folder / "heap.i", "-o", "/dev/null"], ()
        return found

    def program(self, what, command, variables):
        runs = self.rounds(command, variables, sampled=True)
        cpu = {side: statistics.median(one.cpu for one in done) for side, done in runs.items()}
        wall = {side: statistics.median(one.wall for one in done) for side, done in runs.items()}
        seen, again = (self.summary(command, variables=variables) for _ in range(2))
        count, lost, size = events(seen)
        same = "twice the same" if events(again)[0] == count else f"then {events(again)[0]}"
        own = statistics.median((recorder(seen)[0], recorder(again)[0]))
        few = recorder(self.summary(command, "--sample", "512K", variables=variables))[0]
        times, whole = (cpu["wick"] - own) / cpu["bare"], cpu["wick"] / cpu["bare"]
        part = (cpu["sampled"] - few) / cpu["bare"]
        most, most_whole = PROGRAM_GOALS[what]
        peer = f"×{cpu['peer'] / cpu['bare']:.2f} (heaptrack)" if "peer" in cpu else NONE
        return [self.row(f"heap, {what}: its CPU", peer, f"×{times:.2f}; {count} events, {same}, {lost} lost", NONE,
                         f"≤ ×{most}", times <= most),
                self.row(f"heap, {what}: with the recorder", NONE, f"×{whole:.2f}; {recorder_text(own, wall)}", NONE,
                         f"≤ ×{most_whole}" if most_whole else NONE, whole <= most_whole if most_whole else None),
                self.row(f"heap, {what}: bytes per event", NONE, f"{size:.2f}", NONE, f"≤ {BYTES_GOAL}", 0 < size <= BYTES_GOAL),
                self.row(f"heap, {what}: its CPU, sampled at 512 KB", NONE, f"×{part:.3f}", NONE, f"≤ ×{SAMPLED_GOAL}",
                         part <= SAMPLED_GOAL)]

    # Memory

    def memory(self):
        """How much the program's own memory grows, rings included, and what the recorder uses."""
        rows = []
        live = LIVE_BLOCKS // 10 if self.quick else LIVE_BLOCKS
        for what, held in (("1 thread", 64), (f"{live:,} live blocks", live)):
            command = [self.bench.build / "bench/storm", live * 2, 20, 1, held]
            bare = statistics.median(told(self.run(command))["peak_kb"] for _ in range(3))
            seen = [self.summary(command) for _ in range(3)]
            more = (statistics.median(told(one)["peak_kb"] for one in seen) - bare) / 1024
            goal = MEMORY_GOAL_MB + held * MEMORY_GOAL_BYTES / 1e6
            rows.append(self.row(f"heap, {what}: memory added", NONE,
                                 f"{more:.1f} MB on top of {bare / 1024:.0f} MB; the recorder uses {recorder(seen[0])[1]:.0f} MB",
                                 NONE, f"≤ {goal:.0f} MB", more <= goal))
        return rows

    # Samples, and lifetimes

    def report(self):
        return json.loads(self.run([self.wick, "report", self.data, "--by", "site", "--format", "json"]).stdout)

    def sampled(self):
        """How often the sum of a sample is within twice its standard error of the true value."""
        runs = 20 if self.quick else SAMPLED_RUNS
        command = [self.bench.build / "tests/workloads/blocks", "paths"]
        within = 0
        for _ in range(runs):
            done = self.run([self.wick, "heap", "-q", "--sample", "64K", "-o", self.data, "--", *command])
            totals, truth = self.report()["totals"], told(done)["at_the_end"]
            within += abs(totals["allocated"]["bytes"] - truth["bytes"]) <= 2 * totals["allocated_error"]["bytes"]
        chance = 2 * (runs * 0.95 * 0.05) ** 0.5
        return [self.row(f"heap, sampled: runs of {runs} with sums within twice their standard error", NONE, f"{within}",
                         NONE, f"95 % ± {chance:.0f} runs", within >= 0.95 * runs - chance)]

    def lives(self):
        """The shares of three sites in all lifetimes; DHAT counts lifetimes in instructions."""
        command = [self.bench.build / "tests/workloads/blocks", "lives"]
        if not shutil.which("valgrind") or not shutil.which("chrt"):
            return [self.row("heap: lifetimes against DHAT", NONE, "no valgrind", NONE, NONE, None)]
        path = self.bench.folder / "dhat.json"
        self.run(["valgrind", "-q", "--tool=dhat", f"--dhat-out-file={path}", *command])
        data = json.loads(path.read_text())
        names = [{name for name in ("short_life", "middle_life", "long_life")
                  if any(name in data["ftbl"][at] for at in point["fs"])} for point in data["pps"]]
        peer = shares({name.pop(): point["tl"] for name, point in zip(names, data["pps"]) if name})
        ours = {name: [] for name in peer}
        for _ in range(ROUNDS_OF_LIVES):
            # Nobody may come in between: time is not counted in instructions.
            done = self.run([self.wick, "heap", "-q", "-o", self.data, "--", "chrt", "-f", 50, *command], check=False)
            if done.status != 0:
                return [self.row("heap: lifetimes against DHAT", NONE, "needs root", NONE, NONE, None)]
            rows = {row["function_name"]: row for row in self.report()["rows"]}
            for name, share in shares({name: rows[name]["lifetime_mean_ns"] * rows[name]["freed_blocks"]
                                       for name in peer}).items():
                ours[name].append(share)
        worst = max(abs(statistics.median(ours[name]) / peer[name] - 1) for name in peer)
        return [self.row("heap: lifetimes of three sites compared with DHAT, largest difference", NONE,
                         f"{100 * worst:.2f} %", NONE, "≤ 1 %", worst <= 0.01)]


def recorder_text(cpu_s, wall):
    return f"its CPU {cpu_s:.2f} s, wall {wall['bare']:.2f} → {wall['wick']:.2f} s"


def shares(values):
    return {name: value / sum(values.values()) for name, value in values.items()}

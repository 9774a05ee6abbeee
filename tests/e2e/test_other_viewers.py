# SPDX-License-Identifier: BSD-2-Clause
"""Files for profiler.firefox.com, ui.perfetto.dev and OpenTelemetry: every reference is valid,
and the samples are those of the recording."""
import json
import subprocess

import pprof
import pytest
from conftest import ROOT, WICK, workload
from pprof import message, packed

OLD = ROOT / "tests/golden/recording-v1.wick"
HOSTILE = "</script>\"'\\ caf\u00e9 \u202e;" + "x" * 5000


def export(path, name, *options):
    done = subprocess.run([str(WICK), "export", "--format", name, *options, str(path)],
                          capture_output=True, check=True, timeout=60)
    return done.stdout


def samples_of(path, *options):
    """[(tid, time, weight, functions)] in the order of time."""
    samples = map(json.loads, export(path, "samples", *options).decode().splitlines())
    return sorted((s["tid"], s["time_ns"], s["weight"], tuple(f["function"] for f in s["stack"]))
                  for s in samples)


def hostile_file(tmp_path):
    """Names, labels and values that every format must handle."""
    writer = pprof.Writer()
    writer.function(1, HOSTILE)
    writer.function(2, "leaf")
    writer.function(3, "")
    writer.sample([2, 1], 7, {"request": HOSTILE, "thread.id": "not ours", "size": (12, "bytes")})
    writer.sample([3, 1], 5, {"tid": 9, "thread": "\u202eworker"})
    path = tmp_path / "hostile.pb"
    path.write_bytes(writer.data())
    return path


# Firefox Profiler

COLUMNS = {
    "stackTable": {"frame", "prefix"},
    "frameTable": {"address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol",
                   "innerWindowID", "line", "column"},
    "funcTable": {"name", "isJS", "relevantForJS", "resource", "source", "lineNumber",
                  "columnNumber"},
    "resourceTable": {"lib", "name", "host", "type"},
    "nativeSymbols": {"libIndex", "address", "name", "functionSize"},
    "sources": {"uuid", "filename"},
}


class Firefox:
    """A processed profile with all references resolved."""

    def __init__(self, data):
        self.document = json.loads(data)
        assert set(self.document) == {"meta", "libs", "shared", "threads"}
        self.meta = self.document["meta"]
        assert self.meta["preprocessedProfileVersion"] == 60
        assert [c["color"] for c in self.meta["categories"]].count("grey") == 1
        assert all(c["subcategories"] == ["Other"] for c in self.meta["categories"])
        self.shared = shared = self.document["shared"]
        for name, columns in COLUMNS.items():
            assert set(shared[name]) == columns | {"length"}
            assert all(len(shared[name][c]) == shared[name]["length"] for c in columns), name
        self.names = [shared["stringArray"][i] for i in shared["funcTable"]["name"]]
        frames, functions = shared["frameTable"], shared["funcTable"]
        assert all(0 <= f < functions["length"] for f in frames["func"])
        assert all(0 <= c < len(self.meta["categories"]) for c in frames["category"])
        assert all(-1 <= r < shared["resourceTable"]["length"] for r in functions["resource"])
        assert all(s is None or 0 <= s < shared["sources"]["length"] for s in functions["source"])
        assert all(0 <= lib < len(self.document["libs"]) for lib in shared["resourceTable"]["lib"])
        for at, prefix in enumerate(shared["stackTable"]["prefix"]):
            assert prefix is None or 0 <= prefix < at

    def stack(self, at):
        names = []
        while at is not None:
            frame = self.shared["stackTable"]["frame"][at]
            names.append(self.names[self.shared["frameTable"]["func"][frame]])
            at = self.shared["stackTable"]["prefix"][at]
        return tuple(reversed(names))

    def samples(self):
        """[(tid, time in ms, weight, functions)] by thread."""
        result = []
        for thread in self.document["threads"]:
            table = thread["samples"]
            for column in ("stack", "time", "weight"):
                assert len(table[column]) == table["length"] > 0
            assert table["time"] == sorted(table["time"])
            assert isinstance(thread["pid"], str)
            result += zip([thread["tid"]] * table["length"], table["time"], table["weight"],
                          map(self.stack, table["stack"]))
        return result


def test_firefox_has_every_sample_of_every_thread(wick):
    profile = Firefox(export(OLD, "firefox"))
    expected = samples_of(OLD)
    got = profile.samples()
    assert sorted((tid, stack) for tid, _, _, stack in got) == sorted(
        (tid, stack) for tid, _, _, stack in expected)
    assert {t["samples"]["weightType"] for t in profile.document["threads"]} == {"tracing-ms"}
    assert round(sum(weight for _, _, weight, _ in got) * 1e6) == sum(s[2] for s in expected)
    for thread in profile.document["threads"]:  # the busy graph is drawn of these
        assert thread["samples"]["threadCPUDelta"] == [
            round(w * 1e6) for w in thread["samples"]["weight"]]


def test_firefox_leaves_out_what_filters_leave_out(wick, tmp_path):
    path = tmp_path / "x.folded"
    path.write_text("app;main;hot 90\napp;main;cold 10\n")
    profile = Firefox(export(path, "firefox", "--only", "hot"))
    assert profile.names == ["main", "hot"]
    assert [(weight, stack) for _, _, weight, stack in profile.samples()] == [(90, ("main", "hot"))]
    assert profile.document["threads"][0]["samples"]["weightType"] == "samples"
    nothing = Firefox(export(path, "firefox", "--only", "no such function"))
    assert nothing.document["threads"] == []


def test_firefox_takes_hostile_names(wick, tmp_path):
    profile = Firefox(export(hostile_file(tmp_path), "firefox"))
    assert sorted(stack for *_, stack in profile.samples()) == [(HOSTILE, ""), (HOSTILE, "leaf")]


# Perfetto

PACKET, FRAMES, CALLSTACKS, MAPPINGS = 1, 6, 7, 19
FUNCTION_NAMES, BUILD_IDS, PATHS, SOURCES = 5, 16, 17, 18


class Perfetto:
    """A trace read packet by packet, like its viewer: nothing is used before it is defined."""

    def __init__(self, data):
        self.interned = {field: {} for field in (FRAMES, CALLSTACKS, MAPPINGS, FUNCTION_NAMES,
                                                 BUILD_IDS, PATHS, SOURCES)}
        self.threads, self.samples, self.clocks, self.tracks, self.dumps = {}, [], [], [], []
        cleared = False
        top = message(data)
        assert set(top) <= {PACKET}
        for packet in map(message, top.get(PACKET, [])):
            if packet[10] == [2]:  # counters and slices are in another
                self.tracks.append(packet)
                continue
            assert packet[10] == [1]
            flags = packet.get(13, [0])[0]
            cleared = cleared or flags == 1
            assert flags != 2 or cleared
            if 12 in packet:
                self.intern(message(packet[12][0]))
            if 2 in packet:
                self.name(message(packet[2][0]))
            if 6 in packet:
                self.clocks = [message(clock) for clock in message(packet[6][0])[1]]
            if 66 in packet:
                assert flags == 2
                self.sample(packet[8][0], message(packet[66][0]))
            if 37 in packet:
                assert flags == 2
                self.dumps += map(message, message(packet[37][0])[5])

    def stack(self, iid):
        return tuple(map(self.function, packed(self.interned[CALLSTACKS][iid][2])))

    def intern(self, data):
        for field, items in data.items():
            for item in map(message, items):
                assert item[1][0] > 0 and item[1][0] not in self.interned[field]
                self.interned[field][item[1][0]] = item

    def name(self, tree):
        process, thread = message(tree[1][0]), message(tree[2][0])
        assert thread[3] == process[1]
        self.threads[thread[1][0]] = (process[1][0], process[3][0].decode(), thread[2][0].decode())

    def function(self, iid):
        frame = self.interned[FRAMES][iid]
        mapping = self.interned[MAPPINGS][frame[3][0]]
        assert 4 in frame  # an address goes with a mapping
        assert mapping[2][0] in self.interned[BUILD_IDS] and mapping[7][0] in self.interned[PATHS]
        assert 5 not in frame or frame[5][0] in self.interned[SOURCES]
        return self.interned[FUNCTION_NAMES][frame[2][0]][2][0].decode()

    def sample(self, time_ns, parts):
        tid = parts[3][0]
        assert self.threads[tid][0] == parts[2][0]
        frames = packed(self.interned[CALLSTACKS][parts[4][0]][2]) if 4 in parts else []
        self.samples.append((tid, time_ns, tuple(map(self.function, frames))))


def test_perfetto_has_every_sample_of_every_thread(wick):
    trace = Perfetto(export(OLD, "perfetto"))
    assert sorted(trace.samples) == [(tid, time, stack) for tid, time, _, stack in samples_of(OLD)]
    assert {clock[1][0] for clock in trace.clocks} == {1, 6}
    assert {name for _, _, name in trace.threads.values()} == {"main", "pool"}


def test_perfetto_takes_hostile_names_and_threads_without_ids(wick, tmp_path):
    trace = Perfetto(export(hostile_file(tmp_path), "perfetto"))
    assert sorted(stack for *_, stack in trace.samples) == [(HOSTILE, ""), (HOSTILE, "leaf")]
    assert len(trace.threads) == 2 and 0 not in trace.threads
    assert "\u202eworker" in {name for *_, name in trace.threads.values()}


def test_perfetto_has_the_heap_of_each_process_once_for_each_stack(wick, tmp_path):
    path = tmp_path / "heap.wick"
    wick.ok("heap", "-q", "-o", path, "--", *workload("blocks", "peak"))
    trace = Perfetto(export(path, "perfetto"))
    totals = wick.json("report", path, "--by", "site", "--format", "json")["totals"]
    (dump,) = trace.dumps
    rows = list(map(message, dump[2]))
    stacks = [trace.stack(row[1][0]) for row in rows]
    assert dump[1][0] in {pid for pid, *_ in trace.threads.values()} and dump[11] == [b"heap"]
    assert len(set(row[1][0] for row in rows)) == len(rows)
    assert any("main" in stack for stack in stacks)
    assert sum(row[2][0] for row in rows) == totals["allocated"]["bytes"]
    assert sum(row.get(3, [0])[0] for row in rows) == totals["freed"]["bytes"]
    assert sum(row[5][0] for row in rows) == totals["allocated"]["blocks"]
    levels = [message(packet[11][0])[30][0] for packet in trace.tracks if 11 in packet]
    assert max(levels) >= totals["peak"]["bytes"]
    assert {clock[1][0] for clock in trace.clocks} == {1, 6}


# OpenTelemetry


class Otlp:
    """ProfilesData with all references resolved."""

    def __init__(self, data):
        top = message(data)
        assert set(top) == {1, 2} and len(top[2]) == 1
        tables = message(top[2][0])
        assert set(tables) == {1, 2, 3, 4, 5, 6, 7}
        for table in (1, 2, 3, 5, 6, 7):
            assert tables[table][0] == b""  # item 0 is none
        assert message(tables[4][0]) == {1: [bytes(16)], 2: [bytes(8)]}
        self.strings = [text.decode() for text in tables[5]]
        for table in (2, 3, 5, 6, 7):
            assert len(set(tables[table])) == len(tables[table]), f"table {table} has doubles"
        self.attributes = [self._attribute(message(a)) for a in tables[6]]
        self.functions = [self.strings[m.get(1, [0])[0]] for m in map(message, tables[3])]
        self.mappings = [self._mapping(message(m)) for m in tables[1]]
        self.locations = [self._location(message(m)) for m in tables[2]]
        self.stacks = [packed(message(m).get(1, [])) for m in tables[7]]
        (resource,) = map(message, top[1])
        (scope,) = map(message, resource[2])
        self.scope = message(scope[1][0])
        self.seen = set()
        self.profiles = [self._profile(message(p)) for p in scope[2]]
        assert self.seen | {0} == set(range(len(self.stacks))), "stacks that no sample has"

    def _attribute(self, parts):
        if not parts:
            return None
        (kind, (value,)), = message(parts[2][0]).items()
        assert kind in (1, 3)
        return self.strings[parts[1][0]], value.decode() if kind == 1 else value

    def _attributes(self, values):
        pairs = [self.attributes[i] for i in packed(values)]
        assert len({key for key, _ in pairs}) == len(pairs)
        return dict(pairs)

    def _mapping(self, parts):
        return self.strings[parts.get(4, [0])[0]], self._attributes(parts.get(5, []))

    def _location(self, parts):
        assert parts.get(1, [0])[0] < len(self.mappings)
        self._attributes(parts.get(4, []))
        return [self.functions[message(line)[1][0]] for line in parts.get(3, [])]

    def _value_type(self, data):
        parts = message(data)
        return self.strings[parts[1][0]], self.strings[parts[2][0]]

    def _profile(self, parts):
        samples = []
        for sample in map(message, parts.get(2, [])):
            self.seen.add(sample.get(1, [0])[0])
            stack = [name for location in self.stacks[sample.get(1, [0])[0]]
                     for name in self.locations[location]]
            (value,) = packed(sample[4])
            samples.append((tuple(stack[::-1]), value, self._attributes(sample[2])))
        return {"type": self._value_type(parts[1][0]), "samples": samples,
                "time": parts.get(3, [0])[0], "duration": parts.get(4, [0])[0]}


def test_otlp_has_a_profile_for_each_value(wick):
    data = Otlp(export(OLD, "otlp"))
    other = pprof.Profile(export(OLD, "pprof"))
    assert data.scope[1] == [b"wick"]
    assert [p["type"] for p in data.profiles] == [("cpu", "nanoseconds"), ("samples", "count"),
                                                  ("faults", "count")]
    assert {p["time"] for p in data.profiles} == {other.time_ns}
    assert {p["duration"] for p in data.profiles} == {other.duration_ns}
    for profile, value in zip(data.profiles, (1, 0, 2)):
        got = sorted((stack, count, a["thread.id"], a["process.pid"], a["thread.name"])
                     for stack, count, a in profile["samples"])
        assert got == sorted((tuple(stack), values[value], labels["tid"], labels["pid"],
                              labels["thread"]) for stack, values, labels in other.samples
                             if values[value])
    assert ("/usr/bin/shop", {"process.executable.build_id.gnu": "01020304"}) in data.mappings


def test_otlp_takes_hostile_names_and_labels(wick, tmp_path):
    data = Otlp(export(hostile_file(tmp_path), "otlp"))
    (profile,) = data.profiles
    samples = {count: (stack, attributes) for stack, count, attributes in profile["samples"]}
    assert samples[7][0] == (HOSTILE, "leaf") and samples[5][0] == (HOSTILE, "[unnamed]")
    assert samples[7][1]["request"] == HOSTILE and samples[7][1]["size"] == "12 bytes"
    assert samples[7][1]["thread.id"] == 0 and samples[5][1]["thread.id"] == 9


def test_otlp_has_a_resource_for_each_service_and_release(wick, tmp_path):
    writer = pprof.Writer()
    writer.stack(["main", "a"], [7], {"service": "shop", "release": "v1", "request": "x"})
    writer.stack(["main", "b"], [5], {"service": "shop", "release": "v1", "request": "y"})
    writer.stack(["main", "a"], [3], {"service": "shop", "release": "v2"})
    writer.stack(["main", "a"], [2])
    path = tmp_path / "services.pb"
    path.write_bytes(writer.data())
    top = message(export(path, "otlp"))
    found = []
    for resource in map(message, top[1]):
        pairs = message(resource[1][0])[1] if 1 in resource else []
        attributes = {pair[1][0].decode(): message(pair[2][0])[1][0].decode() for pair in map(message, pairs)}
        profiles = map(message, message(resource[2][0])[2])
        values = [packed(message(sample)[4])[0] for profile in profiles for sample in profile[2]]
        found.append((attributes.get("service.name"), attributes.get("service.version"), sorted(values)))
    assert found == [("shop", "v1", [5, 7]), ("shop", "v2", [3]), (None, None, [2])]
    # And back: attributes of resources are labels again.
    (tmp_path / "services.otlp").write_bytes(export(path, "otlp"))
    again = pprof.Profile(export(tmp_path / "services.otlp", "pprof", "--label", "release=v1"))
    assert sorted(values[0] for _, values, _ in again.samples) == [5, 7]


@pytest.mark.parametrize("name", ("firefox", "perfetto", "otlp"))
def test_files_are_the_same_every_time(wick, name):
    assert export(OLD, name) == export(OLD, name)

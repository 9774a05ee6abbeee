# SPDX-License-Identifier: BSD-2-Clause
"""wick agent --push-as: windows reach servers of other projects, with the same sums."""
import collections
import gzip
import http.server
import os
import signal
import threading
import time
import urllib.parse

import contract
import pprof
import pytest
from conftest import LONG, PATIENCE, workload
from test_server import LIBRARY
from test_server import Server as WickServer
from test_web_api import Stream

pytestmark = [pytest.mark.perf, pytest.mark.root]
STEADY = ("--breaker", "off", "--overhead", "off", "--max-memory", "off")
FORMATS = ("pyroscope", "pyroscope-ingest", "otlp")


class Sink(http.server.ThreadingHTTPServer):
    """Keeps the requests it receives. `plan` has the statuses of the first answers."""

    daemon_threads = True

    def __init__(self):
        self.plan = []
        self.requests = []  # (path, headers, body) of those that were answered with 200
        self.answer = b""
        super().__init__(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05})
        self.thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = self.server.plan.pop(0) if self.server.plan else 200
        if status == 200:
            self.server.requests.append((self.path, dict(self.headers.items()), body))
        answer = self.server.answer if status == 200 else b"not now"
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args):
        pass


@pytest.fixture
def sink():
    server = Sink()
    yield server
    server.shutdown()
    server.thread.join()
    server.server_close()


@pytest.fixture
def window(wick, background):
    """A window that waits in the spool. Two services were running, and are no more."""
    programs = [background(workload("split", 60000),
                           env={**os.environ, "WICK_SERVICE": name, "WICK_RELEASE": "v7"})
                for name in ("shop", "bank")]
    path = wick.new_path()
    wick.ok("agent", "--once", "3s", "-o", path, "--label", "zone=b", *STEADY)
    for program in programs:
        program.kill()
        program.wait()
    spool = wick.folder / "spool"
    spool.mkdir(mode=0o700)
    (spool / "0000000000000001-host-1-1.wick").write_bytes(path.read_bytes())
    return path


def sums_of(pprof_bytes):
    """{leaf function: nanoseconds}"""
    sums = collections.Counter()
    profile = pprof.Profile(pprof_bytes)
    column = [name for name, _ in profile.types].index("cpu")
    for stack, values, _ in profile.samples:
        sums[stack[-1] if stack else ""] += values[column]
    return sums


def expected(wick, window, service):
    out = wick.folder / f"{service}.pb.gz"
    wick.ok("export", window, "--format", "pprof", "--label", f"service={service}", "-o", out)
    return sums_of(out.read_bytes())


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds * PATIENCE
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.1)


def push(wick, url, form, done):
    """Runs an agent until the window that waits was sent."""
    agent = wick.start("agent", "--server", url, "--push-as", form, "--spool", wick.folder / "spool", *STEADY)
    waiting = wick.folder / "spool" / "0000000000000001-host-1-1.wick"
    wait_for(lambda: agent.poll() is not None or not waiting.exists() and done())
    agent.send_signal(signal.SIGTERM)
    _, err = agent.communicate(timeout=60 * PATIENCE)
    assert agent.returncode == 0, err
    return err


def from_push(request):
    """[(labels, pprof, id)] of a PushRequest of Pyroscope."""
    path, headers, body = request
    assert (path, headers["Content-Type"]) == ("/push.v1.PusherService/Push", "application/proto")
    found = []
    for series in map(pprof.message, pprof.message(body)[1]):
        labels = [pprof.message(label) for label in series[1]]
        sample = pprof.message(series[2][0])
        found.append(({label[1][0].decode(): label[2][0].decode() for label in labels}, sample[1][0], sample[2][0]))
    return found


def from_ingest(request):
    path, _, body = request
    parts = urllib.parse.urlsplit(path)
    query = dict(urllib.parse.parse_qsl(parts.query))
    assert (parts.path, query["format"]) == ("/ingest", "pprof")
    assert int(query["from"]) <= int(query["until"]) <= time.time() + 1
    service, _, rest = query["name"].partition("{")
    labels = dict(pair.split("=") for pair in rest.rstrip("}").split(","))
    return [({**labels, "service_name": service, "__name__": "process_cpu"}, body, query["name"])]


@pytest.mark.parametrize("form, read", [("pyroscope", from_push), ("pyroscope-ingest", from_ingest)])
def test_pyroscope_gets_a_profile_for_each_service(wick, window, sink, form, read):
    push(wick, sink.url, form, lambda: True)
    # Afterwards both services were gone: only the window that waited has them.
    series = [one for request in sink.requests for one in read(request)]
    assert len({identity for _, _, identity in series}) == len(series) or form == "pyroscope-ingest"
    for service in ("shop", "bank"):
        ((labels, data, _),) = [one for one in series if one[0]["service_name"] == service]
        assert labels["__name__"] == "process_cpu"
        assert labels["release"] == "v7" and labels["zone"] == "b" and labels["host"] == os.uname().nodename
        assert "process" not in labels and "service" not in labels
        assert sums_of(data) == expected(wick, window, service)


def otlp_sums(body):
    """{service: {leaf: nanoseconds}} and the attributes of the resources."""
    top = pprof.message(gzip.decompress(body))
    tables = pprof.message(top[2][0])
    strings = [text.decode() for text in tables[5]]
    functions = [strings[pprof.message(item).get(1, [0])[0]] for item in tables[3]]
    leaves = []
    for stack in tables[7]:
        numbers = pprof.packed(pprof.message(stack).get(1, []))
        lines = pprof.message(tables[2][numbers[0]])[3] if numbers else []
        leaves.append(functions[pprof.message(lines[0])[1][0]] if lines else "")
    sums, resources = {}, {}
    for resource in map(pprof.message, top[1]):
        attributes = {}
        for pair in map(pprof.message, pprof.message(resource[1][0])[1]):
            attributes[pair[1][0].decode()] = pprof.message(pair[2][0])[1][0].decode()
        service = attributes["service.name"]
        resources[service] = attributes
        for profile in map(pprof.message, pprof.message(resource[2][0])[2]):
            if strings[pprof.message(profile[1][0])[1][0]] != "cpu":
                continue
            for sample in map(pprof.message, profile.get(2, [])):
                (value,) = pprof.packed(sample[4])
                sums.setdefault(service, collections.Counter())[leaves[sample[1][0]]] += value
    return sums, resources


def test_a_collector_gets_a_resource_for_each_service(wick, window, sink):
    push(wick, sink.url, "otlp", lambda: True)
    path, headers, body = sink.requests[0]
    assert (path, headers["Content-Type"]) == ("/v1development/profiles", "application/x-protobuf")
    sums, resources = otlp_sums(body)
    for service in ("shop", "bank"):
        assert resources[service]["service.version"] == "v7"
        assert resources[service]["host.name"] == os.uname().nodename
        assert sums[service] == expected(wick, window, service)


def test_profiles_that_a_collector_rejects_are_told(wick, window, sink):
    partial = b"\x08\x03\x12\x08too many"
    sink.answer = b"\x0a" + bytes([len(partial)]) + partial
    assert "did not store 3 profiles" in push(wick, sink.url, "otlp", lambda: True)


EACH_LONG = [form if form == "otlp" else pytest.param(form, marks=pytest.mark.skipif(not LONG, reason="WICK_LONG=1"))
             for form in FORMATS]


@pytest.mark.parametrize("form", EACH_LONG)
def test_what_fails_is_sent_again_and_what_arrived_is_not(wick, window, sink, form):
    sink.plan = [200, 503, 429, 500] if form == "pyroscope-ingest" else [503, 429, 500]
    err = push(wick, sink.url, form, lambda: not sink.plan)
    assert "kept until they can be sent" in err and "sent again" in err
    if form == "pyroscope-ingest":
        names = [one[2] for request in sink.requests for one in from_ingest(request)]
        assert sum(name.startswith("shop{") for name in names) == 1
        assert sum(name.startswith("bank{") for name in names) == 1
    elif form == "pyroscope":
        services = [labels["service_name"] for request in sink.requests for labels, _, _ in from_push(request)]
        assert services.count("shop") == 1
    else:
        assert sum("shop" in otlp_sums(body)[0] for _, _, body in sink.requests) == 1


@pytest.mark.skipif(LIBRARY is None, reason="libduckdb.so is not there: make fetches it")
def test_a_wick_server_answers_the_same_whatever_the_protocol(wick, window, tmp_path):
    answers = {}
    content = window.read_bytes()
    for form in ("wick", *FORMATS):
        (wick.folder / "spool" / "0000000000000001-host-1-1.wick").write_bytes(content)
        server = WickServer(tmp_path / form)
        try:
            push(wick, server.url, form, lambda: True)
            answers[form] = {(service, kind): server.folded(query=f'{service}{{release="v7", zone="b"}}', type=kind)
                             for service in ("shop", "bank") for kind in ("cpu",)}
            hosts = server.json("/api/hosts")
            assert os.uname().nodename in str(hosts)
        finally:
            assert server.stop() == 0
    assert sum(answers["wick"]["shop", "cpu"].values()) == sum(expected(wick, window, "shop").values())
    for form in FORMATS:
        assert answers[form] == answers["wick"], form


@pytest.mark.skipif(LIBRARY is None, reason="libduckdb.so is not there: make fetches it")
def test_windows_are_short_while_somebody_watches(wick, background, tmp_path):
    background(workload("split", 600000), env={**os.environ, "WICK_SERVICE": "shop"})
    server = WickServer(tmp_path / "data")
    agent = wick.start("agent", "--server", server.url, "--window", "20s", "--spool", wick.folder / "spool", *STEADY)
    try:
        stream = Stream(server, "/api/live?query=shop&window=10")
        lengths = []
        while len(lengths) < 10 and lengths.count(5) < 2:
            newest = stream.event()[1]["newest"]
            lengths += [agent["window_s"] for agent in server.json("/api/agents")["agents"]]
        assert newest > 0 and lengths[0] == 20 and lengths.count(5) == 2, lengths
        stream.close()
        points = server.json("/api/series", query="shop", step=1)["points"]
    finally:
        agent.send_signal(signal.SIGTERM)
        agent.communicate(timeout=PATIENCE * 60)
        assert server.stop() == 0
    # Where the length changes no sample counts twice: one CPU has 99 in a second. The longest bucket has 20 s.
    assert all(0 < point["samples"] <= 99 * 21 for point in points), points
    assert 0 < sum(point["samples"] for point in points[-1:]) <= 99 * 6, points


def test_names_cannot_be_left_to_servers_of_others(wick):
    done = wick.run("agent", "--server", "http://127.0.0.1:9", "--push-as", "otlp", "--symbolize", "server")
    assert done.returncode == contract.USAGE
    assert "--push-as wick" in done.stderr

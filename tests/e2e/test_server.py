# SPDX-License-Identifier: BSD-2-Clause
"""wick server, started as a user starts it: what was pushed is what it answers."""
import base64
import gzip
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib

import pytest

from conftest import BUILD, PATIENCE, ROOT, WICK

LIBRARY = next((str(p) for p in (BUILD / "libduckdb.so", pathlib.Path(os.environ.get("WICK_DUCKDB", "/none")))
                if p.exists()), None)
pytestmark = pytest.mark.skipif(LIBRARY is None, reason="libduckdb.so is not there: make fetches it")
TIMEOUT = 60 * PATIENCE


class Server:
    def __init__(self, folder, *options, env=None, prefix=()):
        self.prefix = prefix
        self.folder = folder
        self.options = options
        self.env = {**os.environ, **(env or {})}
        self.start()

    def start(self):
        self.log = open(self.folder.parent / (self.folder.name + ".log"), "ab")
        self.process = subprocess.Popen(
            [*self.prefix, WICK, "server", "--listen", "127.0.0.1:0", "--data", self.folder, "--duckdb", LIBRARY, *self.options],
            stdout=subprocess.PIPE, stderr=self.log, text=True, env=self.env)
        line = self.process.stdout.readline()
        assert line.startswith("listening on "), (line, self.log_text())
        self.url = re.match(r"listening on (\S+),", line).group(1)

    def log_text(self):
        return (self.folder.parent / (self.folder.name + ".log")).read_text()

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        status = self.process.wait(TIMEOUT)
        self.process.stdout.close()
        self.log.close()
        return status

    def request(self, path, body=None, headers=None, token=None):
        """Status and body of an answer."""
        headers = dict(headers or {})
        if token:
            headers["Authorization"] = "Bearer " + token
        request = urllib.request.Request(self.url + path, data=body, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def json(self, path, **parameters):
        status, body = self.request(path + "?" + urllib.parse.urlencode(parameters))
        assert status == 200, body
        return json.loads(body)

    def push(self, window, identity=None, **headers):
        if identity:
            headers["X-Wick-Window"] = identity
        return self.request("/api/push", window, headers)

    def folded(self, **parameters):
        """Stacks and their values, without the first name, which is the service."""
        parameters.setdefault("type", "samples")
        status, body = self.request("/api/profile?" + urllib.parse.urlencode({**parameters, "format": "folded"}))
        assert status == 200, body
        lines = [line.rsplit(" ", 1) for line in body.decode().splitlines()]
        return {stack.split(";", 1)[1]: int(value) for stack, value in lines}


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path / "data")
    yield server
    if server.process.poll() is None:
        assert server.stop() == 0


def make_window(tmp_path, text, name="w"):
    """A recording of folded stacks."""
    (tmp_path / f"{name}.folded").write_text(text)
    subprocess.run([WICK, "import", "-o", tmp_path / f"{name}.wick", tmp_path / f"{name}.folded"], check=True,
                   timeout=TIMEOUT)
    return (tmp_path / f"{name}.wick").read_bytes()


def make_pprof(tmp_path, text, name="p"):
    make_window(tmp_path, text, name)
    subprocess.run([WICK, "export", "--format", "pprof", "-o", tmp_path / f"{name}.pb.gz", tmp_path / f"{name}.wick"],
                   check=True, timeout=TIMEOUT)
    return (tmp_path / f"{name}.pb.gz").read_bytes()


def run_query(server, *arguments, env=None):
    return subprocess.run([WICK, "query", "--server", server.url, *arguments], capture_output=True, text=True,
                          timeout=TIMEOUT, env={**os.environ, **(env or {})})


def field(number, data):
    size = len(data)
    out = bytes([number << 3 | 2])
    while size > 127:
        out += bytes([size & 127 | 128])
        size >>= 7
    return out + bytes([size]) + data


def peak_memory(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1)) * 1024


def test_an_answer_is_the_sum_of_what_was_pushed(server, tmp_path):
    first = make_window(tmp_path, "app;main;parse 30\napp;main;write;flush 70\n", "a")
    second = make_window(tmp_path, "app;main;parse 5\nweb;serve 7\n", "b")
    assert server.push(first, "one")[0] == 200
    assert server.push(second, "two")[0] == 200
    assert server.folded() == {"main;parse": 35, "main;write;flush": 70, "serve": 7}
    assert server.folded(query="app") == {"main;parse": 35, "main;write;flush": 70}
    assert server.folded(query='{service!="app"}') == {"serve": 7}
    assert server.folded(query='{service=~"w.*"}') == {"serve": 7}
    names = {item["name"]: item["value"] for item in server.json("/api/services")["services"]}
    assert names == {"app": 105, "web": 7}
    top = {item["name"]: (item["value"], item["self"]) for item in server.json("/api/top", type="samples")["functions"]}
    assert top["main"] == (105, 0) and top["flush"] == (70, 70)
    points = server.json("/api/series", type="samples", function="parse")["points"]
    assert sum(point["value"] for point in points) == 35


def test_files_that_a_recording_names_are_not_opened(server, tmp_path):
    """They are files of the sender's host, or of whoever wants this one to read something."""
    subprocess.run([WICK, "record", "-q", "--engine", "ptrace", "-o", tmp_path / "raw.wick", "--",
                    BUILD / "tests/workloads/phases", "200"], check=True, timeout=TIMEOUT, stdout=subprocess.DEVNULL)
    names = subprocess.run([WICK, "export", "--format", "folded", tmp_path / "raw.wick"], check=True, timeout=TIMEOUT,
                           capture_output=True, text=True).stdout
    assert "phase_a" in names
    assert server.push((tmp_path / "raw.wick").read_bytes(), "raw")[0] == 200
    status, body = server.request("/api/profile?type=wall&format=folded")
    assert status == 200 and "phases+0x" in body.decode() and "phase_a" not in body.decode()


def test_a_window_that_arrives_twice_is_stored_once(server, tmp_path):
    window = make_window(tmp_path, "app;main 10\n")
    assert json.loads(server.push(window, "same")[1])["duplicate"] is False
    assert json.loads(server.push(window, "same")[1])["duplicate"] is True
    assert server.folded() == {"main": 10}
    # Without an identity the content is one.
    server.push(window)
    server.push(window)
    assert server.folded() == {"main": 20}


def test_the_same_samples_of_two_hosts_are_not_the_same_window(server):
    now = int(time.time())
    for host in ("h1", "h2", "h2"):  # the last one is sent again
        assert server.request(f"/ingest?name=web%7Bhost={host}%7D&from={now - 60}", b"main;a 10\n")[0] == 200
    assert server.folded(query="web", type="cpu", **{"from": now - 120}) == {"main;a": 2 * 10 * 10_000_000}


def test_the_answer_in_every_format(server, tmp_path):
    server.push(make_window(tmp_path, "app;main;parse 30\n"))
    begins = {"json": b"{", "text": b"everything", "folded": b"all;main;parse 30", "svg": b"<?xml", "html": b"<!DOCTYPE",
              "wick": b"\x89WICK", "pprof": b"\x1f\x8b", "otlp": b"\n"}
    for name, head in begins.items():
        status, body = server.request(f"/api/profile?type=samples&format={name}")
        assert status == 200 and body.lstrip(b"\xef\xbb\xbf").startswith(head), (name, body[:80])
    status, body = server.request("/api/profile?type=samples&format=tea")
    assert status == 400 and b"no format tea" in body
    # A recording from the server is one for all commands.
    run = run_query(server, "--type", "samples", "--format", "wick", "-o", tmp_path / "x.wick")
    assert run.returncode == 0, run.stderr
    report = subprocess.run([WICK, "report", tmp_path / "x.wick"], capture_output=True, text=True, timeout=TIMEOUT)
    assert re.search(r"100\.0%.*30 +30 +30 +parse", report.stdout), report.stdout


def test_wick_query_prints_a_report_and_lists(server, tmp_path):
    server.push(make_window(tmp_path, "app;main;parse 30\n"))
    assert re.search(r"100\.0% .*parse", run_query(server, "app", "--type", "samples").stdout)
    assert "app" in run_query(server, "--services").stdout
    assert "parse" in run_query(server, "--top", "5", "--type", "samples").stdout
    assert json.loads(run_query(server, "--services", "--format", "json").stdout)["services"][0]["name"] == "app"
    wrong = run_query(server, 'app{host="a"')
    assert wrong.returncode == 1 and "expected a comma or }" in wrong.stderr
    late = run_query(server, "--from", "now", "--to", "-1h")
    assert late.returncode == 1 and "ends before it begins" in late.stderr


def test_a_release_that_became_slower_is_named(server):
    now = int(time.time())
    for release, start, cost in (("1.0", now - 1200, 100), ("1.1", now - 600, 400)):
        text = f"main;parse {cost}\nmain;render 1000\n"
        name = urllib.parse.quote(f"shop{{release={release}}}")
        for i in range(3):
            assert server.request(f"/ingest?name={name}&from={start + 30 * i}", text.encode())[0] == 200
    run = run_query(server, "shop", "--diff-release", "1.0..1.1")
    assert run.returncode == 0, run.stderr
    assert re.search(r"parse", run.stdout) and "release 1.1" in run.stdout, run.stdout
    rows = json.loads(run_query(server, "shop", "--diff-release", "1.0..1.1", "--format", "json").stdout)["rows"]
    grown = max(rows, key=lambda row: row["self"]["change_points"])
    assert grown["name"] == "parse" and grown["self"]["confidence"] > 99
    assert run_query(server, "shop", "--diff-release", "1.0..1.1", "--fail-if", "parse>+5%").returncode == 3
    assert run_query(server, "shop", "--diff-release", "1.0..1.1", "--fail-if", "render>+5%").returncode == 0
    missing = run_query(server, "shop", "--diff-release", "1.0..9")
    assert missing.returncode == 1 and "no samples of release 9" in missing.stderr


def test_profiles_of_other_senders(server, tmp_path):
    profile = make_pprof(tmp_path, "app;main;parse 30\n")
    now = int(time.time())
    assert server.request(f"/ingest?name=one.cpu%7Bzone=z1%7D&from={now}&sampleRate=100", b"main;a 10\nmain;b 20\n")[0] == 200
    assert server.folded(query="one", type="cpu") == {"main;a": 100000000, "main;b": 200000000}
    assert server.folded(query='{zone="z1"}', type="cpu") == {"main;a": 100000000, "main;b": 200000000}
    body = (b'--xx\r\nContent-Disposition: form-data; name="profile"; filename="p"\r\n\r\n' + profile + b"\r\n--xx--\r\n")
    assert server.request("/ingest?name=two&format=pprof", body,
                          {"Content-Type": "multipart/form-data; boundary=xx"})[0] == 200
    assert server.folded(query="two") == {"main;parse": 30}
    push = "/push.v1.PusherService/Push"
    series = {"labels": [{"name": "service_name", "value": "three"}],
              "samples": [{"rawProfile": base64.b64encode(profile).decode(), "ID": "x1"}]}
    assert server.request(push, json.dumps({"series": [series]}).encode(), {"Content-Type": "application/json"})[0] == 200
    assert server.folded(query="three") == {"main;parse": 30}
    label = field(1, field(1, b"service_name") + field(2, b"four"))
    message = field(1, label + field(2, field(1, profile) + field(2, b"x2")))
    assert server.request(push, message, {"Content-Type": "application/proto"}) == (200, b"")
    assert server.folded(query="four") == {"main;parse": 30}
    status, body = server.request(push, field(1, field(2, field(1, profile))), {"Content-Type": "application/proto"})
    assert status == 400 and b"service_name" in body
    subprocess.run([WICK, "export", "--format", "otlp", "-o", tmp_path / "p.otlp", tmp_path / "p.wick"], check=True)
    status, body = server.request("/v1development/profiles", gzip.compress((tmp_path / "p.otlp").read_bytes()),
                                  {"Content-Type": "application/x-protobuf", "Content-Encoding": "gzip"})
    assert status == 200, body
    assert "app" in [item["name"] for item in server.json("/api/services")["services"]]


def test_profiles_of_opentelemetry_in_json(server):
    now = time.time_ns()
    dictionary = {
        "mappingTable": [{}, {"filenameStrindex": 5}],
        "locationTable": [{}, {"lines": [{"functionIndex": 1, "line": "12"}]}, {"mappingIndex": 1, "lines": [{"functionIndex": 2}]}],
        "functionTable": [{}, {"nameStrindex": 3}, {"nameStrindex": 4}],
        "stringTable": ["", "cpu", "nanoseconds", "main", "parse", "/bin/shop", "zone"],
        "attributeTable": [{}, {"keyStrindex": 6, "value": {"stringValue": "b"}}],
        "stackTable": [{}, {"locationIndices": [2, 1]}, {"locationIndices": [1]}],
    }
    # Numbers of 64 bits may be strings; fields that nobody knows are passed over.
    profile = {"sampleType": {"typeStrindex": 1, "unitStrindex": 2}, "timeUnixNano": str(now), "durationNano": 10**9,
               "samples": [{"stackIndex": 1, "values": ["30"], "attributeIndices": [1]}, {"stackIndex": 2, "values": [12]}],
               "profileId": "00112233445566778899aabbccddeeff", "newField": {"a": [1]}}
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}},
                               {"key": "service.version", "value": {"stringValue": "1.2"}},
                               {"key": "tags", "value": {"arrayValue": {"values": [{"stringValue": "x"}]}}}]}
    message = {"resourceProfiles": [{"resource": resource, "scopeProfiles": [{"scope": {}, "profiles": [profile]}]}],
               "dictionary": dictionary}
    path, kind = "/v1development/profiles", {"Content-Type": "application/json; charset=utf-8"}
    assert server.request(path, json.dumps(message).encode(), kind) == (200, b"{}\n")
    assert server.folded(query="shop", type="cpu") == {"main;parse": 30, "main": 12}
    assert server.folded(query='shop{zone="b", release="1.2"}', type="cpu") == {"main;parse": 30}
    for wrong in (b"", b"[]", b"{", b'{"resourceProfiles": 7}', b'{"resourceProfiles": [[]], "dictionary": "x"}'):
        status, body = server.request(path, wrong, kind)
        assert status == 400 and json.loads(body)["error"], (wrong, body)
    assert server.folded(query="shop", type="cpu") == {"main;parse": 30, "main": 12}


def test_what_grafana_asks_for(server):
    now = int(time.time())
    server.request(f"/ingest?name=web%7Bhost=h1%7D&from={now - 60}", b"main;a 10\nmain;b 30\n")
    server.request(f"/ingest?name=web%7Bhost=h2%7D&from={now - 30}", b"main;a 20\n")
    span = {"start": (now - 600) * 1000, "end": (now + 60) * 1000}
    cpu = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"

    def ask(method, **message):
        status, body = server.request("/querier.v1.QuerierService/" + method, json.dumps({**span, **message}).encode(),
                                      {"Content-Type": "application/json"})
        assert status == 200, body
        return json.loads(body)

    assert [item["ID"] for item in ask("ProfileTypes")["profileTypes"]] == [cpu]
    assert {"service_name", "host"} <= set(ask("LabelNames")["names"])
    assert ask("LabelValues", name="service_name")["names"] == ["web"]
    assert sorted(ask("LabelValues", name="host", matchers=['{service_name="web"}'])["names"]) == ["h1", "h2"]
    sets = ask("Series", labelNames=["service_name", "__profile_type__"])["labelsSet"]
    assert {"name": "__profile_type__", "value": cpu} in sets[0]["labels"]
    select = {"profileTypeID": cpu, "labelSelector": '{service_name="web"}'}
    graph = ask("SelectMergeStacktraces", **select)["flamegraph"]
    assert graph["total"] == "600000000" and graph["names"][0] == "total"
    rows = [level["values"] for level in graph["levels"]]
    assert rows[0] == ["0", "600000000", "0", "0"]
    boxes = {graph["names"][int(rows[2][i + 3])]: int(rows[2][i + 1]) for i in range(0, len(rows[2]), 4)}
    assert boxes == {"a": 300000000, "b": 300000000}
    series = ask("SelectSeries", step=30, groupBy=["host"], **select)["series"]
    sums = {one["labels"][0]["value"]: sum(point["value"] for point in one["points"]) for one in series}
    assert sums == {"h1": 400000000, "h2": 200000000}
    left = {**select, **span, "labelSelector": '{host="h1"}'}
    right = {**select, **span, "labelSelector": '{host="h2"}'}
    diff = ask("Diff", left=left, right=right)["flamegraph"]
    assert (diff["leftTicks"], diff["rightTicks"]) == ("400000000", "200000000")
    assert len(diff["levels"][0]["values"]) == 7
    # The same as protobuf: strings of the answer are in it.
    message = field(1, cpu.encode()) + field(2, b'{service_name="web"}')
    status, body = server.request("/querier.v1.QuerierService/SelectMergeStacktraces", message,
                                  {"Content-Type": "application/proto"})
    assert status == 200 and b"total" in body and b"main" in body
    status, body = server.request("/querier.v1.QuerierService/LabelNames", b"\xff\xff", {"Content-Type": "application/proto"})
    assert status == 400 and json.loads(body)["code"] == "invalid_argument"


def test_tokens_decide_who_may_do_what(tmp_path):
    folder = tmp_path / "data"
    tokens = {}
    for access in ("read", "write", "admin"):
        run = subprocess.run([WICK, "token", "add", access, "--name", f"for {access}", "--data", folder],
                             capture_output=True, text=True, check=True, timeout=TIMEOUT)
        tokens[access] = run.stdout.strip()
        assert re.fullmatch(r"wick_[0-9a-f]{64}", tokens[access])
    assert oct((folder / "tokens").stat().st_mode & 0o777) == "0o600"
    assert not any(secret in (folder / "tokens").read_text() for secret in tokens.values())
    window = make_window(tmp_path, "app;main 10\n")
    server = Server(folder)
    try:
        assert server.request("/healthz")[0] == 200
        assert server.request("/api/push", window)[0] == 401
        assert server.request("/api/push", window, token="wick_" + "0" * 64)[0] == 401
        assert server.request("/api/push", window, token=tokens["read"])[0] == 403
        assert server.request("/api/push", window, token=tokens["write"])[0] == 200
        assert server.request("/api/services", token=tokens["write"])[0] == 403
        assert server.request("/api/services", token=tokens["read"])[0] == 200
        assert server.request("/api/services", token=tokens["admin"])[0] == 200
        assert run_query(server, "--services", env={"WICK_TOKEN": tokens["read"]}).returncode == 0
        refused = run_query(server, "--services", env={"WICK_TOKEN": ""})
        assert refused.returncode == 1 and "WICK_TOKEN" in refused.stderr
        # A token that was revoked is refused after SIGHUP, and a new one is accepted.
        listed = json.loads(subprocess.run([WICK, "token", "list", "--format", "json", "--data", folder],
                                           capture_output=True, text=True, check=True).stdout)
        identity = next(token["id"] for token in listed if token["access"] == "write")
        subprocess.run([WICK, "token", "revoke", identity, "--data", folder], check=True, timeout=TIMEOUT)
        server.process.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + TIMEOUT
        while server.request("/api/push", window, token=tokens["write"])[0] != 401:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        audit = [json.loads(line) for line in (folder / "audit.log").read_text().splitlines()]
        assert {401, 403, 200} <= {line["status"] for line in audit}
        assert any("for read" in line["who"] for line in audit)
    finally:
        assert server.stop() == 0


def test_beyond_loopback_only_with_tls_and_tokens(tmp_path):
    run = subprocess.run([WICK, "server", "--listen", "0.0.0.0:0", "--data", tmp_path / "data", "--duckdb", LIBRARY],
                         capture_output=True, text=True, timeout=TIMEOUT)
    assert run.returncode == 1
    assert "can be reached from other machines" in run.stderr and "--tls-cert" in run.stderr
    (tmp_path / "data" / "tokens").write_text("")
    (tmp_path / "data" / "tokens").chmod(0o644)
    run = subprocess.run([WICK, "server", "--listen", "127.0.0.1:0", "--data", tmp_path / "data", "--duckdb", LIBRARY],
                         capture_output=True, text=True, timeout=TIMEOUT)
    assert run.returncode == 1 and "chmod 600" in run.stderr


def test_other_machines_are_served_over_tls_with_a_token(tmp_path):
    openssl = shutil.which("openssl")
    if not openssl:
        pytest.skip("openssl is not there to make a certificate")
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run([openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True, timeout=TIMEOUT)
    token = subprocess.run([WICK, "token", "add", "read", "--data", tmp_path / "data"], capture_output=True, text=True,
                           check=True, timeout=TIMEOUT).stdout.strip()
    server = Server(tmp_path / "data", "--listen", "0.0.0.0:0", "--tls-cert", cert, "--tls-key", key)
    try:
        server.url = server.url.replace("0.0.0.0", "127.0.0.1")
        assert server.url.startswith("https://")
        run = run_query(server, "--services", "--ca", cert, env={"WICK_TOKEN": token})
        assert run.returncode == 0, run.stderr
        assert run_query(server, "--services", "--ca", cert, env={"WICK_TOKEN": ""}).returncode == 1
        unknown = run_query(server, "--services", env={"WICK_TOKEN": token})
        assert unknown.returncode == 1 and "certificate" in unknown.stderr
    finally:
        assert server.stop() == 0


def test_a_page_in_a_browser_cannot_ask(server):
    for name in ("evil.example", "localhost.evil.example", "127.evil.example", "127.0.0.1.evil.example", "[::1].evil.example"):
        assert server.request("/api/services", headers={"Host": name})[0] == 403, name
    for name in ("localhost", "LOCALHOST:4040", "127.0.0.1", "127.1.2.3:80", "[::1]:4040"):
        assert server.request("/api/services", headers={"Host": name})[0] == 200, name
    assert server.request("/api/services", headers={"Origin": "http://evil.example"})[0] == 403


def zeros_as_gzip(size):
    compress = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = bytes(1 << 20)
    return b"".join(compress.compress(block) for _ in range(size >> 20)) + compress.flush()


def test_a_lying_client_gets_clear_errors_and_little_memory(tmp_path):
    server = Server(tmp_path / "data", "--max-body", "4M", "--max-decoded", "16M")
    try:
        window = make_window(tmp_path, "app;main 10\n")
        assert server.push(window)[0] == 200
        before = peak_memory(server.process)
        # Small values that take much memory, and an expression that does.
        status, body = server.request("/querier.v1.QuerierService/LabelNames", b"\x0a\x00" * (1 << 20),
                                      {"Content-Type": "application/proto"})
        assert status == 400 and b"values" in body
        status, body = server.request("/api/profile?query=" + urllib.parse.quote('{service=~"a' + "+" * 64 + '"}'))
        assert status == 400 and b"repeats too much" in body
        # Larger than allowed, by its own word and in fact.
        status, body = server.push(bytes(5 << 20))
        assert status == 413 and b"larger than the limit" in body
        # Endless: chunks without an end.
        with socket.create_connection(("127.0.0.1", int(server.url.rsplit(":", 1)[1])), TIMEOUT) as endless:
            endless.sendall(b"POST /api/push HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
            with pytest.raises(OSError):
                for _ in range(64):
                    endless.sendall(b"100000\r\n" + bytes(1 << 20) + b"\r\n")
        # A bomb: 64 MB of zeros in a few kilobytes.
        status, body = server.request("/api/push", zeros_as_gzip(64 << 20), {"Content-Encoding": "gzip"})
        assert status == 413 and b"decompresses to more" in body
        status, body = server.request("/ingest?name=x&format=pprof", zeros_as_gzip(64 << 20))
        assert status == 413 and b"decompresses to more" in body
        # Not what it says.
        for path, data in (("/api/push", b"tea"), ("/api/push", window[:-20]), ("/api/push", b""),
                           ("/ingest?name=x&format=pprof", b"\x0a\x04\x08\x01\x10\x02\x12\xff"),
                           ("/v1development/profiles", b"\x0a\xff\xff\xff\x7f"),
                           ("/push.v1.PusherService/Push", b"\xff")):
            status, body = server.request(path, data, {"Content-Type": "application/proto"})
            assert status == 400 and json.loads(body)["error"], (path, body)
        status, body = server.request("/ingest?format=folded", b"main 1")
        assert status == 400 and b"name" in body
        status, body = server.request("/api/push", window, {"Content-Encoding": "tea"})
        assert status == 415
        # Deep: a stack of a hundred thousand frames is refused, or stored; the server lives on.
        deep = ";".join(["f"] * 100000).encode() + b" 1\n"
        assert server.request("/ingest?name=deep", deep)[0] in (200, 400, 413)
        nested = b'{"series":' + b"[" * 100000
        assert server.request("/push.v1.PusherService/Push", nested, {"Content-Type": "application/json"})[0] == 400
        # Small as a text, large as values.
        for path in ("/push.v1.PusherService/Push", "/v1development/profiles", "/querier.v1.QuerierService/Series"):
            status, body = server.request(path, b'{"series":[' + b"[]," * 1200000 + b"[]]}", {"Content-Type": "application/json"})
            assert status in (400, 413) and b"values of JSON" in body
        assert server.request("/api/nothing")[0] == 404
        assert server.request("/api/push")[0] == 405
        assert server.request("/healthz")[0] == 200
        assert peak_memory(server.process) - before < 200 << 20
        assert server.folded(query="app") == {"main": 10}
    finally:
        assert server.stop() == 0


def test_requests_are_limited_in_rate(tmp_path):
    server = Server(tmp_path / "data", "--max-rate", "1")
    try:
        assert 429 in [server.request("/api/services")[0] for _ in range(20)]
    finally:
        assert server.stop() == 0


def test_nothing_that_was_acknowledged_is_lost_when_the_server_is_killed(tmp_path):
    server = Server(tmp_path / "data")
    expected = 0
    try:
        for turn in range(3):
            for i in range(5):
                status, _ = server.push(make_window(tmp_path, f"app;main;f{turn}{i} 10\n"), f"{turn}-{i}")
                assert status == 200
                expected += 10
            # Killed while another window is on its way: it is there completely or not at all.
            window = make_window(tmp_path, f"app;main;late{turn} 1000\n")
            with socket.create_connection(("127.0.0.1", int(server.url.rsplit(":", 1)[1])), TIMEOUT) as late:
                late.sendall(b"POST /api/push HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
                             + str(len(window)).encode() + b"\r\n\r\n" + window)
                server.stop(signal.SIGKILL)
            server.start()
            stacks = server.folded(query="app")
            assert sum(value for name, value in stacks.items() if "late" not in name) == expected
            assert {value for name, value in stacks.items() if "late" in name} <= {1000}
    finally:
        assert server.stop() == 0


def test_a_clock_that_is_off_is_measured_and_corrected(server, tmp_path):
    window = make_window(tmp_path, "app;main 10\n")
    hour_late = str(int((time.time() - 3600) * 1e9))
    status, body = server.push(window, **{"X-Wick-Now": hour_late})
    answer = json.loads(body)
    assert status == 200 and 3590 < answer["clock_offset_s"] < 3700
    assert server.folded(query="app", **{"from": "-2m"}) == {"main": 10}


def test_a_burst_is_given_to_a_host_that_runs_the_service(server, tmp_path):
    def ask():
        return subprocess.run([WICK, "burst", "--server", server.url, "--service", "app", "-F", "500", "-d", "10"],
                              capture_output=True, text=True, timeout=TIMEOUT)

    too_fast = subprocess.run([WICK, "burst", "--server", server.url, "--service", "app", "-F", "1001"],
                              capture_output=True, text=True, timeout=TIMEOUT)
    assert too_fast.returncode == 2 and "1 to 1000" in too_fast.stderr
    assert server.request("/api/burst", body=b'{"service": "app", "rate": 1001, "seconds": 10}')[0] == 400
    assert ask().returncode == 0
    again = ask()
    assert again.returncode == 1 and "had a burst" in again.stderr
    other = json.loads(server.push(make_window(tmp_path, "web;main 1\n"))[1])
    assert "burst" not in other
    order = json.loads(server.push(make_window(tmp_path, "app;main 1\n"))[1])["burst"]
    assert (order["service"], order["rate"], order["seconds"]) == ("app", 500, 10)
    assert "burst" not in json.loads(server.push(make_window(tmp_path, "app;main 2\n"))[1])
    assert "/api/burst" in (server.folder / "audit.log").read_text()


def test_the_remedy_for_a_server_that_is_away_can_be_pasted_into_a_shell():
    done = subprocess.run([WICK, "query", "--server", "http://127.0.0.1:1", "shop"], capture_output=True, text=True,
                          timeout=TIMEOUT)
    command = done.stderr.split("that the server runs: ")[1].strip()
    assert done.returncode == 1
    words = list(shlex.shlex(command, posix=True, punctuation_chars=True))
    assert words == ["curl", "-i", "http://127.0.0.1:1/api/profile?format=text&query=shop"]


def test_metrics_count_what_happened(server, tmp_path):
    server.push(make_window(tmp_path, "app;main 10\n"), "one")
    server.push(b"tea")
    text = server.request("/metrics")[1].decode()
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert float(values["wick_server_windows_total"]) == 1
    assert float(values["wick_server_windows_rejected_total"]) == 1
    assert float(values['wick_server_requests_total{path="/api/push",status="4xx"}']) == 1
    assert float(values["wick_store_rows"]) == 1
    assert json.loads(server.request("/healthz")[1])["status"] == "ok"


def test_every_route_is_described(server):
    document = json.loads((ROOT / "docs/reference/openapi.json").read_text())
    described = {(method.upper(), path) for path, item in document["paths"].items() for method in item}
    source = (ROOT / "src/server/routes.c").read_text()
    source = source.replace('QUERIER "', '"/querier.v1.QuerierService/')
    real = set(re.findall(r'\{"(GET|POST)", "([^"]+)"', source))
    assert described == real
    for method, path in sorted(described):
        path = {"/page/{name}": "/page/index.html", "/api/live": "/api/live?window=0"}.get(path, path)  # a stream has no end
        status, _ = server.request(path, b"{}" if method == "POST" else None)
        assert status not in (404, 405), path
    text = (ROOT / "docs/reference/http-api.md").read_text()
    assert [path for _, path in sorted(real) if path.rsplit("/", 1)[1] not in text] == []

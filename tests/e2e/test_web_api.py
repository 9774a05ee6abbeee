# SPDX-License-Identifier: BSD-2-Clause
"""What the web page asks wick server for: its files, the session, logins, live events."""
import gzip
import http.client
import json
import shutil
import signal
import ssl
import subprocess
import time
import urllib.parse

import pytest

from conftest import WICK
from test_server import LIBRARY, TIMEOUT, Server, make_window
from test_server import server  # noqa: F401 (a fixture)

pytestmark = pytest.mark.skipif(LIBRARY is None, reason="libduckdb.so is not there: make fetches it")


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    def json(self):
        return json.loads(self.body)


def ask(server, path, method="GET", body=None, context=None, **headers):
    """One request as a browser sends it: names of headers have _ for -."""
    url = urllib.parse.urlsplit(server.url)
    connection = (http.client.HTTPSConnection(url.hostname, url.port, timeout=TIMEOUT, context=context) if context
                  else http.client.HTTPConnection(url.hostname, url.port, timeout=TIMEOUT))
    try:
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        return Answer(connection.getresponse())
    finally:
        connection.close()


def own(server):
    """The Origin of the server's own page."""
    return server.url.rstrip("/")


def add_token(folder, access, *options):
    return subprocess.run([WICK, "token", "add", access, "--name", f"for {access}", "--data", folder, *options],
                          capture_output=True, text=True, check=True, timeout=TIMEOUT).stdout.strip()


def login(server, token, **headers):
    return ask(server, "/api/login", "POST", json.dumps({"token": token}), Origin=own(server), **headers)


def cookie_of(answer):
    return answer.headers["Set-Cookie"].split(";")[0]


def test_the_page_is_served_to_everybody_under_a_strict_policy(tmp_path):
    add_token(tmp_path / "data", "read")
    server = Server(tmp_path / "data")
    try:
        answer = ask(server, "/")
        assert answer.status == 200 and answer.headers["Content-Type"] == "text/html; charset=utf-8"
        policy = answer.headers["Content-Security-Policy"]
        for part in ("default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-src 'self'",
                     "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"):
            assert part in policy
        assert "unsafe" not in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert ask(server, "/page/index.html").body == answer.body
        again = ask(server, "/", If_None_Match=answer.headers["ETag"])
        assert again.status == 304 and again.body == b""
        assert ask(server, "/", If_None_Match='"another"').status == 200
        for path in ("/page/none.js", "/page/..%2Findex.html", "/page/"):
            assert ask(server, path).status == 404, path
        refused = ask(server, "/api/services")
        assert refused.status == 401 and refused.headers["Cache-Control"] == "no-store"
    finally:
        assert server.stop() == 0


def test_a_graph_is_a_document_without_an_origin(server, tmp_path):  # noqa: F811
    assert server.push(make_window(tmp_path, "app;main 10\n"))[0] == 200
    for path in ("/api/profile?type=samples&format=html", "/api/profile?type=samples&format=svg",
                 "/api/diff?type=samples&format=html"):
        policy = ask(server, path).headers["Content-Security-Policy"]
        assert "sandbox allow-scripts allow-downloads;" in policy and "default-src 'none'" in policy
        assert "frame-ancestors 'self'" in policy and "allow-same-origin" not in policy
    assert "frame-ancestors 'none'; sandbox" in ask(server, "/api/services").headers["Content-Security-Policy"]


def test_without_tokens_only_the_own_page_may_ask(server):  # noqa: F811
    port = server.url.rstrip("/").rsplit(":", 1)[1]
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"):
        assert ask(server, "/api/services", Host=host, Origin=f"http://{host}").status == 200, host
        assert ask(server, "/api/session", Host=host, Origin=f"http://{host}").json()["access"] == "admin"
    for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1:1"},
                    {"Host": f"evil.example:{port}", "Origin": f"http://evil.example:{port}"},
                    {"Host": f"evil.example:{port}"}, {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors"},
                    {"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "iframe"}):
        assert ask(server, "/api/services", **headers).status == 403, headers
        assert ask(server, "/api/session", **headers).json()["access"] == "none", headers
        order = json.dumps({"service": "app", "rate": 100, "seconds": 1})
        assert ask(server, "/api/burst", "POST", order, **headers).status == 403, headers
    session = ask(server, "/api/session").json()
    assert session["source"] == "store" and session["tokens"] is False and "agents" in session["has"]


def test_a_login_puts_the_token_in_a_cookie_that_scripts_cannot_read(tmp_path):
    folder = tmp_path / "data"
    tokens = {access: add_token(folder, access) for access in ("read", "write", "admin")}
    server = Server(folder)
    try:
        session = ask(server, "/api/session").json()
        assert session["tokens"] is True and session["access"] == "none" and session["who"] == ""
        answer = login(server, tokens["read"])
        assert answer.status == 200 and answer.json() == {"access": "read"}
        for part in ("HttpOnly", "SameSite=Strict", "Path=/", "Max-Age="):
            assert part in answer.headers["Set-Cookie"]
        assert "Secure" not in answer.headers["Set-Cookie"]
        cookie = cookie_of(answer)
        assert ask(server, "/api/services", Cookie=cookie).status == 200
        assert ask(server, "/api/services", Cookie=cookie, Sec_Fetch_Site="same-origin", Sec_Fetch_Mode="navigate",
                   Sec_Fetch_Dest="iframe").status == 200
        session = ask(server, "/api/session", Cookie=cookie).json()
        assert session["access"] == "read" and "for read" in session["who"]
        assert ask(server, "/api/services", Cookie=cookie, Origin="http://evil.example").status == 403
        assert login(server, tokens["write"]).status == 403
        order = json.dumps({"service": "app", "rate": 100, "seconds": 1})
        assert ask(server, "/api/burst", "POST", order, Cookie=cookie, Origin=own(server)).status == 403
        admin = cookie_of(login(server, tokens["admin"]))
        assert ask(server, "/api/burst", "POST", order, Cookie=admin).status == 403
        assert ask(server, "/api/burst", "POST", order, Cookie=admin, Origin="null").status == 403
        assert ask(server, "/api/burst", "POST", order, Cookie=admin, Origin=own(server)).status == 200
        assert ask(server, "/api/logout", "POST", Cookie=admin, Origin="http://evil.example").status == 403
        gone = ask(server, "/api/logout", "POST", Cookie=admin, Origin=own(server))
        assert gone.status == 200 and "Max-Age=0" in gone.headers["Set-Cookie"]
        audit = [json.loads(line) for line in (folder / "audit.log").read_text().splitlines()]
        assert [line["status"] for line in audit if line["path"] == "/api/login"] == [200, 403, 200]
        assert tokens["read"] not in (folder / "audit.log").read_text()
    finally:
        assert server.stop() == 0


def test_logins_that_fail_are_limited_and_audited(tmp_path):
    folder = tmp_path / "data"
    good = add_token(folder, "read")
    server = Server(folder)
    try:
        for body in (b"", b"{", b'{"token": 1}', b'{"token": "' + b"x" * 5000 + b'"}'):
            assert ask(server, "/api/login", "POST", body, Origin=own(server)).status == 400
        assert login(server, good, Sec_Fetch_Site="cross-site").status == 403
        statuses = [login(server, "wick_" + "0" * 64).status for _ in range(12)]
        assert statuses[0] == 401 and statuses[-1] == 429 and set(statuses) == {401, 429}
        limited = login(server, good)
        assert limited.status == 429 and int(limited.headers["Retry-After"]) >= 1
        audit = [json.loads(line) for line in (folder / "audit.log").read_text().splitlines()]
        assert {401, 429} <= {line["status"] for line in audit if line["path"] == "/api/login"}
    finally:
        assert server.stop() == 0


def test_a_cookie_is_worth_as_long_as_its_token(tmp_path):
    folder = tmp_path / "data"
    token = add_token(folder, "read")
    lines = (folder / "tokens").read_text().splitlines()
    words = lines[-1].split(" ", 5)
    words[3] = str(int(time.time()) + 6)
    (folder / "tokens").write_text("\n".join([*lines[:-1], " ".join(words)]) + "\n")
    server = Server(folder)
    try:
        answer = login(server, token)
        if answer.status == 200:  # else it has expired already
            assert int(answer.headers["Set-Cookie"].split("Max-Age=")[1].split(";")[0]) <= 6
        deadline = time.monotonic() + TIMEOUT
        name = "wick_" + server.url.rstrip("/").rsplit(":", 1)[1]
        while ask(server, "/api/services", Cookie=f"{name}={token}").status != 401:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert login(server, token).status == 401
    finally:
        assert server.stop() == 0


def test_with_tls_the_cookie_is_sent_over_tls_only(tmp_path):
    openssl = shutil.which("openssl")
    if not openssl:
        pytest.skip("openssl is not there to make a certificate")
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run([openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True, timeout=TIMEOUT)
    token = add_token(tmp_path / "data", "read")
    server = Server(tmp_path / "data", "--tls-cert", cert, "--tls-key", key)
    context = ssl.create_default_context(cafile=cert)
    try:
        answer = login(server, token, context=context)
        assert answer.status == 200
        assert answer.headers["Set-Cookie"].startswith("__Host-wick_") and "; Secure" in answer.headers["Set-Cookie"]
        assert ask(server, "/api/services", context=context, Cookie=cookie_of(answer)).status == 200
        plain = own(server).replace("https:", "http:")
        assert ask(server, "/api/services", context=context, Cookie=cookie_of(answer), Origin=plain).status == 403
    finally:
        assert server.stop() == 0


def test_only_stacks_with_a_call_in_a_language(server, tmp_path):  # noqa: F811
    window = make_window(tmp_path, "app;main;core::fmt::write;memcpy 10\napp;main;memcpy 5\napp;main;core::fmt::write 2\n")
    assert server.push(window)[0] == 200
    assert server.folded(language="rust") == {"main;core::fmt::write;memcpy": 10, "main;core::fmt::write": 2}
    assert server.folded(language="C") == server.folded()
    assert server.folded(language="python") == {}
    assert server.json("/api/profile", type="samples", language="rust")["samples"] == 12
    assert server.request("/api/profile?language=cobol")[0] == 400
    changes = server.request("/api/diff?type=samples&language=rust&format=csv")[1].decode()
    assert "core::fmt::write" in changes and server.request("/api/diff?language=cobol")[0] == 400


def test_a_picture_has_the_size_that_was_asked_for(server, tmp_path):  # noqa: F811
    deep = ";".join(f"f{i}" for i in range(200))
    assert server.push(make_window(tmp_path, f"app;{deep} 10\n"))[0] == 200
    for path in ("/api/profile", "/api/diff"):
        answer = ask(server, path + "?type=samples&format=png&width=500&height=400")
        if answer.status == 415:
            pytest.skip("this wick cannot draw a PNG")
        assert answer.status == 200 and answer.headers["Content-Type"] == "image/png"
        assert answer.body[:8] == b"\x89PNG\r\n\x1a\n"
        width, height = (int.from_bytes(answer.body[at:at + 4], "big") for at in (16, 20))
        assert width == 1000 and 600 <= height <= 800  # two pixels per px
        for bad in ("width=100", "width=4001", "height=0", "height=100000", "width=x"):
            assert ask(server, f"{path}?type=samples&format=png&{bad}").status == 400, bad


def test_a_page_that_is_open_gets_the_data_alone(server, tmp_path):  # noqa: F811
    assert server.push(make_window(tmp_path, "app;main;hot 10\n"))[0] == 200
    for path in ("/api/profile", "/api/diff"):
        answer = ask(server, path + "?type=samples&format=page")
        assert answer.status == 200 and answer.headers["Content-Type"] == "application/octet-stream"
        size = int.from_bytes(answer.body[:4], "little")
        assert isinstance(json.loads(answer.body[4:4 + size]), dict)
        assert b"hot" in gzip.decompress(answer.body[4 + size:])


class Stream:
    """A stream of server-sent events."""

    def __init__(self, server, path, **headers):
        url = urllib.parse.urlsplit(server.url)
        self.connection = http.client.HTTPConnection(url.hostname, url.port, timeout=TIMEOUT)
        self.connection.request("GET", path, headers=headers)
        self.answer = self.connection.getresponse()

    def event(self):
        """The next event and its data; None at the end."""
        name = None
        while True:
            line = self.answer.readline().decode()
            if not line:
                return None
            if line.startswith("event: "):
                name = line[7:].strip()
            if line.startswith("data: "):
                return name, json.loads(line[6:])

    def close(self):
        self.connection.close()


def test_a_push_of_a_watched_service_is_a_step_of_its_stream(server, tmp_path):  # noqa: F811
    stream = Stream(server, "/api/live?query=app&type=samples&window=30")
    other = Stream(server, "/api/live?query=another&type=samples")
    assert stream.answer.status == 200 and stream.answer.headers["Content-Type"].startswith("text/event-stream")
    name, first = stream.event()
    assert name == "step" and first["newest"] == 0 and first["samples"] == 0 and first["to"] - first["from"] == 30
    assert other.event()[0] == "step"
    answer = json.loads(server.push(make_window(tmp_path, "app;main 10\n"), "one")[1])
    assert answer["window_s"] == 5
    name, step = stream.event()
    assert name == "step" and step["samples"] == 10 and step["newest"] == step["to"]
    assert "window_s" not in json.loads(server.push(make_window(tmp_path, "web;main 10\n", "b"), "two")[1])
    assert 'wick_server_streams 2' in server.request("/metrics")[1].decode()
    stream.close()
    deadline = time.monotonic() + TIMEOUT  # the server notices that the page has gone
    while 'wick_server_streams 1' not in server.request("/metrics")[1].decode():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert "window_s" not in json.loads(server.push(make_window(tmp_path, "app;main 5\n", "c"), "three")[1])
    # What is there already is in the first step.
    again = Stream(server, "/api/live?query=app&type=samples&window=600")
    assert again.event()[1]["samples"] == 15
    for bad in ("window=0", "window=601", "query=%7B"):
        assert server.request(f"/api/live?{bad}")[0] == 400
    # The server does not wait for those who watch.
    assert server.stop() == 0
    assert again.event() is None and other.event() is None


def test_streams_have_limits_and_take_no_slot(server):  # noqa: F811
    streams = [Stream(server, "/api/live?query=app") for _ in range(16)]
    try:
        assert all(stream.event()[0] == "step" for stream in streams)
        refused = Stream(server, "/api/live?query=app")
        assert refused.answer.status == 503 and "too many" in json.loads(refused.answer.read())["error"]
        assert server.request("/api/services")[0] == 200
    finally:
        for stream in streams:
            stream.close()


def test_a_stream_ends_with_its_token(tmp_path):
    folder = tmp_path / "data"
    token = add_token(folder, "read")
    keep = add_token(folder, "admin")
    server = Server(folder)
    try:
        assert Stream(server, "/api/live").answer.status == 401
        stream = Stream(server, "/api/live?query=app", Authorization="Bearer " + token)
        assert stream.event()[0] == "step"
        listed = json.loads(subprocess.run([WICK, "token", "list", "--format", "json", "--data", folder],
                                           capture_output=True, text=True, check=True).stdout)
        identity = next(token["id"] for token in listed if token["access"] == "read")
        subprocess.run([WICK, "token", "revoke", identity, "--data", folder], check=True, timeout=TIMEOUT)
        server.process.send_signal(signal.SIGHUP)
        assert stream.event() is None
        assert server.request("/api/services", token=keep)[0] == 200
    finally:
        assert server.stop() == 0


def test_bursts_are_listed_with_who_asked_and_their_limits(tmp_path):
    folder = tmp_path / "data"
    tokens = {access: add_token(folder, access) for access in ("read", "write", "admin")}
    server = Server(folder)
    try:
        order = json.dumps({"service": "app", "rate": 200, "seconds": 30, "hosts": 3}).encode()
        assert server.request("/api/burst", order, token=tokens["admin"])[0] == 200
        listed = json.loads(server.request("/api/bursts", token=tokens["read"])[1])
        assert listed["limits"] == {"hosts": 10, "interval_s": 600, "rate_max": 1000, "seconds_max": 600}
        burst, = listed["bursts"]
        assert (burst["service"], burst["rate"], burst["seconds"], burst["hosts"]) == ("app", 200, 30, 3)
        assert "for admin" in burst["by"] and burst["started"] == 0 and burst["asked"] <= listed["now"]
        window = make_window(tmp_path, "app;main 10\n")
        assert b'"burst"' in server.request("/api/push", window, token=tokens["write"])[1]
        burst, = json.loads(server.request("/api/bursts", token=tokens["read"])[1])["bursts"]
        assert burst["started"] >= burst["asked"] and burst["hosts_started"] == 1
    finally:
        assert server.stop() == 0

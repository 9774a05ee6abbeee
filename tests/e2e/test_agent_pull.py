# SPDX-License-Identifier: BSD-2-Clause
"""wick agent --listen: what profilers fetch from an agent, and who may."""
import base64
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import contract
import pprof
import pytest
from conftest import LONG, PATIENCE, WICK, workload

pytestmark = [pytest.mark.perf, pytest.mark.root]
STEADY = ("--breaker", "off", "--overhead", "off", "--max-memory", "off")
TIMEOUT = 120 * PATIENCE


class Agent:
    def __init__(self, wick, *options, token=True):
        self.folder = wick.folder / "access"
        self.token = None
        if token:
            done = subprocess.run([WICK, "token", "add", "read", "--data", self.folder], capture_output=True, text=True,
                                  check=True, timeout=TIMEOUT)
            self.token = done.stdout.strip()
        self.process = wick.start("agent", "--spool", wick.folder / "spool", "--listen", "127.0.0.1:0",
                                  "--listen-tokens", self.folder / "tokens", *STEADY, *options)
        line = self.process.stderr.readline()
        self.port = int(re.search(r"listening on 127.0.0.1, port (\d+)", line).group(1))

    def get(self, path, token=None, **query):
        """Status and body."""
        url = f"http://127.0.0.1:{self.port}{path}?{urllib.parse.urlencode(query)}"
        headers = {"Authorization": f"Bearer {token or self.token}"}
        try:
            with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=TIMEOUT) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def children(self):
        path = pathlib.Path(f"/proc/{self.process.pid}/task")
        return [pid for task in path.iterdir() for pid in (task / "children").read_text(encoding="ascii").split()]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        _, err = self.process.communicate(timeout=TIMEOUT)
        assert self.process.returncode == 0, err


def shares(data):
    """Percent of the time in hot_70() and cool_30(), and the processes."""
    profile = pprof.Profile(data)
    column = [name for name, _ in profile.types].index("cpu")
    total = sum(values[column] for _, values, _ in profile.samples)
    within = {name: 100 * sum(values[column] for stack, values, _ in profile.samples if name in stack) / total
              for name in ("hot_70", "cool_30")}
    return within, {labels["pid"] for _, _, labels in profile.samples}


def test_a_profile_of_a_service_or_of_a_process(wick, background):
    shop = background(workload("split", 600000), env={**os.environ, "WICK_SERVICE": "shop"})
    other = background(workload("spin", 600000))
    agent = Agent(wick)
    status, body = agent.get("/debug/pprof/profile", seconds=3, service="shop")
    assert status == 200, body
    within, pids = shares(body)
    assert pids == {shop.pid}
    assert within["hot_70"] > within["cool_30"] > 0
    status, body = agent.get("/debug/pprof/profile", seconds=1, pid=other.pid)
    assert status == 200, body
    assert shares(body)[1] == {other.pid}
    status, body = agent.get("/debug/pprof/profile", seconds=1)
    assert status == 200, body
    assert {shop.pid, other.pid} <= shares(body)[1]
    if shutil.which("go"):
        url = f"http://any:{agent.token}@127.0.0.1:{agent.port}/debug/pprof/profile?seconds=2&service=shop"
        done = subprocess.run(["go", "tool", "pprof", "-top", url], capture_output=True, text=True, timeout=TIMEOUT,
                              env={**os.environ, "PPROF_TMPDIR": str(wick.folder), "HOME": str(wick.folder)})
        assert done.returncode == 0, done.stderr
        assert "hot_70" in done.stdout
    agent.stop()


def test_only_who_has_a_token_gets_anything(wick):
    agent = Agent(wick)
    for path in ("/debug/pprof/", "/debug/pprof/profile", "/debug/pprof/heap", "/metrics"):
        assert agent.get(path, token="wick_" + "0" * 64)[0] == 401
    url = f"http://127.0.0.1:{agent.port}"
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(url + "/metrics", timeout=TIMEOUT)
    with urllib.request.urlopen(url + "/healthz", timeout=TIMEOUT) as answer:
        assert json.loads(answer.read()) == {"ok": True}
    password = base64.b64encode(f"any:{agent.token}".encode()).decode()  # what curl -u and go tool pprof send
    request = urllib.request.Request(url + "/metrics", headers={"Authorization": "Basic " + password})
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
        assert answer.status == 200
    status, body = agent.get("/debug/pprof/")
    assert status == 200 and b"profile" in body
    status, body = agent.get("/metrics")
    assert status == 200 and b"wick_agent_spool_windows " in body
    agent.stop()


@pytest.mark.parametrize("path, query, status, words", [
    ("profile", {"service": "no-such-service"}, 404, "no process"),
    ("profile", {"pid": "999999999"}, 404, "ended"),
    ("profile", {"pid": "one"}, 400, "pid"),
    ("profile", {"pid": "1", "service": "x"}, 400, "not both"),
    ("profile", {"seconds": "61"}, 400, "1 to 60"),
    ("profile", {"seconds": "0"}, 400, "1 to 60"),
    ("heap", {}, 400, "service"),
    ("heap", {"pid": "1", "seconds": "1"}, 403, "--heap"),
])
def test_what_cannot_be_answered_is_refused_with_a_reason(wick, path, query, status, words):
    agent = Agent(wick)
    got, body = agent.get("/debug/pprof/" + path, **query)
    assert got == status, body
    assert words in json.loads(body)["error"]
    agent.stop()


def test_few_recordings_run_at_once_and_none_outlives_the_agent(wick, background):
    shop = background(workload("split", 600000))
    agent = Agent(wick)
    answers = []

    def ask():
        try:
            answers.append(agent.get("/debug/pprof/profile", seconds=60, pid=shop.pid)[0])
        except OSError:
            answers.append("none")

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + TIMEOUT
    while len(agent.children()) < 2:
        assert time.monotonic() < end
        time.sleep(0.1)
    children = agent.children()
    status, body = agent.get("/debug/pprof/profile", seconds=1, pid=shop.pid)
    assert status == 429, body
    agent.stop()
    for thread in threads:
        thread.join()
    assert set(answers) <= {503, "none"}  # they were ended, not waited for
    assert not any(pathlib.Path(f"/proc/{pid}").exists() for pid in children)
    assert shop.poll() is None


def test_the_heap_of_a_service_that_was_named(wick, background):
    code = "import time\nwhile True:\n    kept = [bytes(200000) for _ in range(50)]\n    time.sleep(0.01)"
    shop = background(["/usr/bin/python3", "-c", code], env={**os.environ, "WICK_SERVICE": "shop"})
    agent = Agent(wick, "--heap", "shop", "--heap-sample", "64K")
    status, body = agent.get("/debug/pprof/heap", seconds=3, service="shop")
    if status == 500 and wick.run("heap", "-p", shop.pid, "-d", "1", "-o", "x.wick").returncode != 0:
        pytest.skip("heaps of running processes cannot be recorded here")
    assert status == 200, body
    profile = pprof.Profile(body)
    column = [name for name, _ in profile.types].index("alloc_space")
    assert sum(values[column] for _, values, _ in profile.samples) > 1000000
    assert shop.poll() is None
    agent.stop()
    assert shop.poll() is None


@pytest.mark.skipif(not LONG, reason="waits until the breaker opens: WICK_LONG=1")
def test_nothing_is_recorded_while_the_agent_pauses(wick, background):
    busy = [background(workload("spin", 600000)) for _ in range(os.cpu_count() // 8 + 1)]
    agent = Agent(wick, "--breaker", "10")
    deadline = time.monotonic() + TIMEOUT
    status, body = 200, b""
    while status != 503 and time.monotonic() < deadline:
        status, body = agent.get("/debug/pprof/profile", seconds=1, pid=busy[0].pid)
    assert status == 503
    assert "paused" in json.loads(body)["error"]
    assert agent.get("/healthz")[0] == 200
    agent.stop()


@pytest.mark.parametrize("options, words", [
    (("--listen", "127.0.0.1:0"), "no tokens"),
    (("--listen", "0.0.0.0:0"), "no TLS"),
])
def test_it_does_not_listen_without_tokens_or_tls(wick, options, words):
    done = wick.run("agent", "--spool", wick.folder / "spool", "--listen-tokens", wick.folder / "none", *options)
    assert done.returncode == contract.FAILED
    assert words in done.stderr and "wick token add" in done.stderr


@pytest.mark.skipif(not LONG, reason="waits for more than ten seconds: WICK_LONG=1")
def test_clients_that_send_a_byte_now_and_then_do_not_hold_the_agent(wick):
    # They are ended long before a window is.
    agent = Agent(wick, "--window", "60s")
    begin = time.monotonic()
    slow = [socket.create_connection(("127.0.0.1", agent.port), TIMEOUT) for _ in range(16)]
    ended = set()
    deadline = time.monotonic() + TIMEOUT
    while len(ended) < len(slow) and time.monotonic() < deadline:
        for one in slow:
            try:
                one.sendall(b"G")
            except OSError:
                ended.add(one)
        time.sleep(0.1)
    assert len(ended) == len(slow)
    if time.monotonic() - begin < 50:  # else this machine is too slow to tell
        assert "wick_agent_windows_total 0" in agent.get("/metrics")[1].decode()
    assert agent.get("/metrics")[0] == 200
    for one in slow:
        one.close()
    agent.stop()

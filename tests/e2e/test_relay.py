# SPDX-License-Identifier: BSD-2-Clause
"""wick relay: what agents sent through it is what the server has, whatever is killed in between."""
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import pytest

from conftest import BUILD, PATIENCE, ROOT, WICK, wait_for, workload
from test_server import LIBRARY, TIMEOUT, Server

sys.path.insert(0, str(ROOT / "bench"))
import ingest  # noqa: E402

pytestmark = pytest.mark.skipif(LIBRARY is None, reason="libduckdb.so is not there: make fetches it")
AGENTS, WINDOWS, ROWS = 24, 3, 100


class Relay:
    def __init__(self, folder, server_url, *options):
        self.folder, self.server_url, self.options, self.port = folder, server_url, options, 0
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [WICK, "relay", "--listen", f"127.0.0.1:{self.port}", "--server", self.server_url, "--spool", self.folder,
             "--max-rate", "off", "--gather", "300ms", *self.options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        found = re.match(r"listening on (\S+:(\d+)),", line)
        assert found, line + self.process.stderr.read()
        self.url, self.port = found.group(1), int(found.group(2))

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        _, self.said = self.process.communicate(timeout=TIMEOUT)
        return self.process.returncode

    def metrics(self):
        with urllib.request.urlopen(self.url + "/metrics", timeout=TIMEOUT) as answer:
            return {line.split()[0]: float(line.split()[1]) for line in answer.read().decode().splitlines() if line[0] != "#"}

    def is_empty(self):
        found = self.metrics()
        return found["wick_relay_inbox_windows"] == 0 and found["wick_relay_outbox_windows"] == 0

    def drain(self):
        wait_for(self.is_empty, 60 * PATIENCE, "windows to reach the server")

    def push(self, body, **headers):
        request = urllib.request.Request(self.url + "/api/push", data=body,
                                         headers={name.replace("_", "-"): value for name, value in headers.items()})
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path / "data", "--max-rate", "100000")
    yield server
    if server.process.poll() is None:
        assert server.stop() == 0


@pytest.fixture
def relay(tmp_path, server):
    relay = Relay(tmp_path / "relay", server.url)
    yield relay
    if relay.process.poll() is None:
        assert relay.stop() == 0


def send(url, agents=AGENTS, windows=WINDOWS, rows=ROWS, env=None):
    """Sends windows of many agents, and says what was acknowledged: {host: (samples, value)}."""
    done = subprocess.run([BUILD / "bench/ingest_bench", url, *map(str, (agents, 1, windows, rows))], capture_output=True,
                          text=True, timeout=TIMEOUT, check=True, env={**os.environ, **(env or {})})
    said, hosts = ingest.read_output(done.stdout.splitlines()[1:])
    assert said["refused"] == [0] and said["acknowledged"] == [agents * windows]
    return hosts


def stored(server, since="0"):
    found = server.json("/api/hosts", **{"from": since, "to": str(int(time.time()) + 86400)})
    return {item["name"]: (item["samples"], item["value"]) for item in found["hosts"]}


def make_window(tmp_path):
    """A recording with one stack, which does not say where and when it was made."""
    folded, path = tmp_path / "app.folded", tmp_path / "app.wick"
    folded.write_text("app;main;work 7\n")
    subprocess.run([WICK, "import", folded, "-o", path], check=True, timeout=TIMEOUT)
    return path.read_bytes()


def test_sums_of_each_host_are_exactly_what_its_agent_sent(server, relay):
    hosts = send(relay.url)
    relay.drain()
    assert stored(server) == hosts
    found = relay.metrics()
    assert found["wick_relay_windows_total"] == AGENTS * WINDOWS
    assert found["wick_relay_merged_windows_total"] + found["wick_relay_passed_total"] == AGENTS * WINDOWS
    assert found["wick_relay_merged_windows_total"] > AGENTS  # most waited for others
    assert found["wick_relay_sent_bytes_total"] < found["wick_relay_received_bytes_total"]


def test_stacks_are_those_that_a_server_has_without_a_relay(tmp_path, server, relay):
    plain = Server(tmp_path / "plain", "--max-rate", "100000")
    try:
        send(plain.url, agents=6, windows=2)
        send(relay.url, agents=6, windows=2)
        relay.drain()
        whole = {"query": "service1", "type": "cpu", "from": "-2h", "to": "2100-01-01T00:00:00Z"}
        assert server.folded(**whole) == plain.folded(**whole) != {}
        assert server.json("/api/services", **{"from": "-2h"})["services"] != []
    finally:
        plain.stop()


def test_a_chain_of_relays_is_exact(tmp_path, server, relay):
    first = Relay(tmp_path / "first", relay.url)
    try:
        hosts = send(first.url, agents=8)
        first.drain()
        relay.drain()
        assert stored(server) == hosts
    finally:
        first.stop()


def kill_often(stop, victim):
    while not stop.wait(0.4):
        victim.stop(signal.SIGKILL)
        victim.start()


def test_a_relay_that_is_killed_loses_nothing_that_it_acknowledged(server, relay):
    stop = threading.Event()
    killer = threading.Thread(target=kill_often, args=(stop, relay))
    killer.start()
    try:
        hosts = send(relay.url, windows=4)
    finally:
        stop.set()
        killer.join()
    relay.drain()
    assert stored(server) == hosts


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


def test_windows_wait_for_a_server_that_is_away(tmp_path):
    port = free_port()
    relay = Relay(tmp_path / "relay", f"http://127.0.0.1:{port}")
    hosts = send(relay.url, agents=8)
    assert relay.stop() == 0  # what it has survives a restart
    assert "windows are kept until they can be sent" in relay.said
    server = Server(tmp_path / "data", "--max-rate", "100000", "--listen", f"127.0.0.1:{port}")
    relay.start()
    try:
        relay.drain()
        assert stored(server) == hosts
    finally:
        relay.stop()
        server.stop()


def test_agents_keep_their_windows_when_the_relay_has_no_room(tmp_path):
    relay = Relay(tmp_path / "relay", f"http://127.0.0.1:{free_port()}", "--spool-size", "64M", "--gather", "600s")
    try:
        filler = tmp_path / "relay" / "inbox" / "0000000000000001-old-1.wick"
        assert relay.stop() == 0
        with open(filler, "wb") as file:
            file.truncate(33 << 20)
        relay.start()
        status, answer = relay.push(b"x" * 100, X_Wick_Window="a-1-1")
        assert status == 503 and "no room" in answer["error"]
        assert relay.metrics()["wick_relay_delayed_total"] == 1
    finally:
        relay.stop()


def test_a_window_that_comes_on_two_ways_is_stored_once(tmp_path, server, relay):
    window = make_window(tmp_path)
    for identity in ("a-1-1", "a-1-2", "a-1-1"):
        assert relay.push(window, X_Wick_Window=identity)[0] == 200
        assert server.push(window, identity)[0] == 200
    relay.drain()
    assert server.folded(query="app", **{"from": "-2h"}) == {"main;work": 14}


@pytest.mark.parametrize("agents", [1, 6], ids=["not merged", "merged"])
def test_clocks_of_agents_are_corrected(server, relay, clock, agents):
    clock.step(-5 * 3600)
    hosts = send(relay.url, agents=agents, windows=1, env=clock.env)
    relay.drain()
    assert stored(server, since="-10m") == hosts
    offsets = [agent["clock_offset_s"] for agent in server.json("/api/agents")["agents"]]
    assert [abs(offset - 5 * 3600) < 60 for offset in offsets] == [True] * agents, offsets


def window_of_host(tmp_path, host):
    """A recording made on a host of this name."""
    path = tmp_path / f"{host}.wick"
    done = subprocess.run(["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', host, WICK, "record", "-q", "-o", path,
                           "--label", "service=service1", "--", *workload("spin", 300)], capture_output=True, timeout=TIMEOUT, check=False)
    if done.returncode != 0:
        pytest.skip(f"no host name of our own: {done.stderr}")
    return path.read_bytes()


def ask_for_burst(server):
    status, answer = server.request("/api/burst", json.dumps({"service": "service1", "rate": 500, "seconds": 5}).encode(),
                                    {"Content-Type": "application/json"})
    assert status == 200, answer


def test_a_burst_reaches_one_of_the_agents_behind_the_relay(tmp_path, server, relay):
    send(relay.url, agents=8, windows=1)  # hosts 1 and 6 run service1
    ask_for_burst(server)
    send(relay.url, agents=8, windows=1)
    relay.drain()
    window = window_of_host(tmp_path, "other")
    assert "burst" not in relay.push(window, X_Wick_Window="other-1-1")[1]
    burst = relay.push(window_of_host(tmp_path, "host6"), X_Wick_Window="host6-2-1")[1]["burst"]
    assert (burst["service"], burst["rate"], burst["seconds"]) == ("service1", 500, 5)


def test_a_burst_for_a_window_that_is_not_merged_reaches_its_agent(tmp_path, server, relay):
    window = window_of_host(tmp_path, "alone")
    relay.push(window, X_Wick_Window="alone-1-1")
    relay.drain()
    ask_for_burst(server)
    relay.push(window, X_Wick_Window="alone-1-2")
    relay.drain()
    assert relay.push(window, X_Wick_Window="alone-1-3")[1]["burst"]["rate"] == 500
    assert "burst" not in relay.push(window, X_Wick_Window="alone-1-4")[1]


@pytest.mark.parametrize("body, headers, why", [
    (b"", {"X_Wick_Window": "a-1-1"}, "not a wick recording"),
    (b"nonsense" * 100, {"X_Wick_Window": "a-1-1"}, "not a wick recording"),
    (None, {}, "no id"),
    (None, {"X_Wick_Window": "a" * 200}, "too long"),
])
def test_what_is_no_window_is_refused_with_the_reason(tmp_path, relay, body, headers, why):
    status, answer = relay.push(make_window(tmp_path) if body is None else body, **headers)
    assert status == 400 and why in answer["error"], answer
    assert answer["remedy"]
    assert relay.metrics()["wick_relay_refused_total"] == 1


def test_a_cut_window_is_refused(tmp_path, relay):
    status, answer = relay.push(make_window(tmp_path)[:-40], X_Wick_Window="a-1-1")
    assert status == 400 and "damaged or cut off" in answer["error"]


def test_without_a_server_it_says_what_to_give(wick):
    done = wick.run("relay")
    assert done.returncode == 2 and "--server URL" in done.stderr


def test_other_addresses_than_loopback_need_tls_and_tokens(wick, tmp_path):
    done = wick.run("relay", "--server", "http://127.0.0.1:9", "--listen", "0.0.0.0:0", "--spool", tmp_path / "spool")
    assert done.returncode == 1 and "TLS" in done.stderr

# SPDX-License-Identifier: BSD-2-Clause
"""Faults around agent and server: networks, clocks, disks and clients that do not behave. What was
acknowledged stays, what waits arrives, and messages say what is wrong.

Killed writers, damaged files and steps of the clock inside the store are in tests/unit/test_store_faults.c.
"""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time

import pytest

from conftest import LONG, PATIENCE, WICK, workload
from test_server import LIBRARY, Server, field, make_window, peak_memory

pytestmark = pytest.mark.skipif(LIBRARY is None, reason="libduckdb.so is not there: make fetches it")
TIMEOUT = 60 * PATIENCE
AGENT_ADDRESS, SERVER_ADDRESS = "10.111.0.1", "10.111.0.2"


def wait_for(condition, seconds=120):
    end = time.monotonic() + seconds * PATIENCE
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


class Spool:
    """Windows that wait: each has one sample, of a function of its own."""

    def __init__(self, tmp_path, count):
        self.folder = tmp_path / "spool"
        self.folder.mkdir(mode=0o700)
        for i in range(count):
            data = make_window(tmp_path, f"app;main;f{i} 1\n")
            (self.folder / f"{i + 1:016x}-host-1-{i}.wick").write_bytes(data)
        self.names = self.waiting()
        self.expected = {f"main;f{i}": 1 for i in range(count)}

    def waiting(self):
        return sorted(path.name for path in self.folder.glob("*-host-1-*.wick"))

    def is_empty_in_order(self):
        """Whether all were sent; those that wait are always the last ones."""
        waiting = self.waiting()
        assert waiting == self.names[len(self.names) - len(waiting):]
        return not waiting


def start_agent(spool, url, *options, prefix=(), env=None):
    return subprocess.Popen([*map(str, prefix), WICK, "agent", "--server", url, "--spool", spool.folder, "--breaker", "off",
                             "--overhead", "off", *map(str, options)], stderr=subprocess.PIPE, text=True,
                            env={**os.environ, **(env or {})})


def stop(agent):
    agent.send_signal(signal.SIGTERM)
    _, err = agent.communicate(timeout=TIMEOUT)
    return err


def own_stacks(server, query="app"):
    return server.folded(query=query, **{"from": "-2h", "to": "2100-01-01T00:00:00Z"})


# The network

def ip(*words):
    return subprocess.run(["ip", *words], capture_output=True, text=True, timeout=TIMEOUT, check=False)


class Network:
    """Two hosts and a wire."""

    def __init__(self):
        self.agent, self.server = (f"wick-{os.getpid()}-{end}" for end in ("a", "s"))
        self.wires = [f"wa{os.getpid()}", f"ws{os.getpid()}"]
        steps = [["netns", "add", self.agent], ["netns", "add", self.server],
                 ["-n", self.agent, "link", "add", self.wires[0], "type", "veth", "peer", "name", self.wires[1],
                  "netns", self.server]]
        for name, wire, address in ((self.agent, self.wires[0], AGENT_ADDRESS), (self.server, self.wires[1], SERVER_ADDRESS)):
            steps += [["-n", name, "link", "set", "lo", "up"], ["-n", name, "address", "add", address + "/24", "dev", wire],
                      ["-n", name, "link", "set", wire, "up"]]
        for step in steps:
            done = ip(*step)
            if done.returncode != 0:
                self.close()
                pytest.skip(f"no network of our own: {done.stderr}")

    def cut(self):
        """At the far end: nobody is told, packets just get lost."""
        assert ip("-n", self.server, "link", "set", self.wires[1], "down").returncode == 0

    def join(self):
        assert ip("-n", self.server, "link", "set", self.wires[1], "up").returncode == 0

    def close(self):
        for name in (self.agent, self.server):
            ip("netns", "del", name)


@pytest.fixture
def network():
    if not shutil.which("ip") or os.geteuid() != 0:
        pytest.skip("needs root and ip (Debian: iproute2)")
    network = Network()
    yield network
    network.close()


class FarServer(Server):
    """A server on the other host, with TLS and tokens."""

    def __init__(self, network, tmp_path):
        openssl = shutil.which("openssl")
        if not openssl:
            pytest.skip("openssl is not there to make a certificate")
        self.network = network
        self.cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
        subprocess.run([openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-keyout", key, "-out", self.cert, "-days", "2", "-subj", "/CN=server",
                        "-addext", f"subjectAltName=IP:{SERVER_ADDRESS}"], check=True, capture_output=True, timeout=TIMEOUT)
        self.tokens = {access: subprocess.run([WICK, "token", "add", access, "--data", tmp_path / "data"], check=True,
                                              capture_output=True, text=True, timeout=TIMEOUT).stdout.strip()
                       for access in ("read", "write")}
        self.port = 4040
        super().__init__(tmp_path / "data", "--listen", f"{SERVER_ADDRESS}:{self.port}", "--tls-cert", self.cert, "--tls-key", key,
                         prefix=("ip", "netns", "exec", network.server))

    def ask(self):
        """Stacks and values, asked on the server's host."""
        done = subprocess.run(["ip", "netns", "exec", self.network.server, WICK, "query", "--server", self.url, "--ca", self.cert,
                               "app", "--type", "samples", "--format", "folded"], capture_output=True, text=True, timeout=TIMEOUT,
                              env={**os.environ, "WICK_TOKEN": self.tokens["read"]}, check=True)
        lines = [line.rsplit(" ", 1) for line in done.stdout.splitlines()]
        return {stack.split(";", 1)[1]: int(value) for stack, value in lines}


@pytest.mark.perf
@pytest.mark.root
def test_windows_arrive_once_and_in_order_over_a_network_that_breaks(network, tmp_path):
    spool = Spool(tmp_path, 60)
    server = FarServer(network, tmp_path)
    agent = None
    try:
        agent = start_agent(spool, server.url, "--ca", server.cert, prefix=("ip", "netns", "exec", network.agent),
                            env={"WICK_TOKEN": server.tokens["write"]})
        # The wire is cut while windows are on their way, for longer than a packet waits.
        wait_for(lambda: len(spool.waiting()) < 58)
        network.cut()
        time.sleep(2)
        held = spool.waiting()
        assert held == spool.names[len(spool.names) - len(held):] and agent.poll() is None
        network.join()
        wait_for(lambda: len(spool.waiting()) < max(len(held) - 5, 1))
        # The server dies without a word: the agent's connection has no other end.
        network.cut()
        server.stop(signal.SIGKILL)
        server.start()
        network.join()
        # A server that hangs, with its connections open.
        wait_for(lambda: len(spool.waiting()) < 30)
        server.process.send_signal(signal.SIGSTOP)
        time.sleep(1)
        server.process.send_signal(signal.SIGCONT)
        wait_for(spool.is_empty_in_order)
        assert peak_memory(agent) < 256 << 20
        stop(agent)
        assert server.ask() == spool.expected
    finally:
        network.join()
        if agent and agent.poll() is None:
            agent.kill()
            agent.communicate()
        server.stop()


# The clock

def test_a_server_whose_clock_is_set_loses_nothing_and_answers(clock, tmp_path):
    server = Server(tmp_path / "data", env=clock.env)
    now = {"X-Wick-Now": str(time.time_ns())}
    try:
        offsets = []
        for number, offset in enumerate((0, 3600, -3600, 0)):
            clock.step(offset)
            status, body = server.push(make_window(tmp_path, f"app;main;f{number} 1\n"), f"w{number}", **now)
            assert status == 200, body
            offsets.append(json.loads(body)["clock_offset_s"])
            # With all slots taken a request waits by the clock: not for an hour, not for nothing.
            assert server.request("/api/services")[0] == 200
            assert own_stacks(server) == {f"main;f{i}": 1 for i in range(number + 1)}
        assert offsets[1] >= 3590 and offsets[2] <= -3500  # the sender is the one that differs
        server.stop(signal.SIGKILL)
        server.start()
        assert own_stacks(server) == {f"main;f{i}": 1 for i in range(4)}
    finally:
        assert server.stop() == 0


@pytest.mark.perf
@pytest.mark.root
@pytest.mark.parametrize("offset", [3600, -3600])
def test_an_agent_whose_clock_is_set_sends_all_its_windows(clock, tmp_path, offset):
    spool = Spool(tmp_path, 5)
    server = Server(tmp_path / "data")
    try:
        clock.step(offset)
        agent = start_agent(spool, server.url, env=clock.env)
        wait_for(spool.is_empty_in_order)
        clock.step(0)
        err = stop(agent)
        assert agent.returncode == 0 and "removed" not in err, err
        assert own_stacks(server) == spool.expected
        [seen] = server.json("/api/agents")["agents"]
        assert seen["problem"] == ""
    finally:
        assert server.stop() == 0


# The disk

@pytest.fixture
def small_disk(tmp_path):
    """A disk, and a file on it that can be removed to make room."""
    folder = tmp_path / "disk"
    folder.mkdir()

    def make(megabytes):
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=700", "none", folder], capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            pytest.skip(f"cannot mount a small disk: {done.stderr}")
        return folder

    yield make
    subprocess.run(["umount", "-l", folder], capture_output=True, check=False)


def test_a_server_with_a_full_disk_refuses_for_now_and_recovers(small_disk, tmp_path):
    disk = small_disk(64)
    ballast = disk / "ballast"
    server = Server(disk / "data")
    stored, refused = [], []
    try:
        for number in range(200):
            if number == 1:  # now there is a store; from here on there is little room
                ballast.write_bytes(bytes(os.statvfs(disk).f_bavail * os.statvfs(disk).f_bsize - (1 << 20)))
            text = "".join(f"app;main;f{number}_{i};{'x' * 60}{i:x} 1\n" for i in range(1000))
            status, body = server.push(make_window(tmp_path, text), f"w{number}")
            (stored if status == 200 else refused).append(number)
            if status != 200:
                assert status == 507, body
                assert json.loads(body)["error"] and json.loads(body)["remedy"]
                break
        assert stored and refused
        assert server.request("/healthz")[0] == 200
        ballast.unlink()

        def comes_again():
            return server.push(make_window(tmp_path, text), f"w{refused[0]}")[0] == 200

        wait_for(comes_again)
        stored.append(refused[0])
        values = {line.split()[0]: float(line.split()[1]) for line in server.request("/metrics")[1].decode().splitlines()
                  if not line.startswith("#") and "{" not in line}
        # They come again, so they were not refused for good.
        assert values["wick_server_windows_rejected_total"] == 0 and values["wick_server_windows_delayed_total"] >= 1
        counted = [int(name.split(";")[1][1:].split("_")[0]) for name in own_stacks(server)]
        assert {number: counted.count(number) for number in set(counted)} == {number: 1000 for number in stored}
    finally:
        server.stop(signal.SIGKILL)


@pytest.mark.perf
@pytest.mark.root
def test_an_agent_with_a_full_disk_says_so_and_leaves_no_half_file(small_disk, tmp_path, background):
    background(workload("split", 600000))
    disk = small_disk(1)
    ballast = disk / "ballast"
    with open(ballast, "wb") as file:
        try:
            file.write(bytes(2 << 20))
        except OSError:
            pass
    (disk / "spool").mkdir(mode=0o700)
    agent = subprocess.Popen([WICK, "agent", "--spool", disk / "spool", "--window", "10s", "--breaker", "off"],
                             stderr=subprocess.PIPE, text=True)
    if LONG:  # it goes on, and stores again when there is room
        time.sleep(12)
        assert agent.poll() is None
        ballast.unlink()
        time.sleep(12)
        err = stop(agent)
        assert agent.returncode == 0, err
        assert list((disk / "spool").glob("*.wick"))
    else:
        time.sleep(2)
        err = stop(agent)
        assert agent.returncode == 1
        assert list((disk / "spool").iterdir()) == []
    assert f"the spool {disk}/spool: cannot write a window: no space left on device" in err
    assert f"free space in {disk}/spool" in err


# Clients

def test_clients_that_send_a_byte_now_and_then_do_not_hold_the_server(tmp_path):
    server = Server(tmp_path / "data", "--max-connections", "12", "--request-timeout", "2s")
    port = int(server.url.rsplit(":", 1)[1])
    slow = []
    try:
        for number in range(12):
            one = socket.create_connection(("127.0.0.1", port), TIMEOUT)
            one.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: " if number % 2 else
                        b"POST /api/push HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n")
            slow.append(one)
        ended = 0
        deadline = time.monotonic() + TIMEOUT
        while ended < len(slow) and time.monotonic() < deadline:
            ended = 0
            for one in slow:
                try:
                    one.sendall(b"a")
                except OSError:
                    ended += 1
            time.sleep(0.1)
        assert ended == len(slow)
        wait_for(lambda: answers(server))
        text = server.request("/metrics")[1].decode()
        assert float(re.search(r"^wick_server_timed_out_total (\S+)$", text, re.MULTILINE).group(1)) >= len(slow)
        assert float(re.search(r"^wick_server_bodies_bytes (\S+)$", text, re.MULTILINE).group(1)) == 0
        assert server.push(make_window(tmp_path, "app;main 1\n"))[0] == 200
    finally:
        for one in slow:
            one.close()
        assert server.stop() == 0


def answers(server):
    try:
        return server.request("/healthz")[0] == 200
    except OSError:
        return False


def test_a_stack_that_is_named_again_and_again_is_no_endless_work(tmp_path):
    """A few bytes for each sample, sixty thousand frames for each."""
    server = Server(tmp_path / "data")
    try:
        stacks = field(7, b"") + field(7, field(1, bytes([1]) * 60000))
        strings = field(5, b"") + field(5, b"cpu") + field(5, b"nanoseconds")
        dictionary = field(2, b"") + field(2, b"\x10\x05") + strings + stacks
        samples = field(2, bytes([8, 1]) + field(4, b"\x01")) * 1000000
        profile = field(1, bytes([8, 1, 16, 2])) + samples
        body = field(1, field(2, field(2, profile))) + field(2, dictionary)
        status, answer = server.request("/v1development/profiles", body, {"Content-Type": "application/x-protobuf"})
        assert status == 413 and b"too many frames" in answer
    finally:
        assert server.stop() == 0

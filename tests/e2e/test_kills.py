# SPDX-License-Identifier: BSD-2-Clause
"""Agent and server are killed again and again, at random moments: nothing that was acknowledged is lost or counted twice.

A few kills each; with WICK_LONG=1 there are 500, or WICK_KILLS, some of them while an hour is made a file. WICK_SEED
repeats the moments of an earlier run. The store alone, with its maintenance, is killed in tests/unit/test_store_faults.c.
"""
import http.client
import os
import random
import signal
import subprocess
import threading
import time

import pytest

import test_agent
from conftest import LONG, PATIENCE, WICK, has_events, wait_for
from test_server import LIBRARY, Server, make_window

KILLS = int(os.environ.get("WICK_KILLS") or 500) if LONG else 6
SEED = int(os.environ.get("WICK_SEED") or time.time_ns() % 1000000)
SENDERS = 3
CLOSING = 50 if LONG else KILLS + 1  # each kill of so many comes while an hour is closed, which takes half a minute
HOUR_S, CLOSED_S = 3600, 700
WAIT_S = 120 * PATIENCE
pytestmark = [pytest.mark.long] if LONG else []  # for the limit of its time


def many_stacks(service, names):
    return "".join(f"{service};main;{name} 1\n" for name in names)


class Sender(threading.Thread):
    """Sends windows as an agent does: each again with the same id, until the server has acknowledged it."""

    def __init__(self, number, server, bodies):
        super().__init__(daemon=True)
        self.number, self.server, self.bodies = number, server, bodies
        self.begun, self.acknowledged = {}, {}  # how often, by number of the body
        self.refused = []
        self.is_over = False
        self.start()

    def run(self):
        count = 0
        while not self.is_over:
            which = (count * SENDERS + self.number) % len(self.bodies)
            self.begun[which] = self.begun.get(which, 0) + 1
            while not self.send(which, f"host{self.number}-1-{count}"):
                time.sleep(0.01)
            self.acknowledged[which] = self.acknowledged.get(which, 0) + 1
            count += 1

    def send(self, which, identity):
        try:
            status, body = self.server.push(self.bodies[which], identity)
        except (OSError, http.client.HTTPException):
            return False
        if status not in (200, 503):
            self.refused.append((status, body))
        return status == 200


def added(counts):
    """The sum of what several senders counted. They may go on meanwhile."""
    sums = {}
    for one in counts:
        for which, count in one.copy().items():
            sums[which] = sums.get(which, 0) + count
    return sums


def stored(server):
    """How often the store has each body, of which each stack says the same."""
    found = {}
    for stack, value in server.folded(query="app", **{"from": "2020-01-01T00:00:00Z", "to": "2100-01-01T00:00:00Z"}).items():
        found.setdefault(int(stack.split(";")[1].split("_")[0]), set()).add(value)
    assert all(len(values) == 1 for values in found.values()), "a window is there in part"
    return {which: values.pop() for which, values in found.items()}


def assert_nothing_lost(server, senders):
    """What is stored lies between what was acknowledged before, and what was sent until now."""
    least = added(sender.acknowledged for sender in senders)
    found = stored(server)
    most = added(sender.begun for sender in senders)
    lost = {which: (count, found.get(which, 0)) for which, count in least.items() if found.get(which, 0) < count}
    extra = {which: (count, most.get(which, 0)) for which, count in found.items() if count > most.get(which, 0)}
    assert not lost and not extra, (lost, extra)


def files_of_rows(server):
    return set(server.folder.glob("store/rows/*/*"))


def wait_for_closing(server, clock, hours):
    """The hours so far are over, and one of them is being made a file by the maintenance, which runs every 20 s."""
    before = files_of_rows(server)
    clock.step(hours * HOUR_S + CLOSED_S)
    wait_for(lambda: files_of_rows(server) - before, WAIT_S, "a file of rows")


@pytest.mark.skipif(LIBRARY is None, reason="libduckdb.so is not there: make fetches it")
def test_a_server_that_is_killed_loses_nothing_and_counts_nothing_twice(clock, tmp_path):
    draw = random.Random(SEED)
    print("seed", SEED)
    bodies = [make_window(tmp_path, many_stacks("app", [f"{number}_{i}" for i in range(50)])) for number in range(SENDERS)]
    server = Server(tmp_path / "data", env=clock.env)
    senders = [Sender(number, server, bodies) for number in range(SENDERS)]
    in_start = closing = 0
    try:
        for number in range(KILLS):
            if number % CLOSING == CLOSING - 1:
                closing += 1
                wait_for_closing(server, clock, 2 * closing)
                time.sleep(draw.uniform(0, 0.1))
            else:
                time.sleep(draw.uniform(0, 0.6))
            server.stop(signal.SIGKILL)
            # New names, which are written with the first rows that need them.
            bodies.append(make_window(tmp_path, many_stacks("app", [f"{number + SENDERS}_{i}" for i in range(50)])))
            if draw.random() < 0.2:  # it is killed while it starts, too
                in_start += 1
                started = subprocess.Popen([WICK, "server", "--listen", "127.0.0.1:0", "--data", server.folder, "--duckdb",
                                            LIBRARY], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                           env=server.env)
                time.sleep(draw.uniform(0, 0.2))
                started.kill()
                started.wait()
            server.start()
            if number % 10 == 0 or number == KILLS - 1:
                assert_nothing_lost(server, senders)
        for sender in senders:
            sender.is_over = True
        for sender in senders:
            sender.join(WAIT_S)
            assert not sender.is_alive() and not sender.refused, sender.refused
        # Each was repeated until it was acknowledged: all are there, each once.
        assert stored(server) == added(sender.acknowledged for sender in senders)
        assert server.stop() == 0
    finally:
        for sender in senders:
            sender.is_over = True
        if server.process.poll() is None:
            server.stop(signal.SIGKILL)
    windows = sum(added(sender.acknowledged for sender in senders).values())
    print(f"{KILLS} kills, {closing} of them while an hour was closed, and {in_start} more during a start; "
          f"{windows} windows acknowledged")


class Spool:
    """The folder of an agent. It is read between the lives of agents, when nobody writes."""

    def __init__(self, tmp_path):
        self.tmp_path = tmp_path
        self.folder = tmp_path / "spool"
        self.folder.mkdir(mode=0o700)
        self.seen = {}  # content by id, of all windows that were ever complete
        self.next = 1

    def look(self):
        """The ids that wait, in order."""
        waiting = []
        for path in sorted(self.folder.glob("*.wick")):
            number, identity = path.stem.split("-", 1)
            self.next = max(self.next, int(number, 16) + 1)
            self.seen[identity] = path.read_bytes()
            waiting.append(identity)
        return waiting

    def put(self, identity):
        body = make_window(self.tmp_path, f"app;main;{identity} 1\n")
        (self.folder / f"{self.next:016x}-{identity}.wick").write_bytes(body)
        self.look()

    def is_damaged(self):
        return (self.folder / "damaged").exists()


def start_agent(spool, receiver):
    return subprocess.Popen([WICK, "agent", "--server", receiver.url, "--spool", spool.folder, "-F", "19", "--breaker", "off",
                             "--overhead", "off"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def kill_in_some_way(agent, draw, start_s, end_s):
    """At any moment of its start, while it sends, or while it ends and writes its last window."""
    if draw.random() < 0.5:
        time.sleep(draw.uniform(0, 2 * start_s))
    else:
        wait_for(lambda: has_events(agent.pid), WAIT_S, "sampling")
        time.sleep(draw.uniform(0.1, 0.3))
        agent.send_signal(signal.SIGTERM)
        time.sleep(draw.uniform(0, 1.2 * end_s))
    agent.kill()
    agent.wait()


def live_once(spool, receiver, identity):
    """A life that ends well: how long its start and its end take, and the agent."""
    spool.put(identity)
    begin = time.monotonic()
    agent = start_agent(spool, receiver)
    wait_for(lambda: identity in receiver.windows and has_events(agent.pid), WAIT_S, "the first window, and sampling")
    start_s = time.monotonic() - begin
    time.sleep(0.5)
    begin = time.monotonic()
    agent.send_signal(signal.SIGTERM)
    assert agent.wait(WAIT_S) == 0
    return start_s, time.monotonic() - begin, agent


def is_whole(tmp_path, body):
    (tmp_path / "one.wick").write_bytes(body)
    done = subprocess.run([WICK, "info", "--format", "json", tmp_path / "one.wick"], capture_output=True, text=True,
                          check=False)
    return done.returncode == 0 and '"complete": true' in done.stdout


@pytest.mark.perf
@pytest.mark.root
def test_an_agent_that_is_killed_loses_no_complete_window(tmp_path):
    draw = random.Random(SEED)
    print("seed", SEED)
    spool = Spool(tmp_path)
    receiver = test_agent.Server()
    agent = None
    try:
        for number in range(2):  # the first fills its cache
            start_s, end_s, agent = live_once(spool, receiver, f"host-1-0.{number}")
        for number in range(1, KILLS + 1):
            for part in range(draw.randrange(3)):
                spool.put(f"host-1-{number}.{part}")
            if draw.random() < 0.2:  # a server that has a window, but whose answer gets lost
                receiver.plan = ["die"]
            agent = start_agent(spool, receiver)
            kill_in_some_way(agent, draw, start_s, end_s)
            gone = set(spool.seen) - set(spool.look())
            assert gone <= set(receiver.windows), "a window was removed that nobody has acknowledged"
            assert not spool.is_damaged()
        receiver.plan = []
        agent = start_agent(spool, receiver)
        wait_for(lambda: not list(spool.folder.glob("*.wick")) and has_events(agent.pid), WAIT_S, "an empty spool")
        agent.send_signal(signal.SIGTERM)
        assert agent.wait(WAIT_S) == 0
    finally:
        if agent and agent.poll() is None:
            agent.kill()
            agent.wait()
        receiver.end()
    assert all(receiver.windows.get(identity) == body for identity, body in spool.seen.items())
    own = [body for identity, body in receiver.windows.items() if not identity.startswith("host-1-")]
    assert all(is_whole(tmp_path, body) for body in own)
    print(f"{KILLS} kills, a start took {start_s:.1f} s and an end {end_s:.1f} s; {len(receiver.windows)} windows "
          f"acknowledged, {len(own)} of them written by the agents")

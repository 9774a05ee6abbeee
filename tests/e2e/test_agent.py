# SPDX-License-Identifier: BSD-2-Clause
"""wick agent: what its windows hold, and that none is lost on the way to a server."""
import http.server
import math
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time

import contract
import pytest
from conftest import LONG, PATIENCE, Recording, has_events, workload

pytestmark = [pytest.mark.perf, pytest.mark.root]
takes_windows = pytest.mark.skipif(not LONG, reason="waits for several windows of ten seconds: WICK_LONG=1")
# The tests say what is true at any load: no breaker, and nothing is given up.
STEADY = ("--breaker", "off", "--overhead", "off", "--max-memory", "off")


def once(wick, seconds, *options):
    path = wick.new_path()
    done = wick.run("agent", "--once", seconds, "-o", path, *STEADY, *options)
    assert done.returncode == 0, done.stderr
    return Recording(wick, path, done)


def assert_split(report):
    """70 % in hot_70(), as exactly as so many samples can say: four standard deviations."""
    hot = contract.total_percent(report, "hot_70")
    samples = contract.sample_count(report)
    assert samples > 0
    assert (100 * hot / (hot + contract.total_percent(report, "cool_30"))
            == pytest.approx(70, abs=2 + 400 * math.sqrt(0.21 / samples)))


@pytest.mark.parametrize("who", ["agent", "server"])
def test_a_window_names_functions_services_and_releases(wick, background, who):
    named = background(workload("split", 60000),
                       env={**os.environ, "WICK_SERVICE": "shop", "WICK_RELEASE": "v7"})
    background(workload("spin", 60000))
    recording = once(wick, "3s", "-F", 199, "--label", "zone=b", "--symbolize", who)
    report = recording.report("--label", "service=shop")
    assert_split(report)
    assert {named.pid} == contract.thread_ids(recording.report("--label", "service=shop", "--by", "thread"))
    everything = contract.sample_count(recording.report())
    assert contract.sample_count(recording.report("--label", "zone=b")) == everything
    assert contract.sample_count(recording.report("--label", "release=v7")) == contract.sample_count(report)
    # Other tests run such programs at the same time.
    both = recording.report("--label", "process=split", "--label", "service=shop")
    assert contract.sample_count(both) == contract.sample_count(report)
    assert recording.info()["complete"] is True


def test_rules_name_services(wick, background):
    background(workload("split", 60000))
    recording = once(wick, "6s", "--rule", "comm=spl*:divider", "--rule", "comm")
    assert contract.sample_count(recording.report("--label", "service=divider")) > 0


def test_a_program_that_ended_before_its_window_is_known(wick):
    path = wick.new_path()
    # The program changes its function 100 times in a second: the rate is no multiple of that.
    agent = wick.start("agent", "--once", "8s", "-o", path, "-F", 237, *STEADY)
    wait_for(lambda: has_events(agent.pid))
    subprocess.run(workload("split", 1000), env={**os.environ, "WICK_SERVICE": "brief"}, check=True, stdout=subprocess.DEVNULL)
    assert agent.poll() is None, "the window ended first"
    _, said = agent.communicate(timeout=120 * PATIENCE)
    assert agent.returncode == 0, said
    assert_split(Recording(wick, path, agent).report("--label", "service=brief"))


def test_arguments_and_other_variables_are_not_in_a_window(wick, background):
    background(["sh", "-c", "while :; do :; done", "top-secret-argument"],
               env={**os.environ, "API_KEY": "top-secret-variable"})
    recording = once(wick, "2s")
    assert b"top-secret" not in recording.path.read_bytes()
    text = subprocess.run(["strings", str(recording.path)], capture_output=True, check=False).stdout
    assert b"top-secret" not in text
    listed = wick.ok("export", recording.path, "--format", "samples").stdout
    assert "top-secret" not in listed


def test_a_process_is_called_by_its_command_and_not_by_its_title(wick, background):
    background(["bash", "-c", "exec -a 'yes: top-secret worker' yes"], stdout=subprocess.DEVNULL)
    recording = once(wick, "2s")
    assert contract.sample_count(recording.report("--label", "process=yes")) > 0
    assert "top-secret" not in wick.ok("export", recording.path, "--format", "samples").stdout


class Server(http.server.ThreadingHTTPServer):
    """Keeps the windows it receives. `plan` has what to answer: a status, "hang", or a function."""

    daemon_threads = True

    def __init__(self, port=0):
        self.plan = []
        self.windows = {}  # id: body, in order of arrival
        self.headers = []
        self.asked = 0
        self.answers = []  # bodies for those that are stored
        super().__init__(("127.0.0.1", port), Handler)
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05})
        self.thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request, client_address):
        """An agent that was killed reads no answer."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    def end(self):
        self.shutdown()
        self.thread.join()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        server = self.server
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server.asked += 1
        server.headers.append({key.lower(): value for key, value in self.headers.items()})
        status = server.plan.pop(0) if server.plan else 200
        if status == "die":  # it has the window, but the agent never learns that
            server.windows.setdefault(self.headers["X-Wick-Window"], body)
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        if status == "hang":
            time.sleep(3)
        elif status == 200:
            server.windows.setdefault(self.headers["X-Wick-Window"], body)
        status = 503 if status == "hang" else status
        answer = b"no room" if status != 200 else server.answers.pop(0) if server.answers else b"{}"
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        if status == 429:
            self.send_header("Retry-After", "1")
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    started = []

    def start(port=0):
        started.append(Server(port))
        return started[-1]

    yield start
    for one in started:
        if one.thread.is_alive():
            one.end()


def start_agent(wick, url, *options, **kwargs):
    return wick.start("agent", "--server", url, "--spool", wick.folder / "spool", "--window", "10s",
                      *STEADY, *options, **kwargs)


def wait_for(condition, seconds=90):
    end = time.monotonic() + seconds * PATIENCE
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.1)


def stop(agent):
    agent.send_signal(signal.SIGTERM)
    _, err = agent.communicate(timeout=60 * PATIENCE)
    assert agent.returncode == 0, err
    return err


def window_facts(wick, folder, windows):
    """[(start, end)] of windows, which are all readable recordings."""
    times = []
    for number, body in enumerate(windows):
        path = folder / f"window-{number}.wick"
        path.write_bytes(body)
        info = wick.json("info", path, "--format", "json")
        assert info["complete"] is True
        times.append(tuple(int(info["session"][f"window.{end}"]) for end in ("start", "end")))
    return times


def test_windows_arrive_one_after_another_with_id_time_and_token(wick, background, server):
    background(workload("split", 600000))
    one = server()
    agent = start_agent(wick, one.url + "/", env={**os.environ, "WICK_TOKEN": "secret"})
    wait_for(lambda: len(one.windows) >= 2)
    stop(agent)
    assert len(one.windows) >= 3  # the open one was sent at the end
    assert len(one.windows) == one.asked
    assert {header["authorization"] for header in one.headers} == {"Bearer secret"}
    assert abs(int(one.headers[-1]["x-wick-now"]) / 1e9 - time.time()) < 60
    times = window_facts(wick, wick.folder, one.windows.values())
    for (_, end), (begin, _) in zip(times, times[1:]):
        assert abs(begin - end) < 1e9  # no time between them, by a clock that may be corrected
    assert list((wick.folder / "spool").glob("*.wick")) == []


@takes_windows
def test_a_server_that_fails_delays_and_dies_loses_nothing(wick, background, server):
    background(workload("split", 600000))
    one = server()
    one.plan = [500, 429, "hang", "die"]
    agent = start_agent(wick, one.url)
    wait_for(lambda: one.asked >= 5 and len(one.windows) >= 2)
    port = one.server_address[1]
    one.end()
    waiting = wick.folder / "spool"
    wait_for(lambda: len(list(waiting.glob("*.wick"))) >= 2)
    agent.kill()  # and a crash of the agent
    agent.wait()
    kept = sorted(path.name for path in waiting.glob("*.wick"))
    other = server(port)
    agent = start_agent(wick, other.url)
    wait_for(lambda: len(other.windows) > len(kept))
    err = stop(agent)
    assert "damaged" not in err
    # Those that waited came first, in order.
    assert [name.split("-", 1)[1][:-5] for name in kept] == list(other.windows)[:len(kept)]
    times = window_facts(wick, wick.folder, [*one.windows.values(), *other.windows.values()])
    assert times == sorted(times)
    assert not set(one.windows) & set(other.windows)


@takes_windows
def test_a_window_that_is_refused_is_not_sent_again(wick, background, server):
    background(workload("split", 600000))
    one = server()
    one.plan = [400]
    agent = start_agent(wick, one.url)
    wait_for(lambda: len(one.windows) >= 1)
    err = stop(agent)
    refused = one.headers[0]["x-wick-window"]
    assert [header["x-wick-window"] for header in one.headers].count(refused) == 1
    assert "refused" in err and "no room" in err


def test_without_a_server_the_open_window_is_kept_when_it_stops(wick, background):
    background(workload("split", 600000))
    agent = start_agent(wick, "http://127.0.0.1:9")
    time.sleep(2)
    err = stop(agent)
    assert "kept until they can be sent" in err
    [path] = (wick.folder / "spool").glob("*.wick")
    assert_split(wick.json("report", path, "--format", "json", "--label", "process=split"))


def test_damaged_files_in_the_spool_are_set_aside(wick, background, server):
    background(workload("split", 600000))
    spool = wick.folder / "spool"
    spool.mkdir(mode=0o700)
    (spool / "0000000000000001-host-1-1.wick").write_bytes(b"\0" * 100)
    (spool / "new-0000000000000002").write_bytes(b"half")
    one = server()
    agent = start_agent(wick, one.url)
    wait_for(lambda: len(one.windows) >= 1)
    err = stop(agent)
    assert "damaged" in err
    assert [path.name for path in (spool / "damaged").iterdir()] == ["0000000000000001-host-1-1.wick"]
    assert "host-1-1" not in one.windows
    assert not (spool / "new-0000000000000002").exists()


@takes_windows
def test_a_reload_applies_other_rules_to_what_runs(wick, background, server):
    background(workload("split", 600000))
    config = wick.folder / "config.json"
    config.write_text('{"agent": {"rules": ["comm=split:before"]}}', encoding="ascii")
    one = server()
    agent = start_agent(wick, one.url, "--config", config)
    wait_for(lambda: len(one.windows) >= 1)
    config.write_text('{"agent": {"rules": ["comm=split:after"]}}', encoding="ascii")
    agent.send_signal(signal.SIGHUP)
    seen = len(one.windows)
    wait_for(lambda: len(one.windows) >= seen + 2)
    config.write_text('{"agent": {"rules": ["nonsense"]}}', encoding="ascii")
    agent.send_signal(signal.SIGHUP)
    time.sleep(2)
    err = stop(agent)
    assert "read again" in err and "old configuration is kept" in err
    # The last window is short, and the one before the last is the first that began after the reload.
    for body, name in ((list(one.windows.values())[0], "before"), (list(one.windows.values())[-2], "after")):
        path = wick.new_path()
        path.write_bytes(body)
        report = wick.json("report", path, "--format", "json", "--label", f"service={name}")
        assert contract.sample_count(report) > 0


@takes_windows
def test_a_burst_raises_the_rate_of_a_host_that_runs_the_service(wick, background, server):
    background(workload("split", 600000))
    one = server()
    one.answers = [b'{"burst": {"rate": 499, "seconds": 60, "service": "split", "id": "b7"}}'] * 100
    agent = start_agent(wick, one.url, "-F", 19)
    wait_for(lambda: len(one.windows) >= 3)
    stop(agent)
    facts = []
    for body in one.windows.values():
        path = wick.new_path()
        path.write_bytes(body)
        facts.append(wick.json("info", path, "--format", "json")["session"])
    assert "agent.burst" not in facts[0]
    assert "b7" in facts[2]["agent.burst"]
    assert float(facts[2]["rate.achieved"]) > float(facts[0]["rate.achieved"])


@takes_windows
def test_short_of_memory_it_gives_up_something_says_so_and_still_ends_well(wick, background, server):
    background(workload("split", 600000))
    one = server()
    agent = start_agent(wick, one.url, "--max-memory", "32M")  # too little on any machine
    wait_for(lambda: len(one.windows) >= 3)
    err = stop(agent)
    assert "fewer services" in err
    facts = []
    for body in one.windows.values():
        path = wick.new_path()
        path.write_bytes(body)
        facts.append(wick.json("info", path, "--format", "json"))
    assert all(info["complete"] for info in facts)
    assert any(info["session"].get("agent.memory_step") for info in facts)


@takes_windows
def test_its_state_is_written_for_prometheus(wick, background, server):
    background(workload("split", 600000))
    one = server()
    path = wick.folder / "wick.prom"
    agent = start_agent(wick, one.url, "--metrics", path)
    wait_for(lambda: len(one.windows) >= 2)
    stop(agent)
    metrics = dict(line.split() for line in path.read_text(encoding="ascii").splitlines() if line[0] != "#")
    assert float(metrics["wick_agent_windows_total"]) >= 2
    assert float(metrics["wick_agent_samples_total"]) > 0
    assert float(metrics["wick_agent_sent_total"]) >= 1
    assert float(metrics["wick_agent_rate_asked_hz"]) == 99


@takes_windows
def test_its_own_cost_is_printed(wick, background, server):
    """No limit is checked here: the machine may be busy with anything."""
    for _ in range(8):
        background(workload("split", 600000))
    one = server()
    agent = start_agent(wick, one.url)
    wait_for(lambda: len(one.windows) >= 2)
    text = pathlib.Path(f"/proc/{agent.pid}/status").read_text(encoding="ascii")
    rss = next(line for line in text.splitlines() if line.startswith("VmRSS"))
    ticks = pathlib.Path(f"/proc/{agent.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    print(rss, "CPU", (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK"), "s in 20 s")
    stop(agent)


@pytest.mark.parametrize("options, words", [
    ((), "--server"),
    (("-o", "x"), "--once"),
    (("--server", "host:4040"), "http://"),
    (("--once", "5"), "-o FILE"),
    (("--once", "5", "-o", "x", "--label", "service=a"), "service"),
    (("--once", "5", "-o", "x", "--rule", "name"), "SOURCE=PATTERN"),
])
def test_wrong_options_are_refused(wick, options, words):
    done = wick.run("agent", *options)
    assert done.returncode == contract.USAGE
    assert words in done.stderr

# SPDX-License-Identifier: BSD-2-Clause
"""What watches wick itself: the shipped alerts and dashboard, and the metrics that they are made of."""
import json
import re
import shutil
import signal
import socket
import subprocess
import time

import pytest

from conftest import PATIENCE, ROOT, workload
from test_server import LIBRARY, Server, make_window

ALERTS = ROOT / "packaging/monitoring/wick-alerts.yml"
DASHBOARD = ROOT / "packaging/monitoring/wick-dashboard.json"
PROMTOOL = shutil.which("promtool")
TIMEOUT = 120 * PATIENCE
needs_promtool = pytest.mark.skipif(PROMTOOL is None, reason="promtool is not there (Debian: prometheus)")
needs_duckdb = pytest.mark.skipif(LIBRARY is None, reason="libduckdb.so is not there: make fetches it")

# A day on which nothing is wrong, a value each minute.
HEALTHY = {
    "wick_build_info": "1x200",
    "wick_server_agents": "2x200",
    'wick_server_requests_total{status="2xx"}': "0+600x200",
    'wick_server_requests_total{status="5xx"}': "0x200",
    "wick_server_windows_total": "0+60x200",
    "wick_server_windows_rejected_total": "0x200",
    'wick_server_request_seconds_bucket{path="/api/push",le="0.05"}': "0+600x200",
    'wick_server_request_seconds_bucket{path="/api/push",le="+Inf"}': "0+600x200",
    'wick_server_request_seconds_bucket{path="/api/top",le="0.5"}': "0+6x200",
    'wick_server_request_seconds_bucket{path="/api/top",le="+Inf"}': "0+6x200",
    "wick_server_bodies_bytes": "1000x200",
    "wick_server_bodies_limit_bytes": "268435456x200",
    "wick_store_damaged_files": "0x200",
    "wick_server_maintain_failures_total": "0x200",
    "wick_store_series_overflowed_total": "0x200",
    "wick_host_seen_timestamp_seconds": "0+60x200",
    "wick_host_rate_asked_hz": "99x200",
    "wick_host_rate_achieved_hz": "98x200",
    "wick_host_samples_total": "0+6000x200",
    "wick_host_samples_lost_total": "0+6x200",
    "wick_host_samples_unnamed_total": "0+60x200",
    "wick_host_ring_fill_ratio": "0.1x200",
    "wick_host_cpu_ratio": "0.008x200",
    "wick_host_budget_ratio": "0.01x200",
    "wick_host_paused_seconds_total": "0x200",
    "wick_host_clock_offset_seconds": "0x200",
    "wick_agent_sending": "1x200",
    "wick_agent_spool_bytes": "0x200",
    "wick_agent_spool_limit_bytes": "268435456x200",
    "wick_agent_spool_dropped_total": "0x200",
    "wick_agent_refused_total": "0x200",
    "wick_agent_windows_failed_total": "0x200",
    "wick_agent_spool_damaged_total": "0x200",
    "wick_agent_memory_step": "0x200",
    "wick_agent_breaker_open": "0x200",
}

# What is different when something is wrong.
WRONG = {
    "WickServerDown": {},
    "WickServerFails": {'wick_server_requests_total{status="5xx"}': "0+60x200"},
    "WickNothingArrives": {"wick_server_windows_total": "100x200"},
    "WickWindowsRefused": {"wick_server_windows_rejected_total": "0+1x200"},
    "WickIngestSlow": {'wick_server_request_seconds_bucket{path="/api/push",le="0.05"}': "0x200",
                       'wick_server_request_seconds_bucket{path="/api/push",le="5"}': "0+600x200"},
    "WickQueriesSlow": {'wick_server_request_seconds_bucket{path="/api/top",le="0.5"}': "0x200",
                        'wick_server_request_seconds_bucket{path="/api/top",le="5"}': "0+6x200"},
    "WickBodiesFull": {"wick_server_bodies_bytes": "250000000x200"},
    "WickStoreDamaged": {"wick_store_damaged_files": "1x200"},
    "WickMaintenanceFails": {"wick_server_maintain_failures_total": "0+3x200"},
    "WickLabelsMerged": {"wick_store_series_overflowed_total": "0+1x200"},
    "WickHostSilent": {"wick_host_seen_timestamp_seconds": "0x200"},
    "WickHostRateLow": {"wick_host_rate_achieved_hz": "40x200"},
    "WickHostLosesSamples": {"wick_host_samples_lost_total": "0+600x200"},
    "WickHostBuffersFull": {"wick_host_ring_fill_ratio": "0.95x200"},
    "WickHostOverBudget": {"wick_host_cpu_ratio": "0.03x200"},
    "WickHostPaused": {"wick_host_paused_seconds_total": "0+50x200"},
    "WickHostNamesMissing": {"wick_host_samples_unnamed_total": "0+4000x200"},
    "WickHostClock": {"wick_host_clock_offset_seconds": "-3600x200"},
    "WickAgentCannotSend": {"wick_agent_sending": "0x200"},
    "WickAgentSpoolFull": {"wick_agent_spool_bytes": "250000000x200"},
    "WickAgentWindowsLost": {"wick_agent_refused_total": "0+1x200"},
    "WickAgentShortOfMemory": {"wick_agent_memory_step": "1x200"},
    "WickAgentBreakerOpen": {"wick_agent_breaker_open": "1x200"},
}


def promtool(*words):
    done = subprocess.run([PROMTOOL, *map(str, words)], capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def with_instance(series, instance):
    name, _, labels = series.partition("{")
    return f'{name}{{instance="{instance}"' + ("," + labels if labels else "}")


def case(name, faults):
    """One test for promtool: an instance for each fault, and its alert and no other fires there."""
    series = [{"series": with_instance(metric, fault), "values": values}
              for fault, wrong in faults.items() for metric, values in {**HEALTHY, **wrong}.items()]
    found = [{"labels": f'{{alertname="{fault}",instance="{fault}"}}', "value": 1} for fault in faults if fault in WRONG]
    return {"name": name, "interval": "1m", "input_series": series,
            "promql_expr_test": [{"expr": 'count by (alertname, instance) (ALERTS{alertstate="firing"})',
                                  "eval_time": "120m", "exp_samples": found}]}


def names_in(text):
    return set(re.findall(r"\bwick_[a-z_]+", text))


def exported(text):
    """Names of metrics in what is written for Prometheus."""
    names = set()
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE):
        names |= {name + end for end in ("_bucket", "_sum", "_count")} if kind == "histogram" else {name}
    return names


@needs_promtool
def test_each_alert_fires_when_its_fault_is_there_and_only_then(tmp_path):
    assert "SUCCESS" in promtool("check", "rules", ALERTS)
    named = set(re.findall(r"^ *- alert: (\w+)$", ALERTS.read_text(), re.MULTILINE))
    assert named == set(WRONG)
    tests = [case("faults", {"healthy": {}, **{name: wrong for name, wrong in WRONG.items() if name != "WickServerDown"}})]
    # Nothing at all has no instance either.
    tests.append({"name": "nothing", "interval": "1m", "input_series": [],
                  "promql_expr_test": [{"expr": 'count by (alertname) (ALERTS{alertstate="firing"})', "eval_time": "30m",
                                        "exp_samples": [{"labels": '{alertname="WickServerDown"}', "value": 1}]}]})
    path = tmp_path / "test.yml"
    # JSON is YAML too.
    path.write_text(json.dumps({"rule_files": [str(ALERTS)], "evaluation_interval": "5m", "tests": tests}))
    promtool("test", "rules", path)


def test_the_dashboard_is_whole():
    dashboard = json.loads(DASHBOARD.read_text())
    panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
    assert all(panel["title"] and panel["targets"] for panel in panels)
    variables = {item["name"] for item in dashboard["templating"]["list"]}
    for panel in panels:
        for target in panel["targets"]:
            assert set(re.findall(r"\$\{?(\w+)", json.dumps(target))) <= variables


@needs_promtool
def test_prometheus_understands_what_the_dashboard_asks(tmp_path):
    dashboard = json.loads(DASHBOARD.read_text())
    rules = [{"record": f"panel:{panel['id']}:{target['refId']}", "expr": re.sub(r"\$\w+", ".*", target["expr"])}
             for panel in dashboard["panels"] for target in panel.get("targets", [])]
    path = tmp_path / "rules.yml"
    path.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    assert f"{len(rules)} rules found" in promtool("check", "rules", path)


@needs_duckdb
@pytest.mark.perf
@pytest.mark.root
def test_every_metric_of_alerts_and_dashboard_is_exported(wick, background, tmp_path):
    background(workload("split", 600000))
    server = Server(tmp_path / "data")
    try:
        path = tmp_path / "wick.prom"
        agent = wick.start("agent", "--server", server.url, "--spool", tmp_path / "spool", "--metrics", path,
                           "--breaker", "off")
        time.sleep(2)
        agent.send_signal(signal.SIGTERM)
        _, err = agent.communicate(timeout=TIMEOUT)
        assert agent.returncode == 0, err
        assert server.push(make_window(tmp_path, "app;main 10\n"))[0] == 200
        text = server.request("/metrics")[1].decode()
    finally:
        assert server.stop() == 0
    have = exported(text) | exported(path.read_text())
    asked = names_in(ALERTS.read_text()) | names_in(DASHBOARD.read_text())
    asked -= {"wick_server_", "wick_store_", "wick_host_", "wick_agent_"}  # a comment speaks of them all
    assert asked - have == set()
    if PROMTOOL:  # it also knows how metrics should be named
        for page in (text, path.read_text()):
            done = subprocess.run([PROMTOOL, "check", "metrics"], input=page, capture_output=True, text=True,
                                  timeout=TIMEOUT, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
    # What the agent says in its window is what the server says about the host.
    hosts = {name: float(value) for name, value in re.findall(r'^(wick_host_\w+)\{host="[^"]+"\} (\S+)$', text, re.MULTILINE)}
    own = {name: float(value) for name, value in re.findall(r"^(wick_agent_\w+) (\S+)$", path.read_text(), re.MULTILINE)}
    for name in ("samples_total", "samples_lost_total", "samples_unnamed_total", "rate_asked_hz", "budget_ratio"):
        assert hosts["wick_host_" + name] == pytest.approx(own["wick_agent_" + name]), name
    assert hosts["wick_host_samples_total"] > 0 and hosts["wick_host_windows_total"] == 1
    assert hosts["wick_host_rate_achieved_hz"] > 0 and hosts["wick_host_cpu_ratio"] > 0
    assert hosts["wick_host_resident_bytes"] > 1 << 20 and hosts["wick_host_budget_ratio"] == pytest.approx(0.01)


class Statsd:
    """A server that keeps {name: value} of what it is sent: counters are added up."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.socket.getsockname()[1]}"

    def read(self):
        values = {}
        self.socket.setblocking(False)
        while True:
            try:
                packet = self.socket.recv(65536)
            except BlockingIOError:
                return values
            assert len(packet) <= 1400
            for line in packet.decode().splitlines():
                name, value, kind = re.fullmatch(r"([\w.-]+):(-?[\d.e+-]+)\|([cg])", line).groups()
                values[name] = float(value) + (values.get(name, 0) if kind == "c" else 0)


@needs_duckdb
def test_statsd_gets_what_prometheus_gets(tmp_path):
    statsd = Statsd()
    server = Server(tmp_path / "data", "--statsd", statsd.address)
    for i in range(3):
        assert server.push(make_window(tmp_path, "app;main 10\n"), f"w{i}")[0] == 200
    server.push(b"tea")
    text = server.request("/metrics")[1].decode()
    assert server.stop() == 0  # and its last words
    values = statsd.read()
    assert values["wick_server_windows_total"] == 3
    assert values["wick_server_requests_total._api_push.2xx"] == 3
    assert values["wick_server_requests_total._api_push.4xx"] == 1
    assert values["wick_server_request_seconds_count._api_push"] == 4
    assert values["wick_store_rows"] == 3
    # Every counter that is not 0 and every gauge has arrived, under the same name.
    names = {line.split("{")[0].split()[0] for line in text.splitlines()
             if not line.startswith("#") and "_bucket" not in line and float(line.rsplit(" ", 1)[1]) != 0}
    assert {name for name in names if not any(key.split(".")[0] == name for key in values)} == set()


@needs_duckdb
def test_a_statsd_server_that_is_not_there_disturbs_nobody(tmp_path):
    statsd = Statsd()
    statsd.socket.close()
    server = Server(tmp_path / "data", "--statsd", statsd.address)
    assert server.push(make_window(tmp_path, "app;main 10\n"))[0] == 200
    assert server.stop() == 0


@pytest.mark.perf
@pytest.mark.root
def test_an_agent_sends_its_state_to_statsd_under_the_name_of_its_host(wick, background, tmp_path):
    background(workload("split", 600000))
    statsd = Statsd()
    agent = wick.start("agent", "--spool", tmp_path / "spool", "--statsd", statsd.address, "--breaker", "off")
    time.sleep(2)
    agent.send_signal(signal.SIGTERM)
    _, err = agent.communicate(timeout=TIMEOUT)
    assert agent.returncode == 0, err
    values = statsd.read()
    host = re.sub(r"[^A-Za-z0-9-]", "_", socket.gethostname())
    assert values[f"wick_agent_windows_total.{host}"] == 1
    assert values[f"wick_agent_samples_total.{host}"] > 0
    assert values[f"wick_agent_rate_asked_hz.{host}"] == 99


@pytest.mark.parametrize("address", ["8125", "::1:8125", "host:", "[::1]"])
def test_an_address_of_statsd_has_a_host_and_a_port(wick, tmp_path, address):
    done = wick.run("agent", "--spool", tmp_path / "spool", "--statsd", address)
    assert done.returncode != 0 and "expected HOST:PORT" in done.stderr

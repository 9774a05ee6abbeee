# SPDX-License-Identifier: BSD-2-Clause
"""wick server with --store clickhouse://: what was pushed is answered, by every server of the database."""
import os
import shutil
import signal
import socket
import subprocess
import time

import pytest

from conftest import PATIENCE, WICK
from test_server import Server, make_window, run_query

PROGRAM = os.environ.get("WICK_TEST_CLICKHOUSE") or shutil.which("clickhouse-server", path=os.environ["PATH"] + ":/usr/sbin")
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="clickhouse-server is not installed")
SECRETS = {"WICK_CLICKHOUSE_USER": "wick", "WICK_CLICKHOUSE_PASSWORD": "secret"}
CONFIG = """<yandex>
  <logger><level>error</level><log>{folder}/log</log><errorlog>{folder}/log.err</errorlog></logger>
  <listen_host>127.0.0.1</listen_host><http_port>{http}</http_port><tcp_port>{tcp}</tcp_port>
  <path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path><users_config>{folder}/users.xml</users_config>
  <default_profile>default</default_profile><default_database>default</default_database>
  <mark_cache_size>67108864</mark_cache_size>
</yandex>"""
USERS = """<yandex>
  <profiles><default><max_memory_usage>1000000000</max_memory_usage><max_threads>2</max_threads></default></profiles>
  <users><wick><password>secret</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>
    <quota>default</quota></wick></users>
  <quotas><default></default></quotas>
</yandex>"""


class ClickHouse:
    def __init__(self, folder):
        self.folder = folder
        for name in ("data", "tmp"):
            (folder / name).mkdir(parents=True)
        sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
        self.port, tcp = (item.getsockname()[1] for item in sockets)
        for item in sockets:
            item.close()
        (folder / "config.xml").write_text(CONFIG.format(folder=folder, http=self.port, tcp=tcp))
        (folder / "users.xml").write_text(USERS)
        self.start()

    def start(self):
        self.process = subprocess.Popen([PROGRAM, f"--config-file={self.folder / 'config.xml'}"], cwd=self.folder,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60 * PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                assert self.process.poll() is None and time.monotonic() < deadline, "ClickHouse does not start"
                time.sleep(0.1)

    def stop(self, number=signal.SIGTERM):
        """It does not always end when it is asked to."""
        self.process.send_signal(number)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@pytest.fixture
def clickhouse(tmp_path):
    server = ClickHouse(tmp_path / "clickhouse")
    yield server
    if server.process.poll() is None:
        server.stop()


def start(tmp_path, clickhouse, name):
    return Server(tmp_path / name, "--store", f"clickhouse://127.0.0.1:{clickhouse.port}/wick", env=SECRETS)


def test_two_servers_and_the_embedded_store_answer_alike(tmp_path, clickhouse):
    servers = [start(tmp_path, clickhouse, "first"), start(tmp_path, clickhouse, "second"), Server(tmp_path / "embedded")]
    try:
        for number in range(6):
            window = make_window(tmp_path, f"shop;main;a {number + 1}\nshop;main;b;c {2 * number + 1}\n", f"w{number}")
            for server in (servers[number % 2], servers[2]):
                status, body = server.push(window, f"h1-run-{number}")
                assert status == 200, body
        # Sent again, to the other server: it is there already.
        assert servers[1].push(make_window(tmp_path, "shop;main;a 1\nshop;main;b;c 1\n", "w0"), "h1-run-0")[0] == 200
        answers = [run_query(server, "--type", "samples", "--from", "-1h", "--format", "folded") for server in servers]
        assert answers[0].returncode == 0 and answers[0].stdout, answers[0].stderr
        assert answers[0].stdout == answers[1].stdout == answers[2].stdout
        assert sum(int(line.rsplit(" ", 1)[1]) for line in answers[0].stdout.splitlines()) == 21 + 36
    finally:
        for server in servers:
            server.stop()


def test_while_clickhouse_is_down_windows_are_not_acknowledged(tmp_path, clickhouse):
    server = start(tmp_path, clickhouse, "data")
    window = make_window(tmp_path, "shop;main;a 5\n")
    try:
        clickhouse.stop(signal.SIGKILL)
        status, body = server.push(window, "h1-run-1")
        assert status == 503, body
        assert b"does not answer" in body
        clickhouse.start()
        assert server.push(window, "h1-run-1")[0] == 200
        assert server.push(window, "h1-run-1")[0] == 200
        assert server.folded() == {"main;a": 5}
    finally:
        server.stop()


def test_a_password_is_not_accepted_on_the_command_line(tmp_path):
    done = subprocess.run([WICK, "server", "--data", tmp_path / "data", "--store", "clickhouse://wick:secret@127.0.0.1:1/x"],
                          capture_output=True, text=True, timeout=60 * PATIENCE, check=False)
    assert done.returncode == 1
    assert "WICK_CLICKHOUSE_PASSWORD" in done.stderr
    assert "secret" not in done.stderr.replace("WICK_CLICKHOUSE", "")

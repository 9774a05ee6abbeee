# SPDX-License-Identifier: BSD-2-Clause
"""The rows of bench/store.py in ClickHouse, beside the store: what they take, and the same questions.

The server is that of Debian (18.16: clickhouse-server), or the one that WICK_BENCH_CLICKHOUSE names. It listens on
loopback and is stopped after the measurement; its tables stay in BUILD/bench-data. Data is compressed with zstd
and sorted like the files of the store. Names of frames are joined, because a question that a person asks needs them.
"""
import http.client
import os
import pathlib
import shutil
import socket
import subprocess
import time

ROUNDS = 5
START_TIMEOUT_S, STOP_TIMEOUT_S = 60, 20
START_S, HOUR_S = 490000 * 3600, 3600  # as in store_bench.c
FUNCTION = "service7::module5::function2005(int)"
CONFIG = """<yandex>
  <logger><level>error</level><log>{folder}/log</log><errorlog>{folder}/log.err</errorlog></logger>
  <listen_host>127.0.0.1</listen_host><http_port>{http}</http_port><tcp_port>{tcp}</tcp_port>
  <path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path><users_config>{folder}/users.xml</users_config>
  <default_profile>default</default_profile><default_database>default</default_database>
  <mark_cache_size>1073741824</mark_cache_size><uncompressed_cache_size>0</uncompressed_cache_size>
  <compression><case><min_part_size>0</min_part_size><min_part_size_ratio>0</min_part_size_ratio><method>zstd</method></case></compression>
</yandex>"""
USERS = """<yandex>
  <profiles><default><max_memory_usage>4000000000</max_memory_usage><max_threads>2</max_threads></default></profiles>
  <users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>
    <quota>default</quota></default></users>
  <quotas><default></default></quotas>
</yandex>"""
TABLES = {
    "samples": ("service UInt16, series UInt32, time UInt32, stack UInt32, samples UInt32, value Int64",
                "MergeTree PARTITION BY intDiv(time, 86400) ORDER BY (service, intDiv(time, 3600), stack, series, time)"),
    "stacks": ("stack UInt32, frames String", "MergeTree PARTITION BY tuple() ORDER BY stack"),
    "calls": ("function String, stack UInt32, leaf UInt8", "MergeTree PARTITION BY tuple() ORDER BY (function, stack)"),
}
TIMES = f"time >= {START_S} AND time < {START_S} + {{hours}} * {HOUR_S}"
SERVICE = "service = 7 AND " + TIMES
FLAME = ("SELECT frames, n, v FROM (SELECT stack, sum(samples) AS n, sum(value) AS v FROM samples WHERE {where}"
         " GROUP BY stack) ANY LEFT JOIN stacks USING (stack)")
QUESTIONS = {  # series are 20 * host + service; the first five hosts have the old release
    "flame-1h": FLAME.format(where=SERVICE.format(hours=1)),
    "flame-24h": FLAME.format(where=SERVICE.format(hours=24)),
    "flame-1h-all": FLAME.format(where=TIMES.format(hours=1)),
    "flame-24h-host": FLAME.format(where=SERVICE.format(hours=24) + " AND series = 67"),
    "diff-24h": ("SELECT frames, a, b FROM (SELECT stack, sumIf(value, series < 100) AS a, sumIf(value, series >= 100) "
                 "AS b FROM samples WHERE " + SERVICE + " GROUP BY stack) ANY LEFT JOIN stacks USING (stack)"
                 ).format(hours=24),
    "top-24h": ("SELECT function, sum(v) AS total, sumIf(v, leaf = 1) AS own FROM (SELECT function, stack, leaf FROM "
                "calls) ALL INNER JOIN (SELECT stack, sum(value) AS v FROM samples WHERE " + SERVICE +
                " GROUP BY stack) USING (stack) GROUP BY function ORDER BY total DESC LIMIT 50").format(hours=24),
    "function-24h": ("SELECT time - time % 300 AS step, sum(value) FROM samples WHERE " + SERVICE + " AND stack IN "
                     f"(SELECT stack FROM calls WHERE function = '{FUNCTION}') GROUP BY step ORDER BY step"
                     ).format(hours=24),
    "services-24h": "SELECT service, sum(samples), sum(value) FROM samples WHERE " + TIMES.format(hours=24) +
                    " GROUP BY service",
}


def program():
    """The path of the server, or None."""
    return os.environ.get("WICK_BENCH_CLICKHOUSE") or shutil.which("clickhouse-server", path=os.environ["PATH"] + ":/usr/sbin")


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [item.getsockname()[1] for item in sockets]
    for item in sockets:
        item.close()
    return ports


class ClickHouse:
    """A server of its own. Use it in a with statement."""

    def __init__(self, folder):
        self.folder = folder

    def __enter__(self):
        for name in ("data", "tmp"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self.port, tcp = free_ports(2)
        (self.folder / "config.xml").write_text(CONFIG.format(folder=self.folder, http=self.port, tcp=tcp))
        (self.folder / "users.xml").write_text(USERS)
        self.process = subprocess.Popen([program(), f"--config-file={self.folder / 'config.xml'}"], cwd=self.folder,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            try:
                self.ask("SELECT 1")
                return self
            except OSError as error:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    self.__exit__()
                    raise RuntimeError(f"clickhouse-server does not answer: see {self.folder}/log.err") from error
                time.sleep(0.2)

    def __exit__(self, *_):
        """It does not always end when it is asked to."""
        self.process.terminate()
        try:
            self.process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def ask(self, sql, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=3600)
        try:
            if body is None:
                connection.request("POST", "/", body=sql.encode())
            else:
                connection.request("POST", "/?query=" + sql.replace(" ", "+"), body=body, encode_chunked=True,
                                   headers={"Transfer-Encoding": "chunked"})
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        if answer.status != 200:
            raise RuntimeError("clickhouse-server: " + text[:500])
        return text

    def cpu_s(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def pieces(stream):
    while True:
        piece = stream.read(1 << 20)
        if not piece:
            return
        yield piece


def fill(server, build, millions, batch_s):
    """Inserts what store_bench writes; returns seconds of wall and of CPU for the rows."""
    for name, (columns, engine) in TABLES.items():
        server.ask(f"DROP TABLE IF EXISTS {name}")
        server.ask(f"CREATE TABLE {name} ({columns}) ENGINE = {engine}")
    for name in TABLES:
        begin, cpu = time.monotonic(), server.cpu_s()
        writer = subprocess.Popen([build / "bench/store_bench", "dump", name, str(millions), str(batch_s)],
                                  stdout=subprocess.PIPE)
        form = "RowBinary" if name == "samples" else "TabSeparated"
        server.ask(f"INSERT INTO {name} FORMAT {form}", pieces(writer.stdout))
        writer.stdout.close()
        if writer.wait() != 0:
            raise RuntimeError("store_bench dump has failed")
        if name == "samples":
            took = time.monotonic() - begin, server.cpu_s() - cpu
    server.ask("OPTIMIZE TABLE samples FINAL")
    return took


def measure(build, folder, millions, batch_s):
    """{name: [wall, CPU]} of the questions, of "append", and [bytes a row]; None without the program."""
    if not program():
        return None
    found = {}
    record = folder.with_suffix(".filled")
    if not record.exists():
        shutil.rmtree(folder, ignore_errors=True)
    with ClickHouse(folder) as server:
        if not record.exists():
            record.write_text(" ".join(map(str, fill(server, build, millions, batch_s))))
        found["append"] = [float(word) for word in record.read_text().split()]
        count, size = server.ask("SELECT sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active AND "
                                 "table = 'samples'").split()
        found["rows"] = [float(count)]
        found["bytes-per-row"] = [float(size) / float(count)]
        for name, sql in QUESTIONS.items():
            best = [1e9, 1e9]
            for _ in range(ROUNDS):
                begin, cpu = time.monotonic(), server.cpu_s()
                server.ask(sql)
                best = [min(best[0], time.monotonic() - begin), min(best[1], server.cpu_s() - cpu)]
            found[name] = best
    return found

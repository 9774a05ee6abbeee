# SPDX-License-Identifier: BSD-2-Clause
"""Symbols by build ID: addresses that a server received without names get them later."""
import gzip
import http.server
import json
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import threading
import time

import pytest

from conftest import BUILD, LONG, PATIENCE, WICK
from test_server import LIBRARY, TIMEOUT, Server, run_query

pytestmark = pytest.mark.skipif(LIBRARY is None, reason="libduckdb.so is not there: make fetches it")
PROGRAM = BUILD / "tests/workloads/phases"
takes_windows = pytest.mark.skipif(not LONG, reason="waits for windows of ten seconds: WICK_LONG=1")
SERVICE = f"shop{os.getpid()}"  # an agent also sees programs that other tests run


@pytest.fixture
def start(tmp_path):
    started = []

    def go(*options, env=None):
        started.append(Server(tmp_path / f"data{len(started)}", *options, env=env))
        return started[-1]

    yield go
    for server in started:
        if server.process.poll() is None:
            assert server.stop() == 0


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds * PATIENCE
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.1)


def build_id_of(path):
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True).stdout
    return re.search(r"Build ID: ([0-9a-f]+)", notes).group(1)


def record(tmp_path, program=PROGRAM):
    """A recording with addresses alone."""
    path = tmp_path / "raw.wick"
    if not path.exists():
        subprocess.run([WICK, "record", "-q", "--engine", "ptrace", "-o", path, "--", program, "200"], check=True,
                       timeout=TIMEOUT, stdout=subprocess.DEVNULL)
    return path.read_bytes()


def folded(server, **parameters):
    status, body = server.request("/api/profile?type=wall&format=folded&from=-1d" +
                                  "".join(f"&{key}={value}" for key, value in parameters.items()))
    assert status == 200, body
    return body.decode()


def total(text):
    return sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines())


def modules(server, **parameters):
    return {item["build_id"]: item for item in server.json("/api/symbols", **parameters)["modules"]}


def upload(server, path, build_id=None, **kwargs):
    return server.request(f"/api/symbols/{build_id or build_id_of(path)}", pathlib.Path(path).read_bytes(), **kwargs)


def values_of(server):
    text = server.request("/metrics")[1].decode()
    return {name: float(value) for name, value in
            (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))}


def test_symbols_that_are_uploaded_later_name_an_old_window(start, tmp_path):
    server = start()
    build_id = build_id_of(PROGRAM)
    assert server.push(record(tmp_path), "one")[0] == 200
    before = folded(server)
    assert "phases+0x" in before and "phase_a" not in before
    wait_for(lambda: modules(server, missing=1).get(build_id, {}).get("state") == "missing")
    status, body = upload(server, PROGRAM)
    assert status == 200 and json.loads(body)["stored"] is True, body
    wait_for(lambda: "phase_a" in folded(server))
    after = folded(server)
    assert ";main;phase_a" in after and total(after) == total(before)
    assert "phase_b" in after and "phases+0x" not in "".join(re.findall(r"phase_a.*", after))
    # What is received from now on has names as well, and so has a server that starts again.
    assert server.push(record(tmp_path), "two")[0] == 200
    wait_for(lambda: total(folded(server)) == 2 * total(before))
    names = folded(server)
    assert server.stop() == 0
    server.start()
    assert folded(server) == names
    assert "phase_a" in run_query(server, "phases", "--type", "wall", "--top", "20", "--from", "-1d").stdout


def test_a_program_that_is_replaced_within_a_window_keeps_both_names(start, tmp_path):
    program = tmp_path / "app"
    text = ("#include <time.h>\nstatic __attribute__((noinline)) int WORK(void) { return clock() < CLOCKS_PER_SEC / 3; }\n"
            "int main(void) { while (WORK()); return 0; }\n")
    for name in ("old_work", "new_work"):
        subprocess.run(["cc", "-O1", "-g", "-Wl,--build-id", f"-DWORK={name}", "-x", "c", "-o", tmp_path / name, "-"],
                       input=text, text=True, check=True)
    window = tmp_path / "deployment.wick"
    subprocess.run([WICK, "record", "-q", "--engine", "ptrace", "-o", window, "--", "sh", "-c",
                    f"cp old_work new && mv new {program} && {program} && cp new_work new && mv new {program} && "
                    f"{program}"], check=True, timeout=TIMEOUT, cwd=tmp_path, stdout=subprocess.DEVNULL)
    server = start()
    assert server.push(window.read_bytes(), "one")[0] == 200
    ids = [build_id_of(tmp_path / name) for name in ("old_work", "new_work")]
    wait_for(lambda: all(modules(server, missing=1).get(each, {}).get("state") == "missing" for each in ids))
    assert {modules(server)[each]["module"] for each in ids} == {str(program)}
    for name in ("old_work", "new_work"):
        assert upload(server, tmp_path / name)[0] == 200
    wait_for(lambda: "old_work" in folded(server) and "new_work" in folded(server))
    assert "app+0x" not in folded(server)


def test_only_names_and_addresses_of_functions_are_kept(start):
    server = start()
    assert upload(server, PROGRAM)[0] == 200
    kept, = (server.folder / "symbols").rglob("*.debug")
    build_id = build_id_of(PROGRAM)
    assert str(kept).endswith(f"symbols/.build-id/{build_id[:2]}/{build_id[2:]}.debug")
    assert kept.stat().st_mode & 0o777 == 0o600
    assert build_id_of(kept) == build_id
    sections = subprocess.run(["readelf", "-SW", kept], capture_output=True, text=True, check=True).stdout
    found = set(re.findall(r"\] (\S*) +(NULL|NOBITS|NOTE|SYMTAB|STRTAB|[A-Z_]+) ", sections))
    assert {kind for _, kind in found} <= {"NULL", "NOBITS", "NOTE", "SYMTAB", "STRTAB"}, sections
    symbols = subprocess.run(["readelf", "-sW", kept], capture_output=True, text=True, check=True).stdout
    assert re.search(r"FUNC .* phase_a$", symbols, re.M) and " OBJECT " not in symbols
    # The same again is not written again, and neither is what knows less.
    status, body = upload(server, kept)
    assert status == 200 and json.loads(body)["stored"] is False
    assert json.loads(server.request(f"/api/symbols/{build_id.upper()}", gzip.compress(PROGRAM.read_bytes()),
                                     {"Content-Encoding": "gzip"})[1])["stored"] is False


def test_compressed_symbols_of_an_upload_are_not_read(start, tmp_path):
    """They may be a thousand times as large as the upload."""
    server = start()
    inner, packed, small = tmp_path / "inner", tmp_path / "inner.xz", tmp_path / "small"
    subprocess.run(["objcopy", "--only-keep-debug", PROGRAM, inner], check=True)
    packed.write_bytes(lzma.compress(inner.read_bytes()))
    subprocess.run(["objcopy", "--strip-all", f"--add-section=.gnu_debugdata={packed}", PROGRAM, small], check=True)
    upload(server, small)
    assert not any(b"phase_a" in path.read_bytes() for path in (server.folder / "symbols").rglob("*.debug"))


@pytest.mark.skipif(not LONG, reason="waits until an hour is closed: WICK_LONG=1")
def test_a_closed_hour_gets_names_too(start, tmp_path):
    server = start()
    ahead = str(time.time_ns() + 3 * 3600 * 10**9)  # the sender's clock: its times are moved back
    assert server.push(record(tmp_path), "old", **{"X-Wick-Now": ahead})[0] == 200
    before = folded(server)
    wait_for(lambda: list((server.folder / "store/rows").rglob("*.parquet")), 180)
    assert upload(server, PROGRAM)[0] == 200
    wait_for(lambda: "phase_a" in folded(server))
    assert total(folded(server)) == total(before)
    top = server.json("/api/top", type="wall", **{"from": "-1d"})["functions"]
    assert "phase_a" in {item["name"] for item in top}


def test_local_debug_files_give_names_and_lines(start, tmp_path):
    build_id = build_id_of(PROGRAM)
    place = tmp_path / "debug/.build-id" / build_id[:2] / (build_id[2:] + ".debug")
    place.parent.mkdir(parents=True)
    subprocess.run(["objcopy", "--only-keep-debug", PROGRAM, place], check=True)
    server = start("--debug-dir", tmp_path / "debug")
    assert server.push(record(tmp_path), "one")[0] == 200
    wait_for(lambda: "phase_a" in folded(server))
    assert build_id not in modules(server, missing=1)
    assert b"phases.c" in server.request("/api/profile?type=wall&format=json&from=-1d")[1]


class Debuginfod(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        self.files, self.asked, self.is_silent = {}, [], False
        super().__init__(("127.0.0.1", 0), DebuginfodHandler)
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class DebuginfodHandler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        if self.server.is_silent:
            self.close_connection = True
            return
        body = self.server.files.get(self.path)
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *args):
        pass


@pytest.fixture
def debuginfod():
    server = Debuginfod()
    yield server
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("by", ["option", "variable"])
def test_debuginfod_is_asked_by_build_id(start, tmp_path, debuginfod, by):
    build_id = build_id_of(PROGRAM)
    debug = tmp_path / "phases.debug"
    subprocess.run(["objcopy", "--only-keep-debug", PROGRAM, debug], check=True)
    debuginfod.files[f"/buildid/{build_id}/debuginfo"] = debug.read_bytes()
    server = start("--debuginfod", debuginfod.url if by == "option" else "DEBUGINFOD_URLS",
                   env={"DEBUGINFOD_URLS": f"http://127.0.0.1:1 {debuginfod.url}/"})
    assert server.push(record(tmp_path), "one")[0] == 200
    wait_for(lambda: "phase_a" in folded(server))
    assert b"phases.c" in server.request("/api/profile?type=wall&format=json&from=-1d")[1]
    assert values_of(server)["wick_server_debuginfod_fetched_total"] >= 1
    asked = [path for path in debuginfod.asked if build_id in path]
    assert asked == [f"/buildid/{build_id}/debuginfo"]  # once


def test_debuginfod_is_not_asked_unless_told_and_not_believed(start, tmp_path, debuginfod):
    build_id = build_id_of(PROGRAM)
    quiet = start(env={"DEBUGINFOD_URLS": debuginfod.url})
    assert quiet.push(record(tmp_path), "one")[0] == 200
    wait_for(lambda: build_id in modules(quiet, missing=1))
    assert debuginfod.asked == []
    debuginfod.files[f"/buildid/{build_id}/debuginfo"] = pathlib.Path(WICK).read_bytes()  # another program
    server = start("--debuginfod", debuginfod.url)
    assert server.push(record(tmp_path), "one")[0] == 200
    wait_for(lambda: "another build ID" in server.log_text())
    assert "phases+0x" in folded(server) and list((server.folder / "symbols").rglob("*.debug")) == []


def with_another_build_id(tmp_path):
    note, other = tmp_path / "note", tmp_path / "other"
    subprocess.run(["objcopy", f"--dump-section=.note.gnu.build-id={note}", PROGRAM, other], check=True)
    content = note.read_bytes()
    note.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    subprocess.run(["objcopy", f"--update-section=.note.gnu.build-id={note}", other], check=True)
    return other


def test_a_debuginfod_server_without_answers_is_left_alone(start, tmp_path, debuginfod):
    debuginfod.is_silent = True
    server = start("--debuginfod", debuginfod.url)
    other = with_another_build_id(tmp_path)
    (tmp_path / "second").mkdir()
    assert server.push(record(tmp_path), "one")[0] == 200
    assert server.push(record(tmp_path / "second", other), "two")[0] == 200
    wait_for(lambda: {build_id_of(PROGRAM), build_id_of(other)} <= set(modules(server, missing=1)) and debuginfod.asked)
    # It has been asked for one of them; symbols that are uploaded do not wait for it.
    assert upload(server, PROGRAM)[0] == 200
    wait_for(lambda: "phase_a" in folded(server))
    assert len(debuginfod.asked) == 1


def test_bad_uploads_are_refused(start):
    server = start("--max-body", "2M")
    build_id = build_id_of(PROGRAM)
    good = PROGRAM.read_bytes()
    for path in ("abcd", "zz" * 20, build_id + "0", "a" * 66, "%2e%2e"):
        assert server.request("/api/symbols/" + path, good)[0] == 400, path
    for path in ("", "a/b", "..%2f..%2ftokens", f"{build_id}/x"):
        assert server.request("/api/symbols/" + path, good)[0] == 404, path
    for body, words in ((b"", "not an ELF file"), (b"tea" * 100, "not an ELF file"),
                        (b"\x7fELF" + bytes(200), "not an ELF file")):
        status, answer = server.request("/api/symbols/" + build_id, body)
        assert status == 400 and words in json.loads(answer)["error"], answer
    status, answer = server.request("/api/symbols/" + "ab" * 20, good)
    assert status == 400 and "another build ID" in json.loads(answer)["error"]
    assert server.request("/api/symbols/" + build_id, bytes(3 << 20))[0] == 413
    bomb = gzip.compress(bytes(80 << 20))
    assert server.request("/api/symbols/" + build_id, bomb, {"Content-Encoding": "gzip"})[0] == 413
    damaged = bytearray(good)
    damaged[len(damaged) // 2:] = os.urandom(len(damaged) - len(damaged) // 2)
    assert server.request("/api/symbols/" + build_id, bytes(damaged))[0] in (200, 400)
    assert server.json("/api/symbols")["files"] <= 1
    assert values_of(server)["wick_server_symbol_uploads_refused_total"] >= 4
    assert server.request("/healthz")[0] == 200


def test_uploads_need_a_token_for_write_and_are_in_the_audit_log(start):
    server = start()
    tokens = {}
    for access in ("read", "write"):
        added = subprocess.run([WICK, "token", "add", access, "--data", server.folder], capture_output=True, text=True,
                               check=True, timeout=TIMEOUT).stdout
        tokens[access] = re.search(r"wick_\S+", added).group(0)
    assert server.stop() == 0
    server.start()
    build_id = build_id_of(PROGRAM)
    assert upload(server, PROGRAM)[0] == 401
    assert upload(server, PROGRAM, token=tokens["read"])[0] == 403
    assert upload(server, PROGRAM, token=tokens["write"])[0] == 200
    assert server.request("/api/symbols", token=tokens["write"])[0] == 403
    assert server.request("/api/symbols", token=tokens["read"])[0] == 200
    lines = [json.loads(line) for line in (server.folder / "audit.log").read_text().splitlines()]
    assert [line["status"] for line in lines if line["path"] == "/api/symbols/" + build_id] == [401, 403, 200]


def test_the_oldest_symbols_make_room(start, tmp_path):
    server = start("--symbols-size", "1M")
    source = tmp_path / "many.c"
    source.write_text("".join(f"int function_with_a_long_name_{'x' * 200}_{i}(void) {{ return {i}; }}\n"
                              for i in range(2000)) + "int main(void) { return 0; }\n")
    programs = []
    for number in range(4):
        program = tmp_path / f"many{number}"
        subprocess.run(["cc", "-O0", f"-Wl,--build-id=0x{number:040x}", "-o", program, source], check=True)
        programs.append(program)
    for program in programs:
        assert upload(server, program)[0] == 200
    state = server.json("/api/symbols")
    assert 0 < state["bytes"] <= 1 << 20 and state["files"] < 4
    assert upload(server, programs[3])[0] == 200
    kept = {path.parent.name + path.stem for path in (server.folder / "symbols").rglob("*.debug")}
    assert f"{3:040x}" in kept and f"{0:040x}" not in kept


def test_an_agent_is_asked_for_what_is_missing_and_only_one_is(start, tmp_path):
    server = start()
    build_id = build_id_of(PROGRAM)
    able = {"X-Wick-Symbols": "1"}
    assert "symbols" not in json.loads(server.push(record(tmp_path), "one")[1])
    wait_for(lambda: build_id in modules(server, missing=1))
    assert "symbols" not in json.loads(server.push(record(tmp_path), "two")[1])  # it cannot upload
    asked = json.loads(server.push(record(tmp_path), "three", **able)[1])["symbols"]
    assert build_id in asked
    assert build_id not in json.loads(server.push(record(tmp_path), "four", **able)[1]).get("symbols", [])
    assert upload(server, PROGRAM)[0] == 200
    wait_for(lambda: "phase_a" in folded(server))
    values = values_of(server)
    assert values["wick_server_symbol_uploads_total"] == 1
    assert values["wick_server_symbol_upload_bytes_total"] == PROGRAM.stat().st_size
    assert 0 < values["wick_server_symbol_hits_total"] <= values["wick_server_symbol_lookups_total"]
    assert values["wick_server_symbol_files"] == 1


def agent_on(server, tmp_path, *options):
    return subprocess.Popen([WICK, "agent", "--server", server.url, "--spool", tmp_path / "spool", "--window", "10s",
                             "--symbolize", "server", "--breaker", "off", "--overhead", "off", "--max-memory", "off",
                             "--symbol-rate", "1G", "--metrics", tmp_path / "agent.prom", *options],
                            stderr=subprocess.DEVNULL)


def cpu_names(server):
    status, body = server.request(f"/api/profile?format=folded&from=-1d&query={SERVICE}")
    assert status == 200, body
    return body.decode()


@pytest.mark.perf
@pytest.mark.root
@pytest.mark.parametrize("deleted", [pytest.param(False, marks=takes_windows), True])
def test_an_agent_sends_addresses_and_the_symbols_that_are_asked_for(start, tmp_path, background, deleted):
    server = start()
    program = tmp_path / "split"
    shutil.copy(BUILD / "tests/workloads/split", program)
    build_id = build_id_of(program)
    background([program, "600000"], env={**os.environ, "WICK_SERVICE": SERVICE})
    agent = agent_on(server, tmp_path)
    try:
        wait_for(lambda: "split+0x" in cpu_names(server) or "hot_70" in cpu_names(server), 120)
        if deleted:
            program.unlink()  # its process has it, and so has the agent
        wait_for(lambda: "hot_70" in cpu_names(server), 180)
    finally:
        agent.terminate()
        assert agent.wait(TIMEOUT) == 0
    wait_for(lambda: "split+0x" not in cpu_names(server))  # the first windows have names too
    kept = server.folder / "symbols/.build-id" / build_id[:2] / (build_id[2:] + ".debug")
    assert kept.exists() and kept.stat().st_size < (BUILD / "tests/workloads/split").stat().st_size
    assert values_of(server)["wick_server_symbol_uploads_total"] >= 1
    lines = (tmp_path / "agent.prom").read_text().splitlines()
    sent = {line.split(" ")[0]: float(line.split(" ")[1]) for line in lines if not line.startswith("#")}
    assert sent["wick_agent_symbols_sent_total"] >= 1
    asked = (server.folder / "audit.log").read_text().count("/api/symbols/" + build_id)
    assert asked == 1  # nothing is sent twice


@pytest.mark.perf
@pytest.mark.root
def test_a_stripped_program_gets_its_names_when_somebody_uploads_them(start, tmp_path, background):
    server = start()
    program = tmp_path / "split"
    subprocess.run(["strip", "-o", program, BUILD / "tests/workloads/split"], check=True)
    background([program, "600000"], env={**os.environ, "WICK_SERVICE": SERVICE})
    agent = agent_on(server, tmp_path)
    try:
        wait_for(lambda: "split+0x" in cpu_names(server), 120)
    finally:
        agent.terminate()
        assert agent.wait(TIMEOUT) == 0
    before = cpu_names(server)
    assert "hot_70" not in before
    assert upload(server, BUILD / "tests/workloads/split")[0] == 200
    wait_for(lambda: "hot_70" in cpu_names(server))
    assert total(cpu_names(server)) == total(before)

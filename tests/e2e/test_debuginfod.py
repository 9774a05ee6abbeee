# SPDX-License-Identifier: BSD-2-Clause
"""Debug files from a server: a real server on this machine, and the real debuginfod-find."""
import contextlib
import http.server
import os
import re
import shutil
import subprocess
import threading

import pytest

pytestmark = [pytest.mark.perf,
              pytest.mark.skipif(not shutil.which("debuginfod-find"),
                                 reason="debuginfod-find is not installed")]

SOURCE = """\
static volatile unsigned long sum;
static __attribute__((noinline)) void hidden_work(void)
{
	for (unsigned long i = 0; i < 100000000ul; i++)
		sum += i;
}
int main(void) { hidden_work(); return 0; }
"""
BUILD_ID = "00112233445566778899aabbccddeeff00112233"


class Server:
    """Answers /buildid/ID/debuginfo from a dictionary of files; counts requests."""

    def __init__(self, cache):
        self.files, self.asked, self.wait_s, self.endless = {}, [], 0, False
        self.going = threading.Event()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # noqa: N802 # the name is the library's
                outer.asked.append(self.path)
                outer.going.wait(outer.wait_s)
                if outer.endless:
                    self.send_forever()
                    return
                file = outer.files.get(self.path)
                body = file.read_bytes() if file else b""
                self.send_response(200 if file else 404)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def send_forever(self):
                self.send_response(200)
                self.end_headers()
                with contextlib.suppress(OSError):
                    while not outer.going.wait(0.01):
                        self.wfile.write(bytes(65536))

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.env = {**os.environ, "DEBUGINFOD_CACHE_PATH": str(cache),
                    "DEBUGINFOD_URLS": f"http://127.0.0.1:{self.http.server_port}"}
        self.env.pop("DEBUGINFOD_PROGRESS", None)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def close(self):
        self.going.set()
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def server(tmp_path):
    started = Server(tmp_path / "client")
    yield started
    started.close()


@pytest.fixture(scope="module")
def stripped(tmp_path_factory):
    """A program without symbols and, elsewhere, its debug file."""
    folder = tmp_path_factory.mktemp("stripped")
    (folder / "hot.c").write_text(SOURCE)
    program, debug = folder / "hot", folder / "of the server"
    subprocess.run(["cc", "-g", "-O2", f"-Wl,--build-id=0x{BUILD_ID}", "-o", program,
                    folder / "hot.c"], check=True)
    subprocess.run(["objcopy", "--only-keep-debug", program, debug], check=True)
    subprocess.run(["objcopy", "--strip-all", program], check=True)
    return program, debug


@pytest.fixture(scope="module")
def recording(shared_wick, stripped):
    return shared_wick.record([str(stripped[0])], "-q", "-F", "199")


ASKED = f"/buildid/{BUILD_ID}/debuginfo"
LOOKS = {"report": ["report"], "export": ["export", "--format", "folded"],
         "flame": ["flame", "-o", "-"]}


@pytest.mark.parametrize("look", sorted(LOOKS))
def test_a_look_asks_a_server_only_when_told(wick, recording, stripped, server, look):
    server.files[ASKED] = stripped[1]
    command = [*LOOKS[look], recording.path, "--no-cache"]
    assert "hidden_work" not in wick.ok(*command, env=server.env).stdout
    assert server.asked == []
    assert "hidden_work" in wick.ok(*command, "--debuginfod", env=server.env).stdout
    assert server.asked.count(ASKED) == 1


def test_lines_come_with_the_file(wick, recording, stripped, server):
    server.files[ASKED] = stripped[1]
    text = wick.ok("report", recording.path, "--by", "line", "--no-cache", "--debuginfod",
                   env=server.env).stdout
    assert re.search(r"hot\.c:[45]\b", text)


def test_symbolize_gets_the_same_file(wick, stripped, server):
    server.files[ASKED] = stripped[1]
    listed = subprocess.run(["nm", stripped[1]], capture_output=True, text=True, check=True).stdout
    start = re.search(r"(\w+) t hidden_work", listed)[1]
    done = wick.ok("symbolize", "--no-cache", "--debuginfod", "-fse", stripped[0], start,
                   env=server.env)
    assert done.stdout.startswith("hidden_work\nhot.c:")


def test_what_no_server_has_is_not_asked_for_again(wick, recording, server):
    for _ in range(2):
        done = wick.ok("report", recording.path, "--no-cache", "--debuginfod", env=server.env)
        assert "hidden_work" not in done.stdout
    assert server.asked.count(ASKED) == 1


def test_a_file_of_another_build_is_not_believed(wick, recording, stripped, server):
    server.files[ASKED] = stripped[0].parent / "hot.c"
    done = wick.ok("report", recording.path, "--no-cache", "--debuginfod", env=server.env)
    assert "hidden_work" not in done.stdout
    assert re.search(rf"^wick: \S+{BUILD_ID}/debuginfo, which debuginfod downloaded, is from another build",
                     done.stderr, re.M)


def test_a_server_that_sends_without_end_leaves_nothing_behind(wick, recording, server, tmp_path):
    server.endless = True
    done = wick.ok("report", recording.path, "--no-cache", "--debuginfod", "--debuginfod-limit",
                   "3s", env=server.env, timeout=60)
    assert "wick: debuginfod took too long; wick does not ask it again\n" in done.stderr
    assert list((tmp_path / "client").glob("*/debuginfo*")) == []


def test_without_a_server_or_its_client_the_remedy_is_told(wick, recording, server, tmp_path):
    command = ["report", recording.path, "--no-cache", "--debuginfod"]
    unset = {k: v for k, v in server.env.items() if k != "DEBUGINFOD_URLS"}
    assert "DEBUGINFOD_URLS is not set" in wick.ok(*command, env=unset).stderr
    without = {**server.env, "PATH": str(tmp_path)}
    assert "cannot run debuginfod-find" in wick.ok(*command, env=without).stderr


def test_a_server_that_does_not_answer_costs_no_more_than_its_time(wick, recording, server):
    server.wait_s = 120
    done = wick.ok("report", recording.path, "--no-cache", "--debuginfod", "--debuginfod-limit",
                   "300ms", env=server.env, timeout=60)
    assert done.stderr.count("wick: debuginfod took too long; wick does not ask it again\n") == 1
    assert len(server.asked) <= 1


def test_the_key_in_the_configuration_turns_it_on(wick, recording, stripped, server, tmp_path):
    server.files[ASKED] = stripped[1]
    config = tmp_path / "config.json"
    config.write_text('{"symbols": {"debuginfod": true, "cache": false}}')
    done = wick.ok("--config", config, "report", recording.path, env=server.env)
    assert "hidden_work" in done.stdout

# SPDX-License-Identifier: BSD-2-Clause
"""wick serve: recordings answer the queries of the web page."""
import json
import os
import shutil
import signal
import socket
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import pytest

from conftest import PATIENCE, ROOT, WICK, workload
from test_server import LIBRARY, Server

TIMEOUT = 60 * PATIENCE
NAMES = "main;work;hot 70\nmain;work;cool 20\nmain;idle 10\n"
LATER = "main;work;hot 40\nmain;work;cool 50\nmain;idle 10\n"


class Serve:
    """A server of recordings; use it with `with`."""

    def __init__(self, folder, *arguments):
        self.errors = open(folder / "serve.err", "w+b")
        self.process = subprocess.Popen([WICK, "serve", *map(str, arguments)], stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True, cwd=folder)
        self.url = self.process.stdout.readline().strip().rstrip("/")
        assert self.url.startswith("http://"), (self.url, self.stderr())

    def stderr(self):
        self.errors.seek(0)
        return self.errors.read().decode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(TIMEOUT)
        self.process.stdout.close()
        self.errors.close()
        assert status == 0

    def request(self, path, headers=None, **parameters):
        """Status and body of an answer."""
        url = self.url + path + ("?" + urllib.parse.urlencode(parameters) if parameters else "")
        try:
            with urllib.request.urlopen(urllib.request.Request(url, headers=headers or {}),
                                        timeout=TIMEOUT) as answer:
                return answer.status, answer.read().decode(errors="replace")
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def text(self, path, **parameters):
        status, body = self.request(path, **parameters)
        assert status == 200, body
        return body

    def json(self, path, **parameters):
        return json.loads(self.text(path, **parameters))

    def names(self, path, key, **parameters):
        return [item["name"] for item in self.json(path, **parameters)[key]]


@pytest.fixture
def folded(tmp_path):
    (tmp_path / "before.txt").write_text(NAMES)
    (tmp_path / "after.txt").write_text(LATER)
    return tmp_path


@pytest.fixture(scope="module")
def phases(shared_wick):
    """2.2 s of phase_a(), then as much of phase_b()."""
    return shared_wick.record(workload("phases", 2200), "-F", 499)


def test_each_file_is_a_service_named_after_it(folded):
    with Serve(folded, "before.txt", "after.txt") as serve:
        services = {item["name"]: item["value"] for item in serve.json("/api/services")["services"]}
    assert services == {"before.txt": 100, "after.txt": 100}


def test_files_of_equal_names_get_more_of_their_paths(folded):
    for name in "one", "two":
        (folded / name).mkdir()
        (folded / name / "app.wick").write_text(NAMES)
    with Serve(folded, "one/app.wick", folded / "two" / "app.wick", "before.txt") as serve:
        assert sorted(serve.names("/api/services", "services")) == ["before.txt", "one/app", "two/app"]


def test_the_profile_of_a_file_is_that_of_wick_report(phases, wick, tmp_path):
    printed = json.loads(wick.ok("report", phases.path, "--format", "json", "--names", "short").stdout)
    with Serve(tmp_path, phases.path) as serve:
        served = serve.json("/api/profile")
    assert served["rows"] == printed["rows"] and served["value"] == printed["value"]


@pytest.mark.parametrize("form, begins", [
    ("json", '{'), ("text", ""), ("svg", "<?xml"), ("html", "<!DOCTYPE html>"), ("pprof", ""), ("wick", "\ufffdWICK")])
def test_every_format_is_written(folded, form, begins):
    with Serve(folded, "before.txt") as serve:
        assert serve.text("/api/profile", format=form).startswith(begins)


def test_the_types_are_the_values_of_the_file(folded, phases):
    with Serve(folded, "before.txt", phases.path) as serve:
        assert serve.names("/api/types", "types", query='{service="before.txt"}') == ["samples"]
        name = next(n for n in serve.names("/api/services", "services") if n != "before.txt")
        assert serve.names("/api/types", "types", query=f'{{service="{name}"}}') == ["cpu"]


def test_the_most_expensive_functions_come_first(folded):
    with Serve(folded, "before.txt") as serve:
        top = serve.json("/api/top", query='{service="before.txt"}', limit=2)["functions"]
    assert [(f["name"], f["self"], f["value"]) for f in top] == [("hot", 70, 70), ("cool", 20, 20)]


def test_two_files_are_compared(folded):
    with Serve(folded, "before.txt", "after.txt") as serve:
        found = serve.json("/api/diff", query='{service="before.txt"}', diff_query='{service="after.txt"}')
        status, body = serve.request("/api/diff", query='{service="before.txt"}',
                                     diff_query='{service="after.txt"}', fail_if="hot>+5%", format="text")
    changes = {row["name"]: row for row in found["rows"]}
    assert (changes["hot"]["self"]["before"], changes["hot"]["self"]["after"]) == (70, 40)
    assert status == 200, body


def test_two_ranges_of_a_file_are_compared_over_its_own_time(phases, tmp_path):
    with Serve(tmp_path, phases.path) as serve:
        service = serve.json("/api/services")["services"][0]
        begin, end = service["from"], service["to"]
        found = serve.json("/api/diff", query="", to=begin + 1, diff_from=end - 1, diff_to=end)
        points = serve.json("/api/series", function="phase_b")["points"]
        whole = serve.json("/api/series")["points"]
    changes = {row["name"]: row for row in found["rows"]}
    assert changes["phase_a"]["total"]["before"] > 0 and changes["phase_a"]["total"]["after"] == 0
    assert changes["phase_b"]["total"]["before"] == 0 and changes["phase_b"]["total"]["after"] > 0
    assert min(point["from"] for point in points) > begin
    assert all(begin <= point["from"] < end for point in whole)
    assert sum(point["value"] for point in whole) == service["value"]


def test_threads_and_processes_are_labels(wick, tmp_path):
    recording = wick.record(workload("threads", 300))
    with Serve(tmp_path, recording.path) as serve:
        assert "thread" in serve.names("/api/labels", "labels")
        threads = serve.json("/api/labels", name="thread")["values"]
        assert len(threads) > 1
        one = threads[0]
        part = serve.json("/api/profile", query=f'{{thread="{one["name"]}"}}')
        others = serve.json("/api/profile", query=f'{{thread!="{one["name"]}"}}')
        whole = serve.json("/api/profile")
    assert part["value"]["total"] == one["value"]
    assert part["value"]["total"] + others["value"]["total"] == whole["value"]["total"]


def test_a_file_that_changed_is_read_again(folded):
    with Serve(folded, "before.txt") as serve:
        assert serve.json("/api/top")["functions"][0]["self"] == 70
        (folded / "before.txt").write_text("main;other 1234\n")
        top = serve.json("/api/top")["functions"]
        assert (top[0]["name"], top[0]["self"]) == ("other", 1234)
        os.unlink(folded / "before.txt")
        status, body = serve.request("/api/profile")
        assert status == 404 and "before.txt" in body, body


def test_what_a_recording_does_not_have_is_refused_with_what_it_has(folded):
    with Serve(folded, "before.txt") as serve:
        status, body = serve.request("/api/profile", type="off-cpu")
        assert status == 400 and "samples" in json.loads(body)["remedy"]
        status, body = serve.request("/api/profile", query="nothing")
        assert status == 404 and "selector" in json.loads(body)["error"]
        assert serve.json("/api/series", query="nothing")["points"] == []
        assert serve.request("/api/agents")[0] == 404


def test_the_page_and_its_session_are_there(folded):
    with Serve(folded, "before.txt") as serve:
        assert "<html" in serve.text("/")
        session = serve.json("/api/session")
    assert (session["source"], session["access"], session["tokens"]) == ("files", "admin", False)
    assert "agents" not in session["has"]


def test_pages_of_other_sites_are_refused(folded):
    with Serve(folded, "before.txt") as serve:
        assert serve.request("/api/services", headers={"Origin": "http://example.org"})[0] == 403
        assert serve.request("/api/services", headers={"Host": "example.org"})[0] == 403


@pytest.mark.parametrize("arguments, status, words", [
    (("missing.wick",), 1, "missing.wick"),
    (("damaged.wick",), 1, "damaged.wick"),
    (("before.txt", "./before.txt"), 1, "same file"),
    (("before.txt", "--listen", "0.0.0.0:0"), 1, "TLS"),
    (("before.txt", "--listen", "nowhere:port"), 2, "--listen"),
    (("before.txt", "--listen", "70000"), 2, "--listen"),
    ((), 2, "FILE"),
])
def test_what_cannot_be_served_is_refused(folded, wick, arguments, status, words):
    (folded / "damaged.wick").write_bytes(b"WICK\x01 and then nothing that makes sense")
    done = wick.run("serve", *arguments)
    assert done.returncode == status and words in done.stderr, done.stderr
    assert done.stdout == ""


def test_a_port_in_use_is_named(folded, wick):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = wick.run("serve", "before.txt", "--listen", str(port))
    assert done.returncode == 1 and str(port) in done.stderr


def test_a_file_without_samples_is_served_with_a_note(wick, tmp_path):
    recording = wick.record(["true"], "--delay", "1s")
    with Serve(tmp_path, recording.path) as serve:
        assert "no samples" in serve.stderr()
        assert serve.json("/api/top")["functions"] == []
        assert serve.request("/api/profile", format="html")[0] == 200


def lines_of(name):
    """The number of the line of a text in split.c."""
    source = (ROOT / "tests/workloads/split.c").read_text().splitlines()
    return next(number for number, text in enumerate(source, 1) if name in text)


def test_the_heat_of_a_file_is_that_of_wick_report(shared_wick, tmp_path):
    recording = shared_wick.record(workload("split", 500), "-F", 499)
    printed = {row["name"]: row for row in
               json.loads(shared_wick.ok("report", recording.path, "--by", "line", "--format", "json").stdout)["rows"]}
    with Serve(tmp_path, recording.path) as serve:
        heat = serve.json("/api/heat", file="workloads/split.c")
        whole = serve.json("/api/profile")["value"]["total"]
        same = serve.json("/api/heat", file=heat["file"])
        again = serve.json("/api/heat", file="split.c")
    assert heat == same == again
    assert heat["total"] == whole and heat["unit"] == "nanoseconds"
    lines = {line["line"]: line for line in heat["lines"]}
    hot = lines[lines_of("hot_ns += burn_cpu")]
    assert hot["function"] == "hot_70"
    assert hot["share"] == pytest.approx(hot["value"] / whole, abs=1e-6)
    assert hot["value"] > lines[lines_of("cool_ns += burn_cpu")]["value"] > 0
    by_line = {int(name.rsplit(":", 1)[1]): row["total"] for name, row in printed.items()
               if name.rsplit(":", 1)[0].endswith("split.c")}
    assert {number: line["value"] for number, line in lines.items()} == by_line


def test_a_file_name_that_fits_several_is_refused_with_a_list(tmp_path):
    profile = {"$schema": "https://www.speedscope.app/file-format-schema.json",
               "shared": {"frames": [{"name": "f", "file": "/src/one/app.c", "line": 3},
                                     {"name": "g", "file": "/src/two/app.c", "line": 5}]},
               "profiles": [{"type": "sampled", "name": "p", "unit": "none", "startValue": 0, "endValue": 10,
                             "samples": [[0], [0, 1]], "weights": [4, 6]}]}
    (tmp_path / "p.speedscope.json").write_text(json.dumps(profile))
    with Serve(tmp_path, "p.speedscope.json") as serve:
        status, body = serve.request("/api/heat", file="app.c")
        assert status == 300 and sorted(json.loads(body)["files"]) == ["/src/one/app.c", "/src/two/app.c"]
        one = serve.json("/api/heat", file="one/app.c")
        assert (one["total"], [(l["line"], l["self"], l["value"]) for l in one["lines"]]) == (10, [(3, 4, 10)])
        assert serve.request("/api/heat", file="pp.c")[0] == 404
        assert serve.request("/api/heat")[0] == 400


@pytest.mark.skipif(LIBRARY is None, reason="libduckdb.so is not there: make fetches it")
def test_the_store_answers_the_same_heat(shared_wick, tmp_path):
    recording = shared_wick.record(workload("split", 500), "-F", 499)
    with Serve(tmp_path, recording.path) as serve:
        served = serve.json("/api/heat", file="split.c")
        # With names: the server opens no file that a recording names.
        window = urllib.request.urlopen(serve.url + "/api/profile?format=wick", timeout=TIMEOUT).read()
    server = Server(tmp_path / "data")
    try:
        assert server.push(window)[0] == 200
        stored = server.json("/api/heat", file="split.c")
    finally:
        assert server.stop() == 0
    costs = [[(line["line"], line["value"], line["function"]) for line in heat["lines"]] for heat in (stored, served)]
    assert costs[0] == costs[1] and stored["total"] == served["total"]


def test_a_recording_that_grows_is_followed(phases, tmp_path):
    whole = phases.path.read_bytes()
    growing = tmp_path / "growing.wick"
    growing.write_bytes(whole[:len(whole) // 4])
    seen = []
    with Serve(tmp_path, growing) as serve:
        for part in 2, 3:
            with open(growing, "ab") as file:
                file.write(whole[len(whole) * (part - 1) // 4:len(whole) * part // 4])
            seen.append(serve.json("/api/profile"))
            points = serve.json("/api/series")["points"]
            assert sum(point["samples"] for point in points) == seen[-1]["samples"]
            part_of_it = serve.json("/api/profile", **{"from": "-1s"})
            assert 0 < part_of_it["samples"] < seen[-1]["samples"]
        with open(growing, "ab") as file:
            file.write(whole[len(whole) * 3 // 4:])
        seen.append(serve.json("/api/profile"))
    with Serve(tmp_path, phases.path) as serve:
        complete = serve.json("/api/profile")
    samples = [report["samples"] for report in seen]
    assert samples == sorted(samples) and samples[0] < samples[1]
    assert seen[-1]["rows"] == complete["rows"] and not seen[-1]["incomplete"]


class Live:
    """wick record --live; use it with `with`."""

    def __init__(self, folder, *arguments):
        self.process = subprocess.Popen([WICK, "record", "--live", "0", "-o", folder / "live.wick", *map(str, arguments)],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        text=True, cwd=folder)
        line = self.process.stderr.readline()
        assert line.startswith("wick: live at http://127.0.0.1:"), line
        self.url = line.split()[-1].rstrip("/")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    request, text, json = Serve.request, Serve.text, Serve.json


def events_of(answer):
    """(event, data) of a stream, until it ends."""
    event = None
    for line in answer:
        name, _, text = line.decode().strip().partition(": ")
        if name == "event":
            event = text
        elif name == "data":
            yield event, json.loads(text)


def test_a_recording_is_shown_while_it_is_made(tmp_path):
    (tmp_path / "live.wick").write_text(NAMES)  # an older file is not shown
    with Live(tmp_path, "--", *workload("split", 600000)) as live:
        child = live.process.pid
        with urllib.request.urlopen(live.url + "/api/live?window=10", timeout=TIMEOUT) as answer:
            steps = events_of(answer)
            while next(steps)[1]["samples"] == 0:
                pass
            while True:
                try:
                    report = live.json("/api/profile", format="json")
                    break
                except AssertionError as error:  # its first second
                    assert "no samples yet" in str(error), error
            assert {"hot_70", "cool_30"} <= {row["name"] for row in report["rows"]}
            assert [item["name"] for item in live.json("/api/services")["services"]] == ["live"]
            os.kill(child, signal.SIGINT)
            *_, last = steps
            assert last == ("end", {})
        _, errors = live.process.communicate(timeout=TIMEOUT)
    assert "live page used" in errors
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(live.url, timeout=TIMEOUT)


@pytest.mark.parametrize("options, status, words", [
    (("--live", "0.0.0.0:0"), 1, "TLS"),
    (("--live", "70000"), 2, "--live"),
    (("--live", "0", "-o", "-"), 2, "--live"),
    (("--live", "0", "--last", "5"), 2, "--live"),
])
def test_a_live_page_that_cannot_be_shown_stops_everything(wick, tmp_path, options, status, words):
    mark = tmp_path / "ran"
    done = wick.run("record", "-o", "out.wick", *options, "--", "touch", mark)
    assert done.returncode == status and words in done.stderr, done.stderr
    assert not mark.exists()


def test_the_live_view_of_a_complete_file_ends_at_once(folded):
    with Serve(folded, "before.txt") as serve:
        with urllib.request.urlopen(serve.url + "/api/live", timeout=TIMEOUT) as answer:
            assert answer.headers["Content-Type"].startswith("text/event-stream")
            (first, step), last = events_of(answer)
    assert first == "step" and step["samples"] == 100 and last == ("end", {})


@pytest.mark.parametrize("editor", ["vim", "nvim"])
def test_an_editor_shows_the_share_of_each_line(shared_wick, tmp_path, editor):
    program = shutil.which(editor)
    if program is None:
        pytest.skip(f"{editor} is not installed")
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    recording = shared_wick.record(workload("split", 500), "-F", 499)
    copy = tmp_path / "elsewhere" / "workloads" / "split.c"  # not where it was compiled
    copy.parent.mkdir(parents=True)
    shutil.copy(ROOT / "tests/workloads/split.c", copy)
    shown, marks = tmp_path / "shown.json", tmp_path / "marks"
    count = ("len(nvim_buf_get_extmarks(0, -1, 0, -1, {}))" if editor == "nvim" else
             "len(filter(range(1, line('$')), '!empty(prop_list(v:val))'))")
    with Serve(tmp_path, recording.path) as serve:
        heat = serve.json("/api/heat", file="split.c")
        done = subprocess.run(
            [program, *(("--headless", "--clean") if editor == "nvim" else ("-N", "-u", "NONE", "-es", "-V1")),
             "-S", ROOT / "examples/editor/wick.vim", "-c", f"let g:wick_server = '{serve.url}'", "-c", "WickHeat",
             "-c", f"call writefile([json_encode(b:wick_heat)], '{shown}')",
             "-c", f"call writefile([{count}], '{marks}')", "-c", "qa!", copy],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT)
    assert shown.exists(), done.stdout + done.stderr
    lines = json.loads(shown.read_text())
    expected = {str(line["line"]): f"{100 * line['share']:.1f}%" for line in heat["lines"] if line["share"] >= 0.001}
    assert {number: text.split()[0] for number, text in lines.items()} == expected
    assert str(lines_of("hot_ns += burn_cpu")) in lines
    assert int(marks.read_text()) == len(lines)

# SPDX-License-Identifier: BSD-2-Clause
"""Each mistake has its exit status and a short message that names the thing and the reason."""
import os
import random
import re
import subprocess
import sys

import contract
import pytest
from conftest import ROOT, WICK, assert_short_message, wait_for, workload

NOISE = random.Random(1).randbytes(65536)
LOOKING = (("report",), ("info",), ("flame", "-o", "out.svg"), ("export", "--format", "folded"))


def look(wick, command, path):
    return wick.run(command[0], path, *command[1:])


def test_a_period_that_no_clock_can_keep_is_refused(wick):
    done = wick.run("record", "-c", "1000", "-o", wick.new_path(), "--", "true")
    assert done.returncode == contract.USAGE
    assert "1000 ns" in done.stderr and "-c 100000" in done.stderr


def test_a_peak_of_memory_is_that_of_the_recorder_alone(wick):
    # A large program that becomes wick by exec leaves its own peak in the resource usage.
    code = ("import os, sys\nheld = b'x' * (200 << 20)\n"
            "os.execv(sys.argv[1], sys.argv[1:])")
    done = subprocess.run([sys.executable, "-c", code, str(WICK), "record", "-o",
                           str(wick.new_path()), "--", *workload("spin", 50)],
                          capture_output=True, text=True, timeout=30, check=True)
    assert float(re.search(r"recorder [\d.]+ s CPU, ([\d.]+) MB", done.stderr).group(1)) < 60


@pytest.mark.parametrize("rate", ("0", "9", "10001", "-5", "fast", "99999999999999999999"))
def test_a_rate_out_of_range_names_the_range(wick, rate):
    done = wick.run("record", "-F", rate, "-o", wick.new_path(), "--", "true")
    assert done.returncode == contract.USAGE
    assert rate in done.stderr
    if rate.lstrip("-").isdigit():
        assert all(word in done.stderr for word in contract.MESSAGES["rate"]), done.stderr


@pytest.mark.parametrize("arguments", (
    ("record",), ("record", "--no-such-option", "--", "true"), ("no-such-command",),
    ("record", "-p", "abc"), ("record", "-p", "1", "--", "true"), ("record", "-d", "x", "-p", "1"),
    ("record", "-d", "0", "-p", "1"), ("heap", "-d", "0", "--", "true"), ("sample", "1", "-d", "0"),
    ("report",), ("export", "--format", "no-such-format", "x.wick"), ("report", "--by", "weather")))
def test_bad_usage_gives_2_and_a_hint(wick, arguments):
    done = wick.run(*arguments)
    assert done.returncode == contract.USAGE
    assert done.stderr.startswith("wick"), done.stderr
    assert done.stdout == ""


def test_no_arguments_show_how_to_begin(wick):
    done = wick.run()
    assert done.returncode == contract.USAGE
    assert "record" in done.stderr + done.stdout


@pytest.mark.perf
def test_an_output_in_a_folder_that_is_not_there_fails_before_the_command_runs(wick):
    marker = wick.folder / "ran"
    done = wick.run("record", "-o", wick.folder / "none" / "x.wick", "--", "touch", marker)
    assert done.returncode == contract.FAILED
    assert_short_message(done, "no_folder")
    assert not marker.exists()


@pytest.mark.perf
def test_an_output_without_permission_fails_before_the_command_runs(wick, as_nobody):
    closed = wick.folder / "closed"
    closed.mkdir(mode=0o755)
    marker = wick.folder / "ran"
    done = wick.run("record", "-o", closed / "x.wick", "--", "touch", marker, prefix=as_nobody)
    assert done.returncode == contract.FAILED
    assert_short_message(done, "unwritable")
    assert not marker.exists()


@pytest.mark.perf
def test_a_full_disk_fails_and_what_was_written_stays_readable(wick, small_disk):
    (small_disk / "ballast").write_bytes(b"x" * 48 * 1024)
    path = small_disk / "x.wick"
    # Many short-lived processes fill 16 KB in no time.
    done = wick.run("record", "-F", 9999, "-o", path, "--", *workload("forks", 1500, 1),
                    timeout=120)
    assert done.returncode == contract.FAILED, done.stderr
    assert "no space left" in done.stderr.lower()
    assert wick.run("info", path).returncode == 0


@pytest.mark.perf
def test_a_device_that_is_full_fails(wick):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    done = wick.run("record", "-o", "/dev/full", "--", *workload("spin", 100))
    assert done.returncode == contract.FAILED
    assert "no space left" in done.stderr.lower()


@pytest.mark.parametrize("command", [("heap",), ("heap", "-q"), pytest.param(("record",), marks=pytest.mark.perf)])
def test_a_recorder_that_failed_says_that_it_waits_for_the_program(background, tmp_path, command):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    told = tmp_path / "told"
    with told.open("w") as stderr:
        recorder = background([str(WICK), *command, "-o", "/dev/full", "--", "cat"], stdin=subprocess.PIPE, stderr=stderr)
    wait_for(lambda: "waiting for the program to end" in told.read_text(), 60, "the note")
    assert recorder.poll() is None
    recorder.communicate("", timeout=60)
    assert recorder.returncode == contract.FAILED
    assert "no space left" in told.read_text().lower()


@pytest.mark.parametrize("command", LOOKING)
def test_a_file_that_is_not_there_is_named(wick, command):
    done = look(wick, command, wick.folder / "none.wick")
    assert done.returncode == contract.FAILED
    assert "none.wick" in done.stderr
    assert_short_message(done, "no_folder")


@pytest.mark.parametrize("command", LOOKING)
@pytest.mark.parametrize("content", (b"", b"plain text\n", bytes(4096), NOISE),
                         ids=("empty", "text", "zeros", "noise"))
def test_a_file_that_is_no_recording_is_refused(wick, command, content):
    path = wick.folder / "other.wick"
    path.write_bytes(content)
    done = look(wick, command, path)
    assert done.returncode == contract.FAILED
    assert "other.wick" in done.stderr
    assert done.stderr.startswith("wick: ")


def test_a_folder_is_no_recording(wick):
    done = wick.run("report", wick.folder)
    assert done.returncode == contract.FAILED
    assert "is a directory" in done.stderr and "wick record" in done.stderr


def test_an_empty_file_is_called_empty(wick):
    (wick.folder / "none.wick").touch()
    done = wick.run("report", "none.wick")
    assert done.returncode == contract.FAILED
    assert "none.wick is empty" in done.stderr and "wick record" in done.stderr


@pytest.mark.perf
def test_a_recording_cut_anywhere_gives_what_is_whole_and_says_so(wick):
    recording = wick.record(workload("forks", 50, 4), "-F", 999)
    whole = recording.path.read_bytes()
    full = contract.sample_count(recording.info())
    cut = wick.folder / "cut.wick"
    for part in (0.2, 0.5, 0.9, 0.99):
        cut.write_bytes(whole[:int(len(whole) * part)])
        done = wick.run("info", cut, "--format", "json")
        if done.returncode == contract.FAILED:
            assert done.stderr.startswith("wick: ")  # nothing whole was left
            continue
        assert done.returncode == 0, done.stderr
        info = wick.json("info", cut, "--format", "json")
        assert contract.sample_count(info) <= full
        assert contract.is_truncated(info)
        report = wick.run("report", cut)
        assert report.returncode == 0
        text = report.stderr.lower() + report.stdout.lower()
        assert any(word in text for word in contract.MESSAGES["truncated"]), text


def test_a_recording_without_its_end_is_told_by_all_and_passes_no_gate(wick, kept):
    whole = kept.read_bytes()
    cut = wick.new_path()
    cut.write_bytes(whole[:len(whole) // 3])
    for command in (("export", "--format", "folded"), ("flame", "-o", "cut.svg"), ("timeline",),
                    ("merge", "-o", "merged.wick")):
        assert f"{cut} is incomplete" in wick.ok(*command, cut).stderr
    for files in ((kept, cut), (cut, kept)):
        done = wick.run("diff", "--absolute", "--fail-if", "total>+3%", *files)
        assert done.returncode == contract.FAILED and f"{cut} was cut off" in done.stderr
    cut.write_bytes(whole[:300])
    done = wick.run("diff", "--fail-if", "total>+3%", kept, cut)
    assert done.returncode == contract.FAILED and f"{cut} has no samples" in done.stderr


def test_a_variable_of_no_setting_is_told(wick):
    done = wick.ok("config", "--print", env={**os.environ, "WICK_SAMPLING_FREQENCY_HZ": "9"})
    assert "WICK_SAMPLING_FREQENCY_HZ is not a setting; did you mean WICK_SAMPLING_FREQUENCY_HZ" in done.stderr



@pytest.mark.perf
def test_a_flipped_bit_is_noticed_and_never_a_crash(wick):
    recording = wick.record(workload("split", 300))
    whole = recording.path.read_bytes()
    full = contract.sample_count(recording.info())
    broken = wick.folder / "broken.wick"
    for i in range(16):
        place = len(whole) * (2 * i + 1) // 32
        changed = bytearray(whole)
        changed[place] ^= 1 << (i % 8)
        broken.write_bytes(changed)
        done = wick.run("info", broken, "--check", "--format", "json")
        assert done.returncode in (contract.DONE, contract.FAILED), done.stderr
        if done.returncode == contract.FAILED:
            continue
        assert contract.sample_count(wick.json("info", broken, "--format", "json")) <= full


@pytest.mark.perf
def test_a_closed_pipe_is_no_crash(wick):
    recording = wick.record(workload("split", 300))
    shell = f'"{WICK}" export "{recording.path}" --format folded | head -n 0'
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {shell}; echo ${{PIPESTATUS[0]}}"],
                          capture_output=True, text=True, check=False, timeout=30)
    assert done.stdout.strip() in ("0", "1", "141")


@pytest.fixture
def kept(wick):
    """A recording that needs no perf events."""
    path = wick.folder / "kept.wick"
    path.write_bytes((ROOT / "tests/golden/recording-v1.wick").read_bytes())
    return path


@pytest.mark.parametrize("link", (None, os.symlink, os.link))
@pytest.mark.parametrize("command", (("flame",), ("export", "--format", "folded")))
def test_an_output_never_overwrites_its_input(wick, kept, command, link):
    before = kept.read_bytes()
    output = kept
    if link:
        output = wick.folder / "other.name"
        link(kept, output)
    done = wick.run(*command, kept, "-o", output)
    assert done.returncode == contract.USAGE
    assert "would be overwritten" in done.stderr and "-o FILE" in done.stderr
    assert kept.read_bytes() == before


def test_a_recording_and_its_flame_graph_are_two_files(wick):
    done = wick.run("record", "-o", "x", "--flame", "x", "--", "true")
    assert done.returncode == contract.USAGE
    assert "same file" in done.stderr


@pytest.mark.parametrize("command", (("flame", "IN", "-o"), ("diff", "IN", "IN", "-o"),
                                     ("record", "-o", "r.wick", "--flame")))
def test_a_graph_is_not_written_under_the_name_of_another_format(wick, kept, command):
    command = [kept if word == "IN" else word for word in command]
    tail = ("--", "touch", "ran") if command[0] == "record" else ()
    done = wick.run(*command, "x.GIF", *tail)
    assert done.returncode == contract.USAGE
    assert ".svg, .html or .png" in done.stderr
    assert not any((wick.folder / name).exists() for name in ("x.GIF", "r.wick", "ran"))


def test_capitals_of_a_name_tell_the_format_too(wick, kept):
    wick.ok("flame", kept, "-o", "x.HTML")
    assert (wick.folder / "x.HTML").read_bytes().lower().startswith(b"<!doctype html>")


def test_an_empty_graph_is_called_empty(wick, kept):
    done = wick.ok("flame", kept, "--only", "no_such_function", "-o", "x.svg")
    assert "the graph is empty" in done.stderr


def test_a_name_of_a_file_does_not_steer_the_terminal(wick, kept):
    done = wick.ok("flame", kept, "-o", "a\x1b[31m.svg")
    assert "\x1b" not in done.stderr and "\\x1b[31m.svg" in done.stderr


@pytest.mark.parametrize("command", LOOKING[0:1] + LOOKING[2:])
@pytest.mark.parametrize("options", (("--only", "("), ("--ignore", "["),
                                     ("--from", "2s", "--to", "1s")))
def test_filters_that_make_no_sense_are_bad_usage(wick, kept, command, options):
    done = wick.run(*command, kept, *options)
    assert done.returncode == contract.USAGE
    assert done.stderr.startswith("wick: ") and len(done.stderr.splitlines()) == 2, done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("command", LOOKING)
def test_a_closed_standard_output_is_named(wick, kept, command):
    words = " ".join("-" if word == "out.svg" else word for word in command)
    done = subprocess.run(["sh", "-c", f'"{WICK}" {words} "{kept}" >&-'], capture_output=True,
                          text=True, check=False, cwd=wick.folder)
    assert done.returncode == contract.FAILED
    assert "standard output is closed" in done.stderr, done.stderr


def test_a_full_standard_output_is_named(wick, kept):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([str(WICK), "report", str(kept)], stdout=full, check=False,
                              stderr=subprocess.PIPE, text=True)
    assert done.returncode == contract.FAILED
    assert "cannot write to standard output" in done.stderr


@pytest.mark.perf
def test_a_recording_to_a_full_standard_output_names_it(wick):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([str(WICK), "record", "-o", "-", "--", *workload("spin", 50)],
                              stdout=full, check=False, stderr=subprocess.PIPE, text=True)
    assert done.returncode == contract.FAILED
    assert "cannot write to standard output" in done.stderr, done.stderr

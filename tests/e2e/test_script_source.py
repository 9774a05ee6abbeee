# SPDX-License-Identifier: BSD-2-Clause
"""The source lines of Python functions: in annotations and pages, and which files are read for them."""
import json
import os
import sys

import pytest

from test_source_privacy import NOBODY, SECRET, flame_page, open_folder, stranger  # noqa: F401

PROGRAM = """\
import time


def inner(count):
    total = 0
    for i in range(count):
        total += i * i  # the hot line
    return total


def outer(count):
    return inner(count) + 1  # calls it


end = time.process_time() + 0.5
while time.process_time() < end:
    outer(3000)
"""
# Code may claim to be in any file.
CLAIMING = """\
import sys, time
code = compile("def burn():\\n    for i in range(100000):\\n        i * i\\n", sys.argv[1], "exec")
exec(code)
end = time.process_time() + 0.5
while time.process_time() < end:
    burn()
"""
RECORD = ("--engine", "ptrace", "-F", "499", "--overhead", "off")


def annotation(wick, recording, name):
    return json.loads(wick.ok("annotate", recording.path, name, "--format", "json").stdout)


def lines_of(result):
    return {row["text"].strip(): row for row in result["files"][0]["lines"]}


def test_lines_of_python_functions_have_their_cost(wick, open_folder):  # noqa: F811
    program = open_folder / "app.py"
    program.write_text(PROGRAM)
    recording = wick.record([sys.executable, program], *RECORD)
    inner = annotation(wick, recording, "inner")
    lines = lines_of(inner)
    assert inner["files"][0]["source"] == str(program) and not inner["notes"]
    assert set(lines) <= {"def inner(count):", "total = 0", "for i in range(count):",
                          "total += i * i  # the hot line", "return total"}
    assert lines["total += i * i  # the hot line"]["total_percent"] > 30
    assert sum(row["total"] for row in lines.values()) == inner["total"]
    outer = annotation(wick, recording, "outer")
    call = lines_of(outer)["return inner(count) + 1  # calls it"]
    assert call["total_percent"] > 95
    assert "the hot line" in flame_page(wick, recording.path)[0]
    assert "the hot line" not in flame_page(wick, recording.path, "--no-source")[0]


def test_only_files_named_like_scripts_are_read(wick, open_folder):  # noqa: F811
    program = open_folder / "app.py"
    program.write_text(CLAIMING)
    key = open_folder / "key.txt"
    key.write_text(f"{SECRET}\n" * 5)
    recording = wick.record([sys.executable, program, key], *RECORD)
    done = wick.ok("annotate", recording.path, "burn")
    assert str(key) in done.stdout and SECRET not in done.stdout
    assert SECRET not in flame_page(wick, recording.path)[0]


def test_a_script_that_not_everybody_can_read_is_shown_to_its_owner_only(wick, open_folder):  # noqa: F811
    program = open_folder / "app.py"
    program.write_text(PROGRAM)
    program.chmod(0o600)
    recording = wick.record([sys.executable, program], *RECORD)
    done = wick.ok("annotate", recording.path, "inner")
    # A process of root may have become any user: who named the file is not known.
    assert ("the hot line" in done.stdout) == (os.geteuid() != 0)
    done = wick.ok("annotate", recording.path, "inner", "--source-path", open_folder)
    assert "the hot line" in done.stdout


@pytest.mark.root
@pytest.mark.parametrize("asked", ((), ("--source",)))
def test_the_script_of_a_stranger_gets_no_file_of_root_into_a_page(wick, stranger, asked):  # noqa: F811
    program = stranger / "app.py"
    program.write_text(CLAIMING)
    program.chmod(0o644)
    key = stranger.parent / "root-only" / "key.py"
    key.parent.mkdir()
    key.write_text(f"{SECRET}\n" * 5)
    key.chmod(0o600)
    as_nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    recording = wick.record([*as_nobody, "/usr/bin/python3", program, key], *RECORD)
    assert SECRET not in flame_page(wick, recording.path, *asked)[0]
    done = wick.ok("annotate", recording.path, "burn")
    assert str(key) in done.stdout and SECRET not in done.stdout

# SPDX-License-Identifier: BSD-2-Clause
"""python3 -m wick.tracemalloc runs programs as python3 does."""
import signal

import pytest

RUN = ("-m", "wick.tracemalloc")
PROGRAMS = {
    "arguments": "import sys; print(sys.argv, sys.path[0], __name__, __file__)",
    "status": "import sys; sys.exit(7)",
    "text": "import sys; sys.exit('a message')",
    "exception": "def f():\n    raise ValueError('no')\nf()\n",
    "syntax": "def f(:\n",
    "main": "import __main__; print(sorted(vars(__main__)))\nx = 5\nprint(__main__.x, __main__.__spec__)",
    "pickle": "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))))",
    "future": "from __future__ import annotations\ndef f(a: nothing): pass\nprint(f.__annotations__)",
    "standard input": "import sys; print(sys.stdin.read())",
    "thread": "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.05), print('end'))).start()",
    "atexit": "import atexit; atexit.register(print, 'at exit')",
    "closed standard error": "import os; os.close(2)",
    "thread exits": "import sys, threading\nthreading.Thread(target=sys.exit, args=(3,)).start()",
    "os._exit": "import os; print('x', flush=True); os._exit(9)",
}


def without_report(text):
    """Standard error without our lines."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith("wick: ")), len(lines))
    return lines[:start]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_behaves_as_under_python(python, tmp_path, name):
    script = tmp_path / "program.py"
    script.write_text(PROGRAMS[name], encoding="utf-8")
    plain = python.run("program.py", "a", "-n", "--", cwd=tmp_path)
    traced = python.run(*RUN, "-n", "5", "program.py", "a", "-n", "--", cwd=tmp_path)
    assert (traced.returncode, traced.stdout) == (plain.returncode, plain.stdout), traced.stderr
    if name != "closed standard error":
        assert without_report(traced.stderr) == plain.stderr.splitlines()


def test_a_missing_program_is_reported_as_python_does(python, tmp_path):
    plain = python.run("missing.py", cwd=tmp_path)
    traced = python.run(*RUN, "missing.py", cwd=tmp_path)
    assert traced.returncode == plain.returncode == 2
    assert "missing.py': [Errno 2] No such file or directory" in traced.stderr


def test_ctrl_c_ends_the_program_by_the_signal(python, tmp_path):
    script = tmp_path / "program.py"
    script.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n", encoding="utf-8")
    plain = python.run(script, cwd=tmp_path)
    traced = python.run(*RUN, script, cwd=tmp_path)
    assert traced.returncode == plain.returncode == -signal.SIGINT or \
        traced.returncode == plain.returncode == 128 + signal.SIGINT
    assert without_report(traced.stderr) == plain.stderr.splitlines()


def test_code_and_modules_run_too(python, tmp_path):
    (tmp_path / "mine.py").write_text("import sys; print(__name__, sys.argv[1:], sys.path[0])", encoding="utf-8")
    for words in (["-m", "mine", "a", "-b"], ["-c", "import sys; print(sys.argv, sys.path[0])", "-n"]):
        plain = python.run(*words, cwd=tmp_path)
        traced = python.run(*RUN, *words, cwd=tmp_path)
        assert (traced.returncode, traced.stdout) == (plain.returncode, plain.stdout), traced.stderr


def test_the_report_names_the_lines_that_hold_memory(python, tmp_path):
    script = tmp_path / "program.py"
    script.write_text("kept = [bytearray(1000)\n        for _ in range(1000)]\n", encoding="utf-8")
    done = python.run(*RUN, script, cwd=tmp_path)
    assert done.returncode == 0 and "held at the end" in done.stderr
    assert f"{script}:1: size=" in done.stderr.splitlines()[1]


def test_a_file_for_load_is_written(python, tmp_path):
    script = tmp_path / "program.py"
    script.write_text("kept = bytearray(1 << 20)\n", encoding="utf-8")
    done = python.run(*RUN, "-n", "3", "-o", "held", script, cwd=tmp_path)
    assert done.returncode == 0 and "wick: wrote held" in done.stderr
    look = "import {0} as t, sys; s = t.Snapshot.load('held'); print(s.traceback_limit, s.statistics('lineno')[0].size)"
    for module in ("tracemalloc", "wick.tracemalloc"):
        done = python.run("-c", look.format(module), cwd=tmp_path)
        limit, size = done.stdout.split()
        assert limit == "3" and int(size) >= 1 << 20


def test_a_full_disk_is_reported_and_changes_no_status(python, tmp_path):
    done = python.run(*RUN, "-o", "/dev/full", "-c", "raise SystemExit(5)", cwd=tmp_path)
    assert done.returncode == 5
    assert "wick: cannot write /dev/full: No space left on device" in done.stderr


@pytest.mark.parametrize("words, message", [
    ([], "there is no program to run"), (["-n"], "-n needs a value"), (["-n", "x", "a.py"], "-n: 'x' is not a number"),
    (["-n", "0", "-c", ""], "the number of frames must be in range [1; 65535]"),
    (["--sample", "-1", "-c", ""], "sampling must be 0 or more"), (["--what"], "unknown option --what"),
    (["--sample", "nan", "-c", ""], "sampling must be"), (["-n", "99999999999", "-c", ""], "too large"),
])
def test_wrong_options_are_reported(python, words, message):
    done = python.run(*RUN, *words)
    assert done.returncode == 2 and done.stderr.startswith("wick: ")
    assert message in done.stderr or "signed integer is greater than maximum" in done.stderr


def test_help_names_every_option(python):
    done = python.run(*RUN, "--help")
    assert done.returncode == 0
    for option in ("-n FRAMES", "--sample BYTES", "--native", "-o FILE", "install | uninstall"):
        assert option in done.stdout

# SPDX-License-Identifier: BSD-2-Clause
"""python3 -m wick.tracemalloc runs programs as python3 does."""
import signal

import pytest

from interpreters import BUILD

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


@pytest.mark.parametrize("words", [
    ["missing.py"], ["missing.zip"], ["missing"], ["-m", "nope"], ["-m", "json.nope"], ["-m", "email"], ["-m", "nope.more"],
    ["empty"]], ids=" ".join)
def test_a_missing_program_is_reported_as_python_does(python, tmp_path, words):
    (tmp_path / "empty").mkdir()
    plain = python.run(*words, cwd=tmp_path)
    traced = python.run(*RUN, *words, cwd=tmp_path)
    assert plain.returncode in (1, 2) and len(plain.stderr.splitlines()) == 1
    expected = plain.stderr.replace("'empty'", repr(str(tmp_path / "empty")))  # as the newer ones say it
    assert (traced.returncode, traced.stdout, traced.stderr) == (plain.returncode, "", expected)


def test_errors_of_a_module_are_its_own(python, tmp_path):
    (tmp_path / "broken.py").write_text("import nope\n", encoding="utf-8")
    plain = python.run("-m", "broken", cwd=tmp_path)
    traced = python.run(*RUN, "-m", "broken", cwd=tmp_path)
    assert traced.returncode == plain.returncode == 1
    assert without_report(traced.stderr)[-3:] == plain.stderr.splitlines()[-3:]


@pytest.mark.parametrize("name", ["arguments", "status", "exception", "syntax", "main", "pickle"])
def test_a_program_from_standard_input_behaves_as_under_python(python, tmp_path, name):
    (tmp_path / "program.py").write_text(PROGRAMS[name], encoding="utf-8")
    done = []
    for words in ((), RUN):
        with open(tmp_path / "program.py", encoding="utf-8") as program:
            done.append(python.run(*words, "-", "a", "-n", cwd=tmp_path, stdin=program))
    plain, traced = done
    assert (traced.returncode, traced.stdout) == (plain.returncode, plain.stdout)
    assert without_report(traced.stderr) == plain.stderr.splitlines()


def test_options_may_have_their_values_in_the_same_word(python, tmp_path):
    (tmp_path / "mine.py").write_text("import sys, wick.tracemalloc as t; print(t.get_traceback_limit(), sys.argv[1:])",
                                      encoding="utf-8")
    for words in (["-n3", "mine.py"], ["-n3", "-mmine"], ["-n3", "-o", "held", "mine.py"], ["-n3", "-oheld", "mine.py"],
                  ["-n", "3", "--sample=0.5", "mine.py"]):
        done = python.run(*RUN, *words, "a", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (0, "3 ['a']\n"), done.stderr
        assert (tmp_path / "held").exists() == ("held" in "".join(words))
        (tmp_path / "held").unlink(missing_ok=True)
    assert python.run(*RUN, "-n3", "-cprint(5)").stdout == "5\n"


def test_the_file_is_written_where_the_program_started(python, tmp_path):
    done = python.run(*RUN, "-o", "held", "-c", "import os; os.chdir('/')", cwd=tmp_path)
    assert done.returncode == 0 and (tmp_path / "held").exists()


@pytest.mark.parametrize("name", ["/proc/x.wick", "/proc/x.json", "/proc/x"])
def test_a_file_that_cannot_be_written_is_reported_once(python, tmp_path, name):
    library = {"WICK_LIBRARY": str(BUILD / "libwick.so")}
    done = python.run(*RUN, "-o", name, "-c", "raise SystemExit(5)", cwd=tmp_path, env=library)
    assert done.returncode == 5
    assert done.stderr.count("cannot write") == 1 and done.stderr.startswith(f"wick: cannot write {name}: ")


def test_a_missing_folder_is_reported_before_the_program_runs(python, tmp_path):
    done = python.run(*RUN, "-o", "missing/x.wick", "-c", "print('it runs')", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"wick: cannot write missing/x.wick: there is no folder {tmp_path}/missing\n"


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
    (["--native=1", "a.py"], "--native takes no value"), (["-x3"], "unknown option -x3"),
    (["-nx", "a.py"], "-n: 'x' is not a number"), (["--sample", "nan", "-c", ""], "sampling must be"), (["-n", "99999999999", "-c", ""], "too large"),
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

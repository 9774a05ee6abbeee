# SPDX-License-Identifier: BSD-2-Clause
"""How tests are run: a hang is one failure, and what the shell lets jobs ignore is not inherited."""
import os
import pathlib
import signal
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent


def test_a_test_that_hangs_is_one_failure_with_its_name(tmp_path):
    (tmp_path / "test_two.py").write_text(
        "import time\n"
        "def test_that_hangs(): time.sleep(600)\n"
        "def test_after_it(): pass\n")
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "time_limit", "-q",
                           tmp_path], capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(TESTS), "WICK_TEST_SECONDS": "1", "WICK_PATIENCE": "1"})
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "call of test_that_hangs took longer than 1 s" in done.stdout


def test_programs_get_signals_that_the_shell_lets_a_background_job_ignore():
    script = ("import subprocess, inherited\n"
              "inherited.restore_signals()\n"
              "subprocess.run(['grep', 'SigIgn', '/proc/self/status'])\n")

    def ignore():
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True,
                          preexec_fn=ignore, env={**os.environ, "PYTHONPATH": str(TESTS / "e2e")})
    ignored = int(done.stdout.split()[1], 16)
    assert not any(ignored >> number - 1 & 1 for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP))

# SPDX-License-Identifier: BSD-2-Clause
"""How tests are run: a hang is one failure, and tests do not inherit ignored signals from the shell."""
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


def run_with_a_host(tmp_path, taken, attempts):
    """A test that succeeds at its last attempt, on a machine whose host takes a share of the CPUs."""
    (tmp_path / "busy_host.py").write_text(
        "import time, os, stolen_time\n"
        f"stolen_time.stolen_ns = lambda: int(time.monotonic() * 1e9 * os.cpu_count() * {taken})\n")
    (tmp_path / "test_one.py").write_text(
        "import pathlib, pytest\n"
        "@pytest.fixture(scope='module')\n"
        "def attempt():\n"
        "    count = pathlib.Path(__file__).with_name('count')\n"
        "    with open(count, 'a') as file: file.write('x')\n"
        "    return len(count.read_text())\n"
        "def test_before(attempt): pass\n"
        f"def test_late(attempt): assert attempt >= {attempts}\n"
        "def test_after(attempt): pass\n")
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "stolen_time", "-p", "busy_host",
                           "-q", f"--junitxml={tmp_path}/report.xml", tmp_path], capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": f"{TESTS}:{tmp_path}"})
    return done.stdout, (tmp_path / "report.xml").read_text()


def test_a_test_that_fails_while_the_host_takes_the_cpus_is_run_again_and_named(tmp_path):
    output, report = run_with_a_host(tmp_path, 0.1, 3)
    assert "3 passed" in output, output
    assert report.count('name="repeated"') == 2
    assert "the host took 10 % of the CPUs" in report


def test_a_test_is_not_run_again_for_ever(tmp_path):
    output, _report = run_with_a_host(tmp_path, 0.1, 4)
    assert "1 failed, 2 passed" in output, output


def test_a_test_that_fails_on_a_machine_of_its_own_fails_at_once(tmp_path):
    output, report = run_with_a_host(tmp_path, 0.0, 2)
    assert "1 failed, 2 passed" in output, output
    assert "repeated" not in report


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

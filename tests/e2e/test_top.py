# SPDX-License-Identifier: BSD-2-Clause
"""wick top on a real terminal (tmux): content, keys, sizes, and the state of the terminal afterwards."""
import os
import shlex
import shutil
import signal
import subprocess
import time

import pytest
from conftest import PATIENCE, WICK, workload

pytestmark = [pytest.mark.perf,
              pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed")]


class Terminal:
    """One terminal; the shell in it prints its modes before and after each command."""

    def __init__(self, tmux, name, folder, command):
        self.tmux = tmux
        self.name = name
        self.files = [folder / f"{name}-{when}" for when in ("before", "after", "pid")]
        before, after, pid = (shlex.quote(str(path)) for path in self.files)
        words = " ".join(shlex.quote(str(word)) for word in command)
        tmux("new-session", "-d", "-s", name, "-x", "80", "-y", "24",
             f"trap : INT; stty -g > {before}; sh -c 'echo $$ > \"$0\"; exec \"$@\"' {pid} {words}; "
             f"echo status $?; stty -g > {after}; cat")

    def keys(self, *keys):
        self.tmux("send-keys", "-t", self.name, *keys)

    def screen(self):
        return self.tmux("capture-pane", "-p", "-t", self.name)

    def wait_for(self, *texts, absent=None):
        """The screen, once it shows all texts and not the absent one."""
        end = time.monotonic() + 10 * PATIENCE
        while time.monotonic() < end:
            screen = self.screen()
            if all(text in screen for text in texts) and not (absent and absent in screen):
                return screen
            time.sleep(0.05)
        pytest.fail(f"no {texts} (or still {absent!r}) on:\n{screen}")

    def process(self):
        return int(self.files[2].read_text())

    def assert_given_back(self):
        screen = self.wait_for("status")
        # Neither the second screen, nor a hidden cursor; and the modes as they were.
        assert self.tmux("display", "-p", "-t", self.name,
                         "#{alternate_on} #{cursor_flag}").split() == ["0", "1"], screen
        end = time.monotonic() + 5
        while not (self.files[1].exists() and self.files[1].read_text()):
            assert time.monotonic() < end
            time.sleep(0.02)
        assert self.files[0].read_text() == self.files[1].read_text()
        return screen


@pytest.fixture
def terminal(wick_exists, tmp_path):
    """Opens terminals that are closed after the test."""
    server = f"wick-test-{os.getpid()}-{tmp_path.name}"[:64]

    def tmux(*words):
        done = subprocess.run(["tmux", "-L", server, "-f", "/dev/null", *words], text=True,
                              capture_output=True, check=True, timeout=20,
                              env=os.environ | {"LC_ALL": "C.UTF-8", "NO_COLOR": ""})
        return done.stdout

    yield lambda name, *command: Terminal(tmux, name, tmp_path, [WICK, "top", *command])
    subprocess.run(["tmux", "-L", server, "kill-server"], capture_output=True, check=False)


def test_a_person_looks_around_with_keys(terminal, background):
    busy = background(workload("split", 60000))
    view = terminal("keys", "-p", busy.pid)

    screen = view.wait_for("|hot_70", "|cool_30", "main")
    assert f"split (process {busy.pid})" in screen and "97 Hz" in screen
    view.keys("?")
    view.wait_for("start over", absent="hot_70")
    view.keys("?", "2")
    view.wait_for("THREAD", f"split ({busy.pid})")
    view.keys("1", "/")
    view.keys("-l", "COOL")
    view.wait_for("filter: COOL_", "cool_30", absent="libc.so")
    view.keys("Enter", "Enter")
    view.wait_for("zoom: cool_30", absent="hot_70")
    view.keys("Escape")
    view.keys("Escape")
    view.wait_for("hot_70", absent="zoom:")
    view.keys("p", "w")
    view.wait_for("PAUSED, since start")
    view.tmux("resize-window", "-t", "keys", "-x", "40", "-y", "9")
    view.wait_for("? help", "hot_70", absent="|hot_70")
    view.tmux("resize-window", "-t", "keys", "-x", "100", "-y", "30")
    view.wait_for("|hot_70", "hot_70", "MODULE")
    view.keys("q")
    assert "status 0" in view.assert_given_back()
    assert busy.poll() is None


def test_the_terminal_is_given_back_at_every_end(terminal, background):
    busy = background(workload("split", 60000))
    killed = background(workload("split", 60000))
    ends = {"TERM": signal.SIGTERM, "HUP": signal.SIGHUP, "SEGV": signal.SIGSEGV, "USR1": signal.SIGUSR1}
    views = {name: terminal(name, "-p", busy.pid) for name in ends}
    gone = terminal("gone", "-p", killed.pid)

    for name, number in ends.items():
        views[name].wait_for("hot_70")
        os.kill(views[name].process(), number)
    gone.wait_for("hot_70")
    killed.kill()
    killed.wait()
    # What was seen last stays to be looked at.
    gone.wait_for("the process has ended", "hot_70")
    gone.keys("q")

    for name in ("TERM", "HUP"):
        assert "status 0" in views[name].assert_given_back()
    for name in ("SEGV", "USR1"):
        assert f"status {128 + ends[name]}" in views[name].assert_given_back()
    assert "status 0" in gone.assert_given_back()


def test_a_view_that_was_stopped_goes_on(terminal, background):
    """Ctrl-Z gives the terminal to the shell, bg leaves it there, fg takes it again."""
    busy = background(workload("split", 60000))
    view = terminal("stop", "--help")
    view.tmux("respawn-pane", "-k", "-t", "stop", "PS1='shell> ' exec bash --norc --noprofile -i")
    view.keys("-l", f"{shlex.quote(str(WICK))} top -p {busy.pid}")
    view.keys("Enter")
    view.wait_for("|hot_70")
    view.keys("C-z")
    # The mode of the terminal is the shell's again: what is typed is seen, and is no key.
    view.wait_for("Stopped", "shell> ", absent="|hot_70")
    view.keys("-l", "echo q$((3 + 4))")
    view.keys("Enter")
    view.wait_for("q7")
    view.keys("-l", "bg; sleep 1.2; echo q$((4 + 4))")
    view.keys("Enter")
    # It would have been drawn by now; and it reads none of the shell's keys.
    view.wait_for("q7", "q8", absent="|hot_70")
    view.keys("-l", "fg")
    view.keys("Enter")
    view.wait_for("|hot_70", absent="Stopped")
    view.keys("q")
    view.wait_for("shell> ", "q7", absent="|hot_70")


def test_a_program_that_was_started_ends_with_its_view(terminal, tmp_path):
    view = terminal("start", "--", *workload("split", 60000))
    screen = view.wait_for("hot_70")
    view.keys("2")
    screen = view.wait_for("THREAD", "split (")
    pid = int(screen.split("split (")[1].split(")")[0])
    os.kill(pid, 0)
    view.keys("C-c")
    assert "status 0" in view.assert_given_back()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_program_that_goes_on_is_told_of(wick):
    done = wick.ok("top", "--once", "--interval", "0.1s", "--", "sh", "-c",
                   "trap '' TERM; exec sleep 60 > /dev/null 2>&1")
    pid = int(done.stderr.split("keeps running as process ")[1].split(":")[0])
    assert f"run kill -KILL {pid}\n" in done.stderr
    os.kill(pid, signal.SIGKILL)
    # It runs another program than the one that was started.
    assert "wick top: sh, now sleep" in done.stdout


def test_tables_are_printed_for_scripts(wick):
    done = wick.ok("top", "--count", "2", "--interval", "0.4s", "--", *workload("split", 5000))
    assert done.stdout.count("wick top:") == 2
    assert "hot_70" in done.stdout and "? help" not in done.stdout


def test_a_thread_as_json(wick, background):
    """The keys are those of wick report."""
    busy = background(workload("threads", 60000))
    tids = set()
    while len(tids) < 3:
        tids = set(os.listdir(f"/proc/{busy.pid}/task")) - {str(busy.pid)}
    shown = wick.json("top", "--once", "--interval", "0.3s", "-F", "997", "--view", "threads", "--format", "json",
                      "-t", min(tids))
    assert shown["by"] == "thread" and \
        [row["name"].split("/")[-1] for row in shown["rows"]] == [min(tids)]
    assert wick.run("top", "--format", "json", "-p", busy.pid).returncode == 2


def test_compiled_code_has_names(wick):
    done = wick.ok("top", "--once", "--interval", "0.5s", "-F", "997", "--",
                   *workload("jit_names", "map", 5000))
    assert "jit_hot" in done.stdout and "jit cool()" in done.stdout


def test_without_a_terminal_there_is_a_remedy(wick):
    done = wick.run("top", "-p", os.getpid())
    assert done.returncode == 2
    assert "needs a terminal" in done.stderr and "--count" in done.stderr
    assert "nothing to watch" in wick.run("top").stderr
    missing = wick.run("top", "--once", "--", "no-such-program")
    assert missing.returncode == 127 and "not found" in missing.stderr

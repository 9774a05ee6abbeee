# SPDX-License-Identifier: BSD-2-Clause
"""install() and the file that starts wick.tracemalloc with the interpreter."""
import pytest

STATE = "import tracemalloc, _tracemalloc; print('wick' in tracemalloc.__file__, tracemalloc.is_tracing(), " \
        "tracemalloc.get_traceback_limit(), bool(_tracemalloc._get_traces()))"

STARTS = [
    # flags, environment, expected
    ([], {}, "True False 1 False"),
    (["-X", "tracemalloc"], {}, "True True 1 False"),
    (["-X", "tracemalloc=7"], {}, "True True 7 False"),
    ([], {"PYTHONTRACEMALLOC": "5"}, "True True 5 False"),
    (["-X", "tracemalloc=7"], {"PYTHONTRACEMALLOC": "5"}, "True True 7 False"),
    ([], {"PYTHONTRACEMALLOC": "0"}, "True False 1 False"),
    (["-E"], {"PYTHONTRACEMALLOC": "5"}, "True False 1 False"),
    (["-I"], {"PYTHONTRACEMALLOC": "5"}, "True False 1 False"),
    ([], {"WICK_TRACEMALLOC": "9"}, "True True 9 False"),
    ([], {"WICK_TRACEMALLOC": "9,sample=1000"}, "True True 9 False"),
    ([], {"WICK_TRACEMALLOC": "0"}, "True False 1 False"),
    ([], {"WICK_TRACEMALLOC": "9", "PYTHONTRACEMALLOC": "5"}, "True True 9 False"),
    (["-E"], {"WICK_TRACEMALLOC": "9"}, "True False 1 False"),
    (["-I"], {"WICK_TRACEMALLOC": "9"}, "True False 1 False"),
    (["-I", "-X", "tracemalloc=3"], {}, "True True 3 False"),
    # Without site nothing of ours runs.
    (["-S", "-X", "tracemalloc=3"], {}, "False True 3 True"),
]


@pytest.mark.parametrize("flags, env, expected", STARTS, ids=lambda value: str(value))
def test_the_interpreter_starts_wick_when_asked(installed, flags, env, expected):
    done = installed.run(*flags, "-c", STATE, env=env)
    assert (done.stdout.strip(), done.stderr) == (expected, "")


@pytest.mark.parametrize("value", ["x", "-1", "70000", "5,sample=", "5,what", "5,sample=-3", "99999999999999999999"])
def test_a_wrong_value_is_reported_and_the_program_runs(installed, value):
    done = installed.run("-c", STATE, env={"WICK_TRACEMALLOC": value})
    assert done.stdout.strip() == "True False 1 False"
    assert done.stderr.startswith(f"wick: WICK_TRACEMALLOC={value}: ")
    assert "use WICK_TRACEMALLOC=FRAMES[,sample=BYTES][,native]" in done.stderr


def test_an_interpreter_that_is_not_asked_imports_nothing(installed):
    done = installed.run("-c", "import sys; print(sorted(name for name in sys.modules if name.startswith('wick')))")
    assert done.stdout.strip() == "['wick', 'wick._start']"


def test_a_removed_package_leaves_no_messages(installed, tmp_path):
    """The file that install wrote stays when the package goes."""
    script = "import sys, site; sys.modules['wick._start'] = None; sys.modules.pop('wick._start'); " \
             "sys.modules['wick'] = None; site.addsitedir(sys.argv[1])"
    done = installed.run("-c", "from wick.tracemalloc import _start_file; print(_start_file._folders()[0])")
    done = installed.run("-c", script, done.stdout.strip(), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_install_replaces_the_module_in_a_running_program(check):
    check("""
import tracemalloc as before
before.start(3)
import wick.tracemalloc
assert wick.tracemalloc.install() is None
import sys, _tracemalloc
import tracemalloc
assert tracemalloc is wick.tracemalloc
# Tracing goes on in ours, also for those who imported the standard module before.
assert not _tracemalloc._get_traces() and wick.tracemalloc.is_tracing()
assert before.is_tracing is wick.tracemalloc.is_tracing and before.get_traceback_limit() == 3
kept = bytearray(5000)
assert before.get_object_traceback(kept)[-1].lineno == 12
assert isinstance(before.take_snapshot(), wick.tracemalloc.Snapshot)
wick.tracemalloc.install()  # twice is once
before.stop()
wick.tracemalloc.uninstall()
assert sys.modules["tracemalloc"] is before and before.is_tracing is _tracemalloc.is_tracing
assert before.Snapshot is not wick.tracemalloc.Snapshot
""")


@pytest.mark.parametrize("flags", [[], ["-X", "tracemalloc=3"]], ids=" ".join)
def test_the_name_of_the_standard_module_runs_programs_too(installed, tmp_path, flags):
    (tmp_path / "program.py").write_text("import sys; print(sys.argv, __name__)", encoding="utf-8")
    done = installed.run(*flags, "-m", "tracemalloc", "-n3", "program.py", "a", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "['program.py', 'a'] __main__\n"), done.stderr
    assert "held at the end" in done.stderr
    done = installed.run(*flags, "-m", "tracemalloc")
    assert done.returncode == 2 and done.stderr.startswith("wick: there is no program to run")


def test_install_before_anybody_imports_the_standard_module(check):
    check("""
import wick.tracemalloc
wick.tracemalloc.install()
import tracemalloc
assert tracemalloc is wick.tracemalloc
wick.tracemalloc.uninstall()
import tracemalloc
assert tracemalloc is not wick.tracemalloc
""")


def test_uninstall_removes_the_file(python, tmp_path):
    """In a folder for users, so that no other test notices."""
    user = {"PYTHONUSERBASE": str(tmp_path)}
    script = """
import pathlib, site, sys
from wick.tracemalloc import _start_file, install, uninstall
site.ENABLE_USER_SITE = True
_start_file._folders = lambda: [pathlib.Path("/proc/nowhere"), pathlib.Path(site.getusersitepackages())]
path = install(persist=True)
assert path.startswith(sys.argv[1]) and "import wick._start" in open(path).read(), path
uninstall(persist=True)
assert not pathlib.Path(path).exists()
"""
    done = python.run("-c", script, tmp_path, env=user)
    assert done.returncode == 0, done.stderr


def test_the_standard_module_can_be_started_and_stopped_beside(check):
    """It may believe that it traces while ours does; whatever is called, nothing crashes."""
    check("""
import tracemalloc, wick.tracemalloc as t
t.start(2)
tracemalloc.start(); tracemalloc.take_snapshot() if tracemalloc.is_tracing() else None
tracemalloc.stop()
kept = bytearray(100000)
assert t.get_traced_memory()[0] > 100000
t.stop()
tracemalloc.start(3)
kept = bytearray(200000)
t.start()
more = bytearray(300000)
assert t.get_object_traceback(more)[-1].lineno == 12
t.stop()
assert tracemalloc.get_object_traceback(kept)[-1].lineno == 10
tracemalloc.stop()
t.start()  # at the end of the interpreter both are there
""")


ORDERS = {
    "the standard one is started over ours, and goes on": """
W.start()
if S.is_tracing(): S.stop()
S.start(); S.take_snapshot()
W.stop()
assert S.is_tracing()
x = bytearray(100000)
assert S.get_traced_memory()[0] > 100000
S.stop()
W.start(); y = bytearray(200000)
assert W.get_traced_memory()[0] > 200000
""",
    "the standard one is stopped below ours": """
S.start(); W.start(); S.stop()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    W.get_traced_memory()
assert "removed the allocator hooks" in str(caught[0].message)
x = bytearray(100000)
assert W.get_traced_memory()[0] > 100000
W.stop(); W.start(sampling=2); W.stop(); W.start()
y = bytearray(200000)
assert W.get_traced_memory()[0] > 200000
""",
    "both are started and stopped in turns": """
for i in range(20):
    S.start(); W.start(i % 3 + 1); W.stop(); S.stop()
    W.start(); S.start(); S.stop(); W.stop()
    W.start(); S.stop(); S.start(); W.stop(); S.stop()
W.start(); x = bytearray(300000)
assert W.get_traced_memory()[0] > 300000
""",
}


@pytest.mark.parametrize("order", ORDERS)
def test_orders_in_which_both_modules_are_started_and_stopped(check, order):
    check("import warnings\nimport tracemalloc as S\nimport wick.tracemalloc as W\n" + ORDERS[order])


def test_an_import_brings_no_modules_that_are_rarely_needed(check):
    """Whatever the garbage collector has to look at costs the traced program time."""
    check("""
import sys
before = set(sys.modules)
import wick.tracemalloc
wick.tracemalloc.start()
assert not {"pathlib", "sysconfig", "ctypes", "urllib.parse"} & (set(sys.modules) - before), sys.modules
""")

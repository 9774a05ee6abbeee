# SPDX-License-Identifier: BSD-2-Clause
"""The pytest plugin, in sessions of their own."""
import os
import re
import shutil
import subprocess
import sys
import textwrap

import interpreters
import pytest
from interpreters import BUILD, ROOT


@pytest.fixture(scope="module")
def package():
    """The package, built for the interpreter that has pytest."""
    try:
        return interpreters.Local(interpreters.describe(sys.executable)).prepare().package
    except interpreters.Unusable as error:
        pytest.skip(str(error))


@pytest.fixture
def session(package, tmp_path):
    """Runs pytest with the plugin on a test file. Returns the output, with the numbers of each outcome."""
    def run(text, *options, **environment):
        (tmp_path / "test_it.py").write_text("import pytest, time\n" + textwrap.dedent(text), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-p", "wick.pytest_plugin", "-q",
             "--strict-markers", *options, "test_it.py"],
            cwd=tmp_path, capture_output=True, text=True, check=False, timeout=200,
            env={**os.environ, "PYTEST_ADDOPTS": "", "PYTEST_PLUGINS": "",
                 "PYTHONPATH": os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")]),
                 "WICK_LIBRARY": os.environ.get("WICK_LIBRARY") or str(BUILD / "libwick.so"), **environment})
        done.counts = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|error)", done.stdout)}
        return done
    return run


def test_a_test_may_use_as_much_memory_as_its_limit(session):
    done = session("""
        @pytest.mark.limit_memory("24 MB")
        def test_within():
            block = bytearray(20 * 2**20)
            del block
            block = bytearray(20 * 2**20)

        @pytest.mark.limit_memory("24 MB")
        def test_beyond():
            one = bytearray(20 * 2**20)
            two = [bytearray(2**20) for _ in range(10)]  # here

        @pytest.fixture
        def large():
            return bytearray(40 * 2**20)

        @pytest.mark.limit_memory("24 MB")
        def test_of_a_fixture(large):
            assert len(large)
    """)
    assert done.counts == {"passed": 2, "failed": 1}, done.stdout
    assert "the test allocated 30.0 MB at a time; its limit is 24 MB" in done.stdout
    assert re.search(r"20\.0 MB in \d+ blocks? +test_it\.py:\d+  one = bytearray", done.stdout)
    assert re.search(r"10\.0 MB in \d+ blocks? +test_it\.py:\d+  two = ", done.stdout)


def test_a_test_may_leave_nothing_behind(session):
    done = session("""
        import re
        kept = []

        @pytest.mark.limit_leaks("1 KB")
        def test_cycles_are_no_leak():
            ring = [bytearray(10000)]
            ring.append(ring)

        @pytest.mark.limit_leaks("1 KB")
        def test_leaking():
            kept.append(bytearray(5000))

        @pytest.mark.limit_leaks("1 KB", warmups=1)
        def test_a_filled_cache():
            re.compile("a(b|c)+" * 50)
    """)
    assert done.counts == {"passed": 2, "failed": 1}, done.stdout
    assert "the test left 5.0 KB behind; its limit is 1 KB" in done.stdout
    assert re.search(r"test_it\.py:\d+  kept\.append", done.stdout)
    assert "warmups=1" in done.stdout


def test_limits_work_in_classes_and_beside_failures(session):
    done = session("""
        import unittest

        class TestOld(unittest.TestCase):
            @pytest.mark.limit_memory("1 MB")
            def test_old(self):
                bytearray(2 * 2**20)

        @pytest.mark.limit_memory(1000)
        @pytest.mark.limit_leaks("1 KiB")
        def test_own_failure():
            assert False, "of its own"

        @pytest.mark.limit_memory("much")
        def test_wrong_size():
            pass
    """)
    assert done.counts == {"failed": 3}, done.stdout
    for words in ("the test allocated 2.0 MB", "of its own", "'much' is not an amount of memory; write it like '24 MB'"):
        assert words in done.stdout
    assert "limit is 1000" not in done.stdout


def test_memory_that_is_traced_already_is_measured_too(session):
    done = session("""
        import wick.tracemalloc
        wick.tracemalloc.start()
        kept = [bytearray(2**20)]

        @pytest.mark.limit_memory("512 KB")
        def test_within():
            bytearray(100000)

        @pytest.mark.limit_memory("512 KB")
        def test_beyond():
            kept.append(bytearray(2**20))

        def test_tracing_goes_on():
            assert wick.tracemalloc.is_tracing()
    """)
    assert done.counts == {"passed": 2, "failed": 1}, done.stdout
    assert re.search(r"still allocated at the end:\n.*test_it\.py", done.stdout)


SLOW = """
    def burn(seconds):
        end = time.process_time() + seconds
        while time.process_time() < end:
            sorted(range(1000))

    @pytest.mark.parametrize("i", range(6))
    def test_slow(i):
        burn(0.11 + i / 100)

    def test_fast():
        pass
"""


def test_slow_tests_get_a_profile(session, tmp_path):
    done = session(SLOW, "--wick", "--wick-slow", "0.1", "--wick-folder", "found")
    if "not allowed" in done.stderr or "permission" in done.stderr:
        pytest.skip(done.stderr)
    assert done.counts == {"passed": 7}, done.stdout + done.stderr
    names = {path.name for path in (tmp_path / "found").iterdir()}
    assert {f"test_it.py-test_slow[{i}].{kind}" for i in range(6) for kind in ("html", "pb.gz")} | {"session.wick"} == names
    summary = done.stdout.partition("slow tests")[2]
    assert len(re.findall(r"^ +\d\.\d\d s  test_it\.py::test_slow\[\d\]$", summary, re.M)) == 5
    assert len(re.findall(r"^ +\d+ % in \S.*; found/test_it\.py-test_slow\[\d\]\.html$", summary, re.M)) == 5
    assert "1 more profiles in found" in summary
    sys.path.insert(0, str(ROOT / "python"))
    import wick  # pylint: disable=import-outside-toplevel
    profile = wick.load_profile(tmp_path / "found/test_it.py-test_slow[5].pb.gz")
    cpu = profile.totals["cpu"] / 1e9
    assert 0.1 < cpu < 0.5  # of this test, not of all of them


def test_workers_of_xdist_share_a_summary(session, tmp_path):
    pytest.importorskip("xdist")
    done = session(SLOW, "--wick", "--wick-slow", "0.1", "-p", "xdist", "-n", "2")
    assert done.counts == {"passed": 7}, done.stdout + done.stderr
    assert done.stdout.count(" s  test_it.py::test_slow[") == 5 and "1 more profiles" in done.stdout
    assert {path.name for path in (tmp_path / "wick-profiles").glob("session*")} == \
        {"session-gw0.wick", "session-gw1.wick"}


def test_quick_tests_get_none(session, tmp_path):
    done = session("def test_fast(): pass", "--wick", "--wick-slow", "1000")
    assert done.counts == {"passed": 1}
    assert "no test took 1000 s or longer; all tests: wick-profiles/session.wick" in done.stdout
    assert [path.name for path in (tmp_path / "wick-profiles").iterdir()] == ["session.wick"]
    done = session("def test_fast(): pass", "--collect-only", "--wick", "--wick-folder", "none")
    assert not (tmp_path / "none").exists()


def test_what_cannot_be_recorded_is_a_wrong_call(session, tmp_path):
    done = session("def test_fast(): pass", "--wick", WICK_PYTHON="/bin/false")
    assert done.returncode == 4 and "--wick: /bin/false cannot run the recorder" in done.stderr
    (tmp_path / "file").write_text("")
    done = session("def test_fast(): pass", "--wick", "--wick-folder", "file")
    assert done.returncode == 4 and "--wick: " in done.stderr


def test_pytest_finds_the_plugin_of_an_installed_package(package, tmp_path):
    code = "import sys; sys.path.insert(0, sys.argv[1]); import build_backend as b; b.prepare_metadata_for_build_wheel('.')"
    subprocess.run([sys.executable, "-B", "-c", code, ROOT / "python"], cwd=tmp_path, check=True)
    (points,) = tmp_path.glob("wick-*.dist-info/entry_points.txt")
    told = (ROOT / "python/pyproject.toml").read_text(encoding="utf-8").partition("[project.entry-points.pytest11]\n")[2]
    assert points.read_text(encoding="utf-8").splitlines()[1] == told.splitlines()[0].replace('"', "")
    done = subprocess.run([sys.executable, "-B", "-m", "pytest", "--help"], cwd=tmp_path, capture_output=True, text=True,
                          check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(package)])})
    assert "--wick-slow=SECONDS" in done.stdout, done.stderr


def test_the_plugin_costs_nothing_until_it_is_used(session):
    done = session("""
        import sys
        def test_modules():
            assert not {"ctypes", "wick._binding", "wick.tracemalloc", "wick._pytest_limits"} & set(sys.modules)
    """)
    assert done.counts == {"passed": 1}, done.stdout


@pytest.fixture
def installed(tmp_path):
    """The environment in which python3 finds what "make install" has put under a root of its own."""
    if not (BUILD / "meson-info").is_dir() or not shutil.which("meson"):
        pytest.skip("this is not a folder that meson can install from")
    done = subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", tmp_path / "root"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = list((tmp_path / "root").glob("**/*-packages/wick/__init__.py"))
    if not found:
        pytest.skip("the Python package was not built")
    library = next((tmp_path / "root").glob("**/libwick.so.0"))
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON", "WICK"))}
    return {**kept, "PYTHONPATH": str(found[0].parents[1]), "LD_LIBRARY_PATH": str(library.parent)}


def test_pytest_finds_the_plugin_of_an_installation(installed, tmp_path):
    """Nobody names it: the installed package does."""
    (tmp_path / "test_it.py").write_text(textwrap.dedent("""
        import pytest

        @pytest.mark.limit_memory("1 MB")
        def test_it():
            import wick, os
            assert os.environ["PYTHONPATH"] in wick.__file__
            block = bytearray(1 << 19)

        @pytest.mark.limit_memory("1 MB")
        def test_beyond():
            block = bytearray(1 << 21)
    """), encoding="utf-8")
    done = subprocess.run([sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-q", "--strict-markers",
                           "--wick", "--wick-slow", "0", "test_it.py"], cwd=tmp_path, env=installed,
                          capture_output=True, text=True, check=False, timeout=200)
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert list((tmp_path / "wick-profiles").glob("*.wick")), done.stdout
    listed = subprocess.run([sys.executable, "-c", "import importlib.metadata as m; print(m.version('wick'))"],
                            env=installed, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert listed.stdout == subprocess.run([sys.executable, "-c", "import wick; print(wick.__version__)"], env=installed,
                                           cwd=tmp_path, capture_output=True, text=True, check=True).stdout

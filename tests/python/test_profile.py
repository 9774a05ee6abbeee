# SPDX-License-Identifier: BSD-2-Clause
"""import wick: recording this process and others, profiles, leaks, and what happens when something fails."""
import asyncio
import ctypes
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("WICK_BUILD") or ROOT / "build")
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/e2e")]

import pprof  # noqa: E402
import wick  # noqa: E402

FOLDED = "app;main;parse 30\napp;main;parse;read 50\napp;main;write 20\n"
# Both burn the CPU time of their thread that they are asked for, so their shares do not depend on the load.
BURNER = """
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
static double used(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}
static volatile uint64_t sum;
#define BURNER(name) \\
	__attribute__((noinline)) void name(double seconds) \\
	{ \\
		for (double end = used() + seconds; used() < end;) \\
			for (int i = 0; i < 20000; i++) \\
				sum += i; \\
	}
BURNER(seventy)
BURNER(thirty)
#ifdef PROGRAM
__attribute__((noinline)) static void lose_memory(void)
{
	for (int i = 0; i < 3; i++)
		*(volatile char *)malloc(1000) = 1;
}
int main(int argc, char **argv)
{
	lose_memory();
	/* One second. Blocks of different lengths, none a multiple of the time between samples. */
	for (int i = 0; argc > 1 && i < 100; i++) {
		double length = 0.0051 + (i % 8) * 0.0014;
		seventy(0.7 * length);
		thirty(0.3 * length);
	}
	return 0;
}
#endif
"""


def compile_burner(folder, name, *options):
    if not shutil.which("cc"):
        pytest.skip("cc is not installed")
    source = folder / "burner.c"
    source.write_text(BURNER, encoding="utf-8")
    subprocess.run(["cc", "-O1", "-g", "-fno-omit-frame-pointer", *options, "-o", folder / name, source], check=True)
    return folder / name


@pytest.fixture(scope="session")
def burner(tmp_path_factory):
    """A library of C: its functions have names in every profile."""
    library = ctypes.CDLL(str(compile_burner(tmp_path_factory.mktemp("burner"), "burner.so", "-shared", "-fPIC")))
    for function in (library.seventy, library.thirty):
        function.argtypes, function.restype = [ctypes.c_double], None
    return library


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    return compile_burner(tmp_path_factory.mktemp("program"), "burner", "-DPROGRAM")


@pytest.fixture(scope="session")
def may_record():
    """Skips where nobody may sample."""
    try:
        wick.profile_process(os.getpid(), 0.01)
    except wick.WickPermissionError as error:
        pytest.skip(f"this machine does not allow sampling: {error.text}")


@pytest.fixture
def folded(tmp_path):
    path = tmp_path / "x.folded"
    path.write_text(FOLDED, encoding="utf-8")
    return path


def shares(profile, *names):
    """The parts of a profile in functions, their callees included."""
    whole = profile.totals[profile.main_value.name]
    return [sum(row.total_value for row in profile.functions() if row.name == name) / whole for name in names]


def burn(burner, seconds=0.4):
    for _ in range(10):
        burner.seventy(0.07 * seconds)
        burner.thirty(0.03 * seconds)


def assert_split(profile):
    seventy, thirty = shares(profile, "seventy", "thirty")
    assert seventy + thirty > 0.8
    assert 0.62 < seventy / (seventy + thirty) < 0.78


def run(code, *arguments, **options):
    """Runs a Python program that imports wick."""
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)], capture_output=True,
                          text=True, check=False, timeout=120,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "python")}, **options)


def recorders():
    """The recorders that this process, or a program that it started, has left behind."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/comm"):
        try:
            if path.read_text() == "wick-recorder\n" and \
                    f"WICK_TEST_RUN={os.getpid()}".encode() in (path.parent / "environ").read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except OSError:
            pass
    return found


def wait_for_recorders():
    """Until all have ended. The time limit of tests ends a hang."""
    while recorders():
        time.sleep(0.02)


@pytest.fixture(autouse=True, scope="module")
def nothing_is_left_behind():
    os.environ["WICK_TEST_RUN"] = str(os.getpid())
    yield
    wait_for_recorders()


# Profiles


def test_a_file_is_loaded_and_described(folded):
    profile = wick.load_profile(folded)
    assert (profile.samples, profile.lost, profile.incomplete) == (100, 0, False)
    assert profile.main_value == ("samples", "count") and profile.totals == {"samples": 100}
    assert [(row.name, row.self_value, row.total_value) for row in profile.functions()] == \
        [("read", 50, 50), ("parse", 30, 80), ("write", 20, 20), ("main", 0, 100)]
    deepest = max(profile.stacks(), key=lambda stack: len(stack.frames))
    assert [frame.function for frame in deepest.frames] == ["main", "parse", "read"]
    assert (deepest.values, deepest.process, deepest.labels) == ((50,), "app", {})
    assert "100 samples" in repr(profile)


def test_filters_select_stacks(folded):
    assert wick.load_profile(folded, only="parse", ignore="read").samples == 30
    with pytest.raises(ValueError, match="regular expression"):
        wick.load_profile(folded, only="(")
    with pytest.raises(wick.WickValueError, match="not before"):
        wick.load_profile(folded, start=2, end=1)


def test_labels_and_several_values_are_kept(tmp_path):
    writer = pprof.Writer((("samples", "count"), ("alloc_space", "bytes")), default="alloc_space")
    writer.stack(("main", "work"), (1, 600), {"tenant": "blue"})
    writer.stack(("main", "idle"), (2, 400), {"tenant": "red"})
    (tmp_path / "x.pb").write_bytes(writer.data())
    profile = wick.load_profile(tmp_path / "x.pb")
    assert [value.name for value in profile.values] == ["samples", "alloc_space"]
    assert profile.totals == {"samples": 3, "alloc_space": 1000}
    assert profile.labels == {"tenant": {"blue": 600, "red": 400}}
    assert profile.functions("samples")[0].name == "idle" and profile.functions()[0].name == "work"
    with pytest.raises(wick.WickValueError, match="samples, alloc_space"):
        profile.functions("cycles")


def test_flame_graphs_have_the_format_of_their_name(folded, tmp_path):
    for name, start in (("x.svg", b"<?xml"), ("x.html", b"<!DOCTYPE html>"), ("x.png", b"\x89PNG")):
        path = tmp_path / name
        assert wick.generate_flame_graph(folded, path, title="of a test", colors="heat") == str(path)
        assert path.read_bytes().startswith(start)
    with pytest.raises(wick.WickValueError, match=r"\.svg, \.html or \.png"):
        wick.generate_flame_graph(folded, tmp_path / "x.pdf")
    with pytest.raises(wick.WickValueError, match="category"):
        wick.generate_flame_graph(folded, tmp_path / "x.svg", colors="plaid")
    with pytest.raises(wick.WickValueError, match="width"):
        wick.generate_flame_graph(folded, tmp_path / "x.svg", width=3)


def test_other_formats_go_to_a_file_or_to_memory(folded, tmp_path):
    profile = wick.load_profile(folded)
    assert wick.export_folded_stacks(profile) == FOLDED
    wick.export_folded_stacks(profile, tmp_path / "again.folded")
    assert wick.load_profile(tmp_path / "again.folded").samples == 100
    assert isinstance(profile.export("pprof"), bytes)
    profile.export("pprof", tmp_path / "x.pb.gz")
    assert wick.load_profile(tmp_path / "x.pb.gz").totals["samples"] == 100
    profile.export("samples", tmp_path / "x.samples")
    assert "parse" in (tmp_path / "x.samples").read_text(encoding="utf-8")
    for arguments in (("samples",), ("nothing",)):
        with pytest.raises(wick.WickValueError):
            profile.export(*arguments)


def test_a_notebook_shows_the_graph_in_its_cell(tmp_path):
    (tmp_path / "x.folded").write_text("app;main;<i>evil</i> 3\n", encoding="utf-8")
    cell = wick.load_profile(tmp_path / "x.folded")._repr_html_()
    assert "&lt;i&gt;evil" in cell and "<i>evil" not in cell
    assert "<iframe sandbox='allow-scripts'" in cell and "&lt;!DOCTYPE html&gt;" in cell
    assert cell.count("<iframe") == 1 and "<script" not in cell


def test_a_table_needs_pandas(folded, monkeypatch):
    profile = wick.load_profile(folded)
    with pytest.raises(wick.WickValueError):
        profile.to_pandas("chairs")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        profile.to_pandas()


def test_pandas_has_functions_and_stacks(folded):
    pytest.importorskip("pandas")
    profile = wick.load_profile(folded)
    assert profile.to_pandas().set_index("name").total_value["parse"] == 80
    stacks = profile.to_pandas("stacks")
    assert list(stacks[stacks.function == "read"]["stack"]) == ["main;parse;read"]
    assert stacks.samples.sum() == 100


# Errors


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        wick.load_profile(tmp_path / "missing.wick")
    assert isinstance(caught.value, wick.WickError) and "missing.wick" in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.text, again.code) == (caught.value.text, caught.value.code)
    with pytest.raises(FileNotFoundError):
        wick.detect_memory_leaks(tmp_path / "missing.wick")


def test_a_file_that_is_no_profile_is_refused(tmp_path):
    (tmp_path / "x.wick").write_bytes(b"\x00\x01\x02" * 100)
    with pytest.raises(wick.WickError) as caught:
        wick.load_profile(tmp_path / "x.wick")
    assert "x.wick" in caught.value.text


def test_a_recording_without_a_heap_has_no_leaks_to_find(folded):
    with pytest.raises(wick.WickValueError) as caught:
        wick.detect_memory_leaks(folded)
    assert caught.value.remedy


@pytest.mark.parametrize("pid, kind", [(0x7ffffff0, ProcessLookupError), (0, ValueError), (-3, ValueError)])
def test_a_process_that_does_not_exist_is_named(pid, kind):
    with pytest.raises(kind) as caught:
        wick.profile_process(pid, 0.1)
    assert isinstance(caught.value, wick.WickError) and str(pid) in caught.value.text


@pytest.mark.parametrize("options", [{"mode": "heat"}, {"frequency": 3}, {"engine": "steam"}, {"duration": -1}])
def test_wrong_options_are_refused_before_anything_runs(options, tmp_path):
    with pytest.raises(wick.WickError):
        wick.profile_process(os.getpid(), **{"duration": 0.01, "output": tmp_path / "x.wick", **options})
    assert not (tmp_path / "x.wick").exists()


def test_somebody_elses_process_may_not_be_sampled(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("needs root, to become somebody else")
    python = "/usr/bin/python3"
    tmp_path.chmod(0o777)
    shutil.copytree(ROOT / "python/wick", tmp_path / "wick", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(os.environ.get("WICK_LIBRARY") or BUILD / "libwick.so", tmp_path / "libwick.so")
    for folder in tmp_path.parents:
        if not folder.stat().st_mode & 1:
            folder.chmod(folder.stat().st_mode | 0o111)
    done = subprocess.run(
        [python, "-c", textwrap.dedent("""
            import sys, wick
            try:
                wick.profile_process(int(sys.argv[1]), 0.1)
            except PermissionError as error:
                print("refused:", error)
        """), str(os.getpid())], user=65534, group=65534, extra_groups=[], capture_output=True, text=True, check=False,
        cwd=tmp_path, env={**os.environ, "HOME": str(tmp_path), "PYTHONPATH": str(tmp_path),
                           "WICK_LIBRARY": str(tmp_path / "libwick.so")})
    assert done.stdout.startswith("refused:"), done.stderr
    assert len(done.stdout.splitlines()) > 1  # there is a remedy


def test_an_output_that_cannot_be_written_is_named(may_record, tmp_path):
    with pytest.raises(wick.WickError, match="missing/x.wick"):
        with wick.profile(tmp_path / "missing/x.wick"):
            pytest.fail("nothing is recorded")


# Recording


def test_a_block_is_recorded(may_record, burner, tmp_path):
    with wick.profile(tmp_path / "x.wick") as recording:
        burn(burner)
        with pytest.raises(wick.WickError, match="not ended"):
            _ = recording.profile
    assert recording.path == str(tmp_path / "x.wick")
    assert_split(recording.profile)
    assert not recording.profile.incomplete
    assert {stack.pid for stack in recording.profile.stacks()} == {os.getpid()}


def test_a_function_is_recorded_each_time_it_is_called(may_record, burner, tmp_path):
    @wick.profile(tmp_path / "x.wick")
    def work(seconds, again=True):
        """Burns."""
        burn(burner, seconds)
        return work(seconds / 10, again=False) if again else "done"

    assert work.__doc__ == "Burns." and work(0.1) == "done"
    first = wick.load_profile(tmp_path / "x.wick").start
    assert work(0.1) == "done"
    assert wick.load_profile(tmp_path / "x.wick").start > first


def test_a_call_gives_its_result_and_its_profile(may_record, burner):
    result, profile = wick.profile_function(lambda *args, **kwargs: (burn(burner), args, kwargs), 1, two=2)
    assert result == (None, (1,), {"two": 2})
    assert_split(profile)
    assert os.path.exists(profile.path)
    path = profile.path
    del profile
    assert not os.path.exists(path)


def test_coroutines_and_generators_are_recorded_while_they_run(may_record, burner, tmp_path):
    @wick.profile(tmp_path / "coroutine.wick")
    async def later():
        await asyncio.sleep(0)
        burn(burner)
        return 3

    @wick.profile(tmp_path / "generator.wick")
    def some():
        burn(burner)
        got = yield 1
        return got

    assert asyncio.run(later()) == 3
    steps = some()
    assert next(steps) == 1
    with pytest.raises(StopIteration):
        steps.send(2)
    for name in ("coroutine", "generator"):
        assert_split(wick.load_profile(tmp_path / f"{name}.wick"))


def test_all_threads_are_recorded(may_record, burner):
    with wick.profile() as recording:
        threads = [threading.Thread(target=function, args=(0.2,)) for function in (burner.seventy, burner.thirty)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    by_thread = {}
    for stack in recording.profile.stacks():
        names = {frame.function for frame in stack.frames} & {"seventy", "thirty"}
        if names:
            by_thread.setdefault(stack.tid, set()).update(names)
    assert sorted(map(sorted, by_thread.values())) == [["seventy"], ["thirty"]]


def test_threads_may_record_at_once(may_record, burner):
    found = []

    def work(function, name):
        with wick.profile() as recording:
            function(0.2)
        found.append(shares(recording.profile, name)[0])

    threads = [threading.Thread(target=work, args=(burner.seventy, "seventy")),
               threading.Thread(target=work, args=(burner.thirty, "thirty"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 2 and min(found) > 0


def test_an_exception_ends_the_recording_and_passes(may_record, burner, tmp_path):
    with pytest.raises(ZeroDivisionError):
        with wick.profile(tmp_path / "x.wick"):
            burn(burner)
            1 / 0  # pylint: disable=pointless-statement
    assert_split(wick.load_profile(tmp_path / "x.wick"))


def test_an_interrupt_ends_the_recording_and_passes(may_record, tmp_path):
    done = run("""
        import os, signal, sys, wick
        try:
            with wick.profile(sys.argv[1]):
                os.killpg(0, signal.SIGINT)  # as a terminal does
                while True:
                    pass
        except KeyboardInterrupt:
            print("interrupted", wick.load_profile(sys.argv[1]).incomplete)
    """, tmp_path / "x.wick", start_new_session=True)
    assert done.stdout == "interrupted False\n", done.stderr


def test_the_end_of_the_process_completes_the_file(may_record, tmp_path):
    for how in ("os._exit(0)", "os.kill(os.getpid(), 9)", "sys.exit(0)"):
        path = tmp_path / "x.wick"
        run(f"""
            import os, sys, time, wick
            wick.profile(sys.argv[1]).start()
            end = time.process_time() + 0.1
            while time.process_time() < end:
                pass
            {how}
        """, path)
        wait_for_recorders()  # it ends by itself
        profile = wick.load_profile(path)
        assert profile.samples > 20 and not profile.incomplete, how


def test_a_forked_child_leaves_the_recording_to_its_parent(may_record, burner, tmp_path):
    with wick.profile(tmp_path / "x.wick") as recording:
        child = os.fork()
        if child == 0:
            try:
                recording.stop()  # as the end of the block in a child does
                burner.thirty(0.1)
                with wick.profile(tmp_path / "child.wick"):
                    burner.thirty(0.1)
            finally:
                os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        burner.seventy(0.3)
    seventy, thirty = shares(recording.profile, "seventy", "thirty")
    assert seventy > thirty > 0  # children are included
    assert shares(wick.load_profile(tmp_path / "child.wick"), "thirty")[0] > 0.5


def test_waiting_for_children_does_not_wait_for_the_recorder(may_record, tmp_path):
    done = run("""
        import os, sys, wick
        with wick.profile(sys.argv[1]):
            try:
                os.wait()
            except ChildProcessError:
                print("no children")
    """, tmp_path / "x.wick")
    assert done.stdout == "no children\n", done.stderr


def test_process_one_of_a_container_reaps_the_recorder(may_record, tmp_path):
    done = run("""
        import ctypes, os, sys, wick
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: orphans come to us
        with wick.profile(sys.argv[1]):
            pass
        try:
            print(os.waitpid(-1, 0))
        except ChildProcessError:
            print("no children")
    """, tmp_path / "x.wick")
    assert done.stdout == "no children\n", done.stderr


def test_a_recorder_that_dies_is_an_error_and_not_a_hang(may_record, tmp_path):
    recording = wick.profile(tmp_path / "x.wick").start()
    for pid in recorders():
        os.kill(pid, signal.SIGKILL)
    with pytest.raises(wick.WickError, match="ended without a result"):
        recording.stop()
    recording.stop()  # a second one is harmless
    with pytest.warns(RuntimeWarning, match="recording failed"), pytest.raises(KeyError):
        with wick.profile(tmp_path / "x.wick"):
            for pid in recorders():
                os.kill(pid, signal.SIGKILL)
            raise KeyError


def test_a_recorder_that_hangs_is_given_up(may_record, monkeypatch, tmp_path):
    from wick import _record  # pylint: disable=import-outside-toplevel
    wait_for_recorders()
    recording = wick.profile(tmp_path / "x.wick").start()
    (pid,) = recorders()
    os.kill(pid, signal.SIGSTOP)
    monkeypatch.setattr(_record, "STOP_SECONDS", 0.1)
    with pytest.raises(wick.WickError, match="did not answer in time"):
        recording.stop()
    wait_for_recorders()  # it was killed
    sleeper = tmp_path / "python"
    sleeper.write_text("#!/bin/sh\nexec sleep 1000\n", encoding="ascii")
    sleeper.chmod(0o755)
    monkeypatch.setenv("WICK_PYTHON", str(sleeper))
    monkeypatch.setattr(_record, "START_SECONDS", 0.1)
    with pytest.raises(wick.WickError, match="did not start in time"):
        recording.start()


def test_an_interpreter_that_cannot_run_the_recorder_is_named(monkeypatch):
    monkeypatch.setenv("WICK_PYTHON", "/bin/false")
    with pytest.raises(wick.WickError, match="/bin/false") as caught:
        with wick.profile():
            pytest.fail("nothing is recorded")
    assert "WICK_PYTHON" in caught.value.remedy


def test_another_process_is_recorded(may_record, program, tmp_path):
    with subprocess.Popen([program, "burn"]) as process:
        try:
            profile = wick.profile_process(process.pid, None, tmp_path / "x.wick", frequency=499)
        finally:
            process.kill()
    assert_split(profile)
    assert profile.period == pytest.approx(1 / 499, rel=0.01)
    assert wick.load_profile(tmp_path / "x.wick").samples == profile.samples


def test_an_interrupt_of_profile_process_keeps_what_was_recorded(may_record, tmp_path):
    with subprocess.Popen(["sleep", "1000"]) as process:
        try:
            done = run("""
                import os, signal, sys, threading, time, wick
                def interrupt():
                    while not os.path.exists(sys.argv[2]) or os.path.getsize(sys.argv[2]) == 0:
                        time.sleep(0.01)
                    time.sleep(0.1)
                    os.kill(os.getpid(), signal.SIGINT)
                threading.Thread(target=interrupt).start()
                try:
                    wick.profile_process(int(sys.argv[1]), None, sys.argv[2])
                except KeyboardInterrupt:
                    print("interrupted", wick.load_profile(sys.argv[2]).incomplete)
            """, process.pid, tmp_path / "x.wick")
        finally:
            process.kill()
    assert done.stdout == "interrupted False\n", done.stderr


def test_leaks_are_found_where_they_were_allocated(program, tmp_path):
    done = subprocess.run([BUILD / "wick", "heap", "--leaks", "-o", tmp_path / "x.wick", "--", program],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    leaks = wick.detect_memory_leaks(tmp_path / "x.wick")
    assert leaks.scanned and leaks.amounts["definite"].blocks >= 2  # a register may still hold the last one
    leak = next(leak for leak in leaks if leak.function == "lose_memory")
    assert leak.kind == "definite" and leak.bytes == 1000 * leak.blocks and leak.line > 0
    assert [frame.function for frame in leak.stacks[0].frames if frame.function in ("main", "lose_memory")] == \
        ["main", "lose_memory"]
    assert len(wick.detect_memory_leaks(wick.load_profile(tmp_path / "x.wick"), min_confidence=1.0)) <= len(leaks)


def test_the_package_documents_what_it_exports():
    for name in wick.__all__:
        assert getattr(wick, name).__doc__, name
    stub = (ROOT / "python/wick/__init__.pyi").read_text(encoding="utf-8")
    assert all(f" as {name}\n" in stub for name in wick.__all__)
    assert set(wick.__all__) <= set(dir(wick))
    with pytest.raises(AttributeError):
        _ = wick.nothing


def test_importing_wick_loads_nothing_more():
    done = run("import sys, wick; print(*sorted(name for name in sys.modules if name.startswith(('wick', 'ctypes'))))")
    assert done.stdout == "wick\n"

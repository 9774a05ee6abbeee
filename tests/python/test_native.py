# SPDX-License-Identifier: BSD-2-Clause
"""start(native=True): memory and frames of C code, through the preload library and without it.

native_module.c leaks known sizes in functions of known names.
"""
import json
import pathlib
import shutil
import subprocess

import pytest

from interpreters import BUILD, clean_environment

HERE = pathlib.Path(__file__).resolve().parent
PRELOAD = BUILD / "libwick-preload.so"

START = """
import json, os, sys, threading
import wick.tracemalloc as tracemalloc
import native_module

def native_rows():
    only = tracemalloc.DomainFilter(True, tracemalloc.NATIVE_DOMAIN)
    return tracemalloc.take_snapshot().filter_traces([only]).statistics("traceback")

def functions(one):
    return [frame.function for frame in one.traceback.native]

def leaked(function):
    '''(size, count, functions, Python functions) of what a function of the module holds'''
    found = [one for one in native_rows() if function in functions(one)]
    return (sum(one.size for one in found), sum(one.count for one in found),
            functions(found[0]) if found else [], [frame.function for frame in found[0].traceback] if found else [])
"""


@pytest.fixture
def extension(python):
    """The folder of the extension, built for the interpreter."""
    folder = BUILD / "python" / python.name / "native"
    folder.mkdir(parents=True, exist_ok=True)
    source, target = HERE / "native_module.c", folder / "native_module.so"
    if target.exists() and target.stat().st_mtime > source.stat().st_mtime:
        return folder
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    include = python.run("-c", "import sysconfig; print(sysconfig.get_path('include'))").stdout.strip()
    if not pathlib.Path(include, "Python.h").exists():
        pytest.skip("there is no Python.h of this interpreter here")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-g", f"-isystem{include}", source, "-o", target],
                   check=True)
    return folder


@pytest.fixture(params=["preload", "got"])
def run(request, check, extension):
    """Runs lines after the ones above, with the preload library or without it."""
    env = {"WICK_TEST_EXTENSION": str(extension)}
    if request.param == "preload":
        if not PRELOAD.exists():
            pytest.skip("libwick-preload.so is not built")
        env["LD_PRELOAD"] = str(PRELOAD)
    begin = "import os, sys\nsys.path.insert(0, os.environ['WICK_TEST_EXTENSION'])\n" + START

    def lines(text, **more):
        return check(begin + text, env={**env, **more})
    return lines


@pytest.mark.parametrize("how, function, size, count", [
    ("malloc", "leak_by_malloc", 12345, 1), ("calloc", "leak_by_calloc", 3000, 1),
    ("realloc", "leak_by_realloc", 4567, 1), ("memalign", "leak_by_memalign", 2 * 6000, 2),
    ("strdup", "leak_by_strdup", 50, 1)])
def test_blocks_of_c_code_have_sizes_and_functions(run, how, function, size, count):
    asked = size // count
    found = json.loads(run(f"""
def caller():
    native_module.leak({how!r}, {asked})

tracemalloc.start(3, native=True)
caller()
print(json.dumps(leaked({function!r})))
"""))
    assert found[:2] == [size, count]
    assert found[2][found[2].index(function):][:2] == [function, "leak"]
    assert found[2][-1] == "_PyEval_EvalFrameDefault"
    assert found[3][-1] == "caller"


def test_statistics_name_the_extension_and_the_domain(run):
    found = json.loads(run("""
tracemalloc.start(native=True)
native_module.leak("malloc", 100000)
text = bytearray(1000)
snapshot = tracemalloc.take_snapshot()
print(json.dumps({kind: {str(one.traceback): one.size for one in snapshot.statistics(kind)}
                  for kind in ("module", "domain")}))
"""))
    assert found["module"]["native_module"] == 100000
    assert found["domain"]["domain 5718859 (C code)"] >= 100000
    assert 1000 < found["domain"]["domain 0"] < 100000


def test_a_thread_without_a_python_state_is_seen(run):
    size, count, functions, _ = json.loads(run("""
tracemalloc.start(native=True)
native_module.leak_in_thread(7777)
print(json.dumps(leaked("thread_without_python")))
"""))
    assert (size, count) == (7777, 1)
    assert functions[:2] == ["leak_by_malloc", "thread_without_python"]


def test_a_call_without_the_gil_has_its_python_frames(run):
    size, count, _, names = json.loads(run("""
def caller():
    text = ["known to the tracer"] * 10
    native_module.leak_without_gil(6543)

tracemalloc.start(3, native=True)
caller()
print(json.dumps(leaked("leak_without_gil")))
"""))
    assert (size, count) == (6543, 1)
    assert names[-1] == "caller"


def test_frees_and_failed_resizes_are_seen(run):
    run("""
tracemalloc.start(native=True)
native_module.leak("malloc", 5000)
assert native_module.fail_to_grow()
assert leaked("leak_by_malloc")[:2] == (5000, 1)
native_module.release()
assert leaked("leak_by_malloc")[:2] == (0, 0)
before = tracemalloc.get_traced_memory()[0]
native_module.churn(1000)
assert not [one for one in native_rows() if "churn" in functions(one)]
assert abs(tracemalloc.get_traced_memory()[0] - before) < 100000
""")


def test_python_blocks_have_native_frames_and_their_own_domain(run):
    run("""
tracemalloc.start(2, native=True)
kept = bytearray(30000)
found = [one for one in tracemalloc.take_snapshot().statistics("traceback") if one.size > 30000]
assert len(found) == 1 and found[0].count == 2, found
assert functions(found[0])[-1] == "_PyEval_EvalFrameDefault", functions(found[0])
assert tracemalloc.get_object_traceback(kept) is not None
assert sum(one.size for one in native_rows()) < 30000
""")


def test_native_frames_are_part_of_every_traceback(run):
    run("""
import pickle
def caller():
    native_module.leak("malloc", 12345)
    return bytearray(60000)

tracemalloc.start(3, native=True)
kept = caller()
snapshot = tracemalloc.take_snapshot()
def names(traceback):
    return [frame.function for frame in traceback.native]

of_object = tracemalloc.get_object_traceback(kept)
assert names(of_object)[-1] == "_PyEval_EvalFrameDefault", names(of_object)
assert of_object[-1].function == "caller"
for one in snapshot, pickle.loads(pickle.dumps(snapshot)):
    [trace] = [trace for trace in one.traces if trace.size == 12345 and trace.domain == tracemalloc.NATIVE_DOMAIN]
    assert trace.traceback[-1].function == "caller"
    found = names(trace.traceback)
    assert found[found.index("leak_by_malloc"):][:2] == ["leak_by_malloc", "leak"], found
    lines = trace.traceback.format()
    # The oldest comes first: frames of C code are below those of Python, the innermost is the last.
    assert lines[-1] == "  leak_by_malloc (native_module.so)", lines
    assert "  leak (native_module.so)" in lines and 'File "' in lines[0]
    assert not any("_PyEval_EvalFrameDefault" in line for line in lines)
    assert trace.traceback.format(most_recent_first=True)[0] == lines[-1]
    assert trace.traceback.format(1)[-1] == lines[-1]
    assert "leak_by_malloc" not in str(trace.traceback.format(-1))
    [group] = [group for group in one.statistics("module") if str(group.traceback) == "native_module"]
    assert group.size >= 12345
copied = pickle.loads(pickle.dumps(of_object))
assert copied.native == of_object.native and copied.native
tracemalloc.stop()
tracemalloc.start(3)
kept = caller()
assert tracemalloc.get_object_traceback(kept).native == ()
assert all("File" in line or line.startswith("    ") for line in tracemalloc.get_object_traceback(kept).format())
""")


def test_samples_estimate_the_memory_of_c_code(run):
    size, count = json.loads(run("""
tracemalloc.start(sampling=0.2, native=True)
for _ in range(4000):
    native_module.leak("malloc", 1000)
print(json.dumps(leaked("leak_by_malloc")[:2]))
"""))
    assert 0.8 < size / 4e6 < 1.2  # eight standard errors
    assert 0.8 < count / 4e3 < 1.2


def test_stop_restores_what_modules_call(run):
    run("""
before = native_module.address_of_malloc()
for _ in range(3):
    tracemalloc.start(native=True)
    tracemalloc.stop()
    assert native_module.address_of_malloc() == before
native_module.leak("malloc", 5000)
tracemalloc.start()
native_module.leak("malloc", 5000)
assert native_rows() == []
assert not any(one.traceback.native for one in tracemalloc.take_snapshot().statistics("traceback"))
""")


def test_starts_and_stops_while_threads_allocate(run):
    run("""
ends = threading.Event()
def work():
    while not ends.is_set():
        native_module.churn(50)
        [bytes(100) for _ in range(10)]
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for i in range(200):
    tracemalloc.start(1 + i % 3, native=True, sampling=(None, 1000)[i % 4 == 3])
    native_module.leak("malloc", 10)
    tracemalloc.stop()
ends.set()
for thread in threads:
    thread.join()
""")


def test_a_forked_child_goes_on(run):
    run("""
tracemalloc.start(native=True)
ends = threading.Event()
def work():
    while not ends.is_set():
        native_module.churn(100)
threads = [threading.Thread(target=work, daemon=True) for _ in range(2)]
for thread in threads:
    thread.start()
for _ in range(20):
    child = os.fork()
    if child == 0:
        native_module.leak("malloc", 4321)
        assert leaked("leak_by_malloc")[0] == 4321
        tracemalloc.stop()
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
ends.set()
for thread in threads:
    thread.join()
""")


def test_modules_that_are_loaded_later_are_seen_and_may_go(run):
    run("""
import _ctypes, shutil
other = shutil.copy(native_module.__file__, os.path.join(os.getcwd(), "later.so"))
tracemalloc.start(native=True)
handle = _ctypes.dlopen(other, os.RTLD_NOW)
[str(i) for i in range(100)]  # the tracer looks for modules when it meets a new stack
function = _ctypes.dlsym(handle, "leak_for_test")
_ctypes.call_cdeclfunction(function, (2345,))
size, count, names, _ = leaked("leak_for_test")
assert (size, count) == (2345, 1), (size, count)
_ctypes.dlclose(handle)
assert "later.so" not in open("/proc/self/maps").read()
assert leaked("leak_for_test")[:3] == (size, count, names)
[one] = [one for one in tracemalloc.take_snapshot().statistics("module") if str(one.traceback) == "later"]
assert one.size == 2345
tracemalloc.stop()
""")


@pytest.mark.parametrize("folder", ["plain", "with a space:and a colon"])
def test_the_module_restarts_the_interpreter_with_the_preload_library(python, extension, tmp_path, folder):
    if not PRELOAD.exists():
        pytest.skip("libwick-preload.so is not built")
    (tmp_path / folder).mkdir()
    library = tmp_path / folder / PRELOAD.name
    library.symlink_to(PRELOAD)
    (tmp_path / "tmp").mkdir()
    script = tmp_path / "program.py"
    script.write_text("import native_module, wick.tracemalloc as tracemalloc\n"
                      "assert 'libwick-preload' in open('/proc/self/maps').read()\n"
                      "native_module.leak('malloc', 98765432)\n", encoding="utf-8")
    done = python.run("-m", "wick.tracemalloc", "--native", script,
                      env={"WICK_PRELOAD": str(library), "PYTHONPATH": f"{python.package}:{extension}",
                           "TMPDIR": str(tmp_path / "tmp")})
    assert done.returncode == 0, done.stderr
    assert "program.py:3: size=94.2 MiB, count=" in done.stderr
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_recording_of_the_heap_sees_the_same_blocks(python, extension, tmp_path):
    if not (BUILD / "wick").exists() or not PRELOAD.exists():
        pytest.skip("wick is not built")
    script, recording = tmp_path / "program.py", tmp_path / "out.wick"
    script.write_text(START + """
tracemalloc.start(native=True)
native_module.leak("malloc", 98765432)
assert leaked("leak_by_malloc")[:2] == (98765432, 1)
""", encoding="utf-8")
    done = subprocess.run([BUILD / "wick", "heap", "-o", recording, python.executable, script],
                          capture_output=True, text=True, check=False,
                          env=clean_environment(PYTHONPATH=f"{python.package}:{extension}"))
    assert done.returncode == 0, done.stderr
    report = subprocess.run([BUILD / "wick", "report", "--by", "site", "--format", "json", recording],
                            capture_output=True, text=True, check=True)
    assert json.loads(report.stdout)["totals"]["live"]["bytes"] >= 98765432

# SPDX-License-Identifier: BSD-2-Clause
"""Names of functions in reports: clones, template instances, stripped code, the vdso."""
import collections
import os
import pathlib
import re
import shutil
import signal
import subprocess

import contract
import pytest
from conftest import state_of_recorder, wait_for, wait_for_samples, workload

pytestmark = pytest.mark.perf

TEMPLATES = """
#include <ctime>
template <class T> struct box {
	__attribute__((noinline)) T spin(T n) const
	{
		T s = 0;
		for (volatile T i = 0; i < n; i = i + 1)
			s = s * 31 + i;
		return s;
	}
};
int main()
{
	timespec now;
	long sum = 0;
	do {
		sum += box<int>().spin(100000) + box<long>().spin(100000);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while (now.tv_nsec < 300000000);
	return sum == 42;
}
"""

CLOCKS = """
#include <time.h>
int main(void)
{
	struct timespec now;
	for (long i = 0; i < 8000000; i++)
		clock_gettime(CLOCK_MONOTONIC, &now);
	return 0;
}
"""


def build(folder, compiler, name, text):
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    (folder / name).write_text(text)
    subprocess.run([compiler, "-O1", "-g", name, "-o", "program"], cwd=folder, check=True)
    return str(folder / "program")


def test_short_names_merge_the_instances_of_a_template(wick):
    recording = wick.record([build(wick.folder, "g++", "box.cpp", TEMPLATES)])
    full = {name for name in contract.functions(recording.report()) if name.startswith("box<")}
    assert full == {"box<int>::spin(int) const", "box<long>::spin(long) const"}
    for option in (("--short-names",), ("--names", "short")):
        rows = [row for row in contract.rows(recording.report(*option)) if row["name"].startswith("box<")]
        assert [row["name"] for row in rows] == ["box<>::spin"]
        assert rows[0]["self_percent"] > 90
    # People have short ones unless they ask, in a pipe too; programs and patterns with arguments have full ones.
    path = recording.path
    assert "box<>::spin " in wick.ok("report", path).stdout and "box<int>" not in wick.ok("report", path).stdout
    for option in (("--names", "full"), ("--no-short-names",), ("--only", "spin\\(long\\)")):
        assert "box<long>::spin(long) const" in wick.ok("report", *option, path).stdout
    # What is typed beats what is configured.
    assert "box<>::spin " in wick.ok("report", "--short-names", path, env=os.environ | {"WICK_VIEW_NAMES": "full"}).stdout
    assert "box<int>" in wick.ok("report", "--no-short-names", path, env=os.environ | {"WICK_VIEW_NAMES": "short"}).stdout
    assert "box<int>" in wick.ok("report", "--names", "full", path, env=os.environ | {"WICK_VIEW_SHORT_NAMES": "yes"}).stdout
    assert wick.ok("annotate", path, "box<>::spin").stdout.startswith("box<>::spin\n")
    assert "box<int>::spin" in wick.ok("annotate", path, "box<int>::spin").stdout
    assert "box<int>::spin(int) const" in wick.ok("export", "--format", "folded", path).stdout
    for name in ("box<long>::spin(long) const", "box<>::spin"):
        assert f"holds: {name}: " in wick.ok("diff", "--fail-if", f"{name}>+5%", path, path).stderr


def test_top_has_short_names_for_people_and_full_ones_for_programs_unless_asked(wick):
    program = build(wick.folder, "g++", "box.cpp", TEMPLATES)
    full = {"box<int>::spin(int) const", "box<long>::spin(long) const"}
    for options, names in (((), full), (("--names", "full"), full), (("--names", "short"), {"box<>::spin"})):
        shown = wick.json("top", "--once", "--interval", "0.3s", "-F", "997", *options, "--format", "json", "--", program)
        found = {name for name in contract.functions(shown) if name.startswith("box<")}
        assert found and found <= names
    for options, is_short in (((), True), (("--names", "full"), False)):
        shown = wick.ok("top", "--once", "--interval", "0.3s", "-F", "997", *options, "--", program).stdout
        assert "box<" in shown and ("box<>::spin" in shown) == is_short, shown


def test_parts_and_copies_count_as_their_function(wick):
    objcopy = shutil.which("objcopy")
    if not objcopy:
        pytest.skip("no objcopy")
    program = wick.folder / "clones"
    subprocess.run([objcopy, "--strip-debug", "--redefine-sym", "hot_70=work.part.0",
                    "--redefine-sym", "cool_30=work.constprop.0.cold", workload("split")[0],
                    program], check=True)
    functions = contract.functions(wick.record([str(program), "400"]).report())
    assert functions["work"]["self_percent"] > 90
    assert not [name for name in functions if "." in name and name.startswith("work")]


def test_samples_of_a_stripped_function_add_up(wick):
    strip = shutil.which("strip")
    if not strip:
        pytest.skip("no strip")
    program = wick.folder / "stripped"
    subprocess.run([strip, "-o", program, workload("split")[0]], check=True)
    functions = contract.functions(wick.record([str(program), "600"], "-F", 997).report())
    shares = sorted((row["self_percent"] for name, row in functions.items()
                     if re.fullmatch(r"stripped\+0x[0-9a-f]+", name)), reverse=True)
    assert abs(shares[0] - 70) < 8 and abs(shares[1] - 30) < 8
    assert len(shares) <= 5  # a few callers beside the two


def test_the_vdso_and_the_linkage_table_have_names(wick):
    program = build(wick.folder, "gcc", "clocks.c", CLOCKS)
    functions = contract.functions(wick.record([program], "-F", 4000).report())
    vdso = [name for name, row in functions.items() if row["module"] == "[vdso]"]
    if not vdso:
        pytest.skip("this kernel's clock needs a system call")
    assert any("clock_gettime" in name for name in vdso)
    assert not [name for name in functions if name.startswith(("[vdso]+", "program+"))]


REWRITTEN_NAMES = ("split", "spin", "chain")
REWRITTEN = """
cd "$1"
for name in split spin chain; do
    cp "$2/$name" program  # into the same file, which keeps its inode
    ./program "${3:-150}"
done
"""


def build_id_of(program):
    notes = subprocess.run(["readelf", "-n", program], capture_output=True, text=True, check=True).stdout
    return re.search(r"Build ID: (\w+)", notes)[1]


@pytest.fixture
def programs(tmp_path):
    """A folder with the three programs. Their build IDs are their own: the workloads may run elsewhere now."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in REWRITTEN_NAMES:
        path = pathlib.Path(workload(name)[0])
        build_id = bytes.fromhex(build_id_of(path))
        assert path.read_bytes().count(build_id) == 1
        (folder / name).write_bytes(path.read_bytes().replace(build_id, os.urandom(len(build_id))))
        (folder / name).chmod(0o755)
    return folder


def programs_of(wick, path):
    """The samples of each program that was in the file, by build ID; None: what was in it is not known."""
    samples = collections.Counter()
    for module in wick.json("info", path, "--format", "json")["modules"]:
        if module["path"].endswith("/program"):
            samples[module.get("build_id") or None] += module["samples"]
    return samples


def assert_last_is_named(wick, path):
    """Only the last program can be named: the others are gone."""
    names = [row["name"] for row in contract.rows(wick.json("report", path, "--comm", "program", "--format", "json"))]
    assert any(name.startswith("chain_") for name in names), names
    assert not {"hot_70", "spin_here"} & set(names), names


def assert_told_apart(wick, path, programs):
    """Each of the three has its own samples."""
    modules = programs_of(wick, path)
    assert set(modules) == {build_id_of(programs / name) for name in REWRITTEN_NAMES}, modules
    assert min(modules.values()) > 20, modules
    assert_last_is_named(wick, path)


@pytest.mark.parametrize("engine", ["ebpf", "perf"])
def test_a_program_that_is_written_anew_in_place_is_another_one(wick, tmp_path, programs, engine):
    if wick.run("record", "--engine", engine, "-o", wick.new_path(), "--", "true").returncode != 0:
        pytest.skip(f"{engine} does not work here")
    recording = wick.record(["sh", "-c", REWRITTEN, "sh", tmp_path, programs], "--engine", engine, "-F", 499)
    assert_told_apart(wick, recording.path, programs)


def record_machine(wick, engine, path):
    """Starts a recorder of the whole machine, or skips."""
    if wick.run("record", "--engine", engine, "-a", "-d", "0.01", "-o", wick.new_path()).returncode != 0:
        pytest.skip(f"{engine} does not work here")
    recorder = wick.start("record", "--engine", engine, "-a", "-F", 499, "-o", path)
    wait_for_samples(wick, recorder.pid, more_than=0)
    return recorder


@pytest.mark.root
@pytest.mark.parametrize("engine", ["ebpf", "perf"])
def test_of_a_whole_machine_too(wick, tmp_path, programs, engine):
    """The recorder reads what each program mapped before the next one is written."""
    path = wick.new_path()
    recorder = record_machine(wick, engine, path)
    for name in REWRITTEN_NAMES:
        shutil.copyfile(programs / name, tmp_path / "program")  # keeps the inode
        (tmp_path / "program").chmod(0o755)
        subprocess.run([tmp_path / "program", "150"], stdout=subprocess.DEVNULL, check=True)
        read_so_far = state_of_recorder(wick, recorder.pid)["samples"]
        wait_for_samples(wick, recorder.pid, more_than=read_so_far)
    recorder.send_signal(signal.SIGINT)
    recorder.communicate(timeout=60)
    assert_told_apart(wick, path, programs)


# It is busy until it is told to begin: then there are samples, and the recorder is known to work.
LATE = 'trap "begin=1" USR1; while [ -z "$begin" ]; do :; done\n' + REWRITTEN


@pytest.mark.root
@pytest.mark.parametrize("engine", ["ebpf", "perf"])
def test_a_program_that_was_rewritten_before_it_was_read_is_not_taken_for_the_new_one(
        wick, background, tmp_path, programs, engine):
    path = wick.new_path()
    target = background(["sh", "-c", LATE, "sh", str(tmp_path), str(programs), "90"])
    recorder = wick.start("record", "--engine", engine, "-p", target.pid, "-F", 499, "-o", path)
    wait_for(lambda: recorder.poll() is not None or (state_of_recorder(wick, recorder.pid) or {}).get("samples"))
    if recorder.poll() is not None:
        pytest.skip(f"{engine} does not work here")
    recorder.send_signal(signal.SIGSTOP)  # it reads nothing until all have ended
    try:
        target.send_signal(signal.SIGUSR1)
        target.communicate(timeout=60)
    finally:
        recorder.send_signal(signal.SIGCONT)
    recorder.communicate(timeout=60)
    modules = programs_of(wick, path)
    assert set(modules) == {build_id_of(programs / "chain"), None}, modules
    assert modules[None] > 40 and min(modules.values()) > 20, modules
    assert_last_is_named(wick, path)

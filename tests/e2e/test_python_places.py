# SPDX-License-Identifier: BSD-2-Clause
"""Python calls wherever the interpreter is: in a virtual environment, in a container, inside another program, in
a second interpreter of the same process, in the processes of a pool."""
import os
import pathlib
import shutil
import subprocess
import sysconfig

import pytest
from conftest import ROOT

from ebpf import needs_ebpf
from test_python_frames import python_calls, samples_of

WORKLOADS = ROOT / "tests/workloads"
WORK = WORKLOADS / "python_work.py"
PYTHON = "/usr/bin/python3"
SECONDS = "0.3"
EACH_ENGINE = [pytest.param("ebpf", marks=needs_ebpf), "signal", "ptrace"]
pytestmark = pytest.mark.skipif(not pathlib.Path(PYTHON).exists(), reason="no /usr/bin/python3")


def calls_of(sample):
    return ";".join(frame["function"] for frame in python_calls(sample))


def record(wick, engine, *command):
    recording = wick.record([str(word) for word in command], "--engine", engine, "-F", "499", "--overhead", "off")
    return samples_of(wick, recording)


def assert_calls(samples, wanted):
    """Most samples of the work have the calls; the first ones are taken before the interpreter is known."""
    working = [sample for sample in samples if calls_of(sample).endswith("inner")]
    assert len(working) > 30, [calls_of(sample) for sample in samples]
    assert {calls_of(sample) for sample in working} == {wanted}


@pytest.mark.parametrize("copied", [False, True], ids=["linked", "copied"])
@pytest.mark.parametrize("engine", EACH_ENGINE)
def test_in_a_virtual_environment(wick, tmp_path, engine, copied):
    done = subprocess.run([PYTHON, "-m", "venv", "--without-pip", *(["--copies"] if copied else []), tmp_path / "venv"],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"no virtual environment (Debian: python3-venv): {done.stdout}{done.stderr}")
    samples = record(wick, engine, tmp_path / "venv/bin/python", WORK, SECONDS)
    assert_calls(samples, "<module>;outer;inner")


CONTAINER = """
set -e
root=$1 interpreter=$(readlink -f "$2")
shift 2
for folder in usr lib lib64 bin etc proc tmp dev; do
    [ -e "/$folder" ] || continue
    mkdir -p "$root/$folder"
    mount --rbind "/$folder" "$root/$folder"
done
mkdir "$root/app"
mount -t tmpfs app "$root/app"
cp "$interpreter" "$root/app/python3.11"
cp "$1" "$root/app/work.py"
exec chroot "$root" /app/python3.11 /app/work.py "$2"
"""


@pytest.mark.parametrize("engine", [pytest.param("ebpf", marks=needs_ebpf), "ptrace"])
def test_in_a_container(wick, tmp_path, engine):
    """The interpreter and the program are in files that only the mount namespace of the process has. The preload
    library of the signal engine is not in there."""
    if os.geteuid() != 0 or sysconfig.get_python_version() != "3.11":
        pytest.skip("needs root, and an interpreter whose name the script has")
    root = tmp_path / "root"
    root.mkdir()
    samples = record(wick, engine, "unshare", "--mount", "--propagation", "private", "sh", "-c", CONTAINER, "sh", root,
                     PYTHON, WORK, SECONDS)
    assert_calls(samples, "<module>;outer;inner")
    files = {frame["file"] for sample in samples for frame in python_calls(sample) if frame["function"] == "inner"}
    assert files == {"/app/work.py"}


def linker_flags(config):
    return subprocess.run([config, "--cflags", "--ldflags", "--embed"], capture_output=True, text=True,
                          check=True).stdout.split()


@pytest.mark.parametrize("linked", ["shared", "static"])
@pytest.mark.parametrize("engine", EACH_ENGINE)
def test_inside_another_program(wick, tmp_path, engine, linked):
    config = shutil.which("/usr/bin/python3-config")
    if not config or not shutil.which("cc"):
        pytest.skip("no compiler, or no python3-config (Debian: python3-dev)")
    flags = linker_flags(config)
    if linked == "static":
        archives = list(pathlib.Path("/usr/lib").glob("python3.*/config-3.*/libpython3.*[0-9].a"))
        if not archives:
            pytest.skip("no static library of Python")
        # Debian compiles the archive for programs at a fixed address.
        libraries = ["-no-pie", "-Wl,--export-dynamic", str(archives[0]), "-lexpat", "-lz", "-lm", "-ldl", "-lutil",
                     "-lpthread"]
        flags = [flag for flag in flags if not flag.startswith("-lpython")] + libraries
    program = tmp_path / "shop-server"
    built = subprocess.run(["cc", "-O2", WORKLOADS / "python_embedded.c", "-o", program, *flags], capture_output=True,
                           text=True, check=False)
    assert built.returncode == 0, built.stderr
    samples = record(wick, engine, program, WORK, SECONDS)
    assert_calls(samples, "<module>;outer;inner")
    working = next(sample for sample in samples if calls_of(sample).endswith("inner"))
    names = [frame["function"] for frame in working["stack"]]
    assert names.index("compiled_host") < names.index("<module>")


# The calls that led to the second interpreter, and its own.
BESIDE = "Thread._bootstrap;Thread._bootstrap_inner;Thread.run;start;<module>;beside;outer;inner"


@pytest.mark.parametrize("engine", EACH_ENGINE)
def test_in_a_second_interpreter(wick, engine):
    samples = record(wick, engine, PYTHON, WORKLOADS / "python_subinterpreters.py", "thread", SECONDS)
    of_main = [sample for sample in samples if sample["pid"] == sample["tid"]]
    of_thread = [sample for sample in samples if sample["pid"] != sample["tid"]]
    assert_calls(of_main, "<module>;main;outer;inner")
    for sample in of_thread:
        calls = calls_of(sample)
        if calls.endswith("inner"):
            assert calls == BESIDE, calls
    assert sum(calls_of(sample).endswith("inner") for sample in of_thread) > 30


@pytest.mark.parametrize("engine", EACH_ENGINE)
def test_in_an_interpreter_that_another_one_calls(wick, engine):
    samples = record(wick, engine, PYTHON, WORKLOADS / "python_subinterpreters.py", "called", SECONDS)
    assert_calls(samples, "<module>;start;<module>;beside;outer;inner")


# One way of starting is enough for the engines that share the code behind it.
POOLS = [pytest.param("ebpf", "fork", marks=needs_ebpf), pytest.param("ebpf", "spawn", marks=needs_ebpf),
         pytest.param("ebpf", "forkserver", marks=needs_ebpf), ("signal", "fork"), ("ptrace", "spawn")]


@pytest.mark.parametrize("engine,start", POOLS)
def test_in_the_processes_of_a_pool(wick, engine, start):
    samples = record(wick, engine, PYTHON, WORKLOADS / "python_processes.py", start, SECONDS)
    working = [sample for sample in samples if calls_of(sample).endswith(";mapstar;outer;inner")]
    assert len({sample["pid"] for sample in working}) == 2
    assert len(working) > 60

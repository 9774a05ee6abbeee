# SPDX-License-Identifier: BSD-2-Clause
"""Python calls against other witnesses: an extension that calls back, and the interpreter's own dumps."""
import collections
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import pytest
from conftest import LONG, ROOT, wait_for

from ebpf import needs_ebpf
from test_python_frames import python_calls, samples_of

sys.path.insert(0, str(ROOT / "tests/python"))

WORKLOADS = ROOT / "tests/workloads"
ARRAYS = WORKLOADS / "python_arrays.py"
HELD = WORKLOADS / "python_held.py"
PYTHON = "/usr/bin/python3"
RATES = {"ebpf": "1999", "signal": "1999", "ptrace": "499"}
EACH_ENGINE = [pytest.param("ebpf", marks=needs_ebpf), "signal", "ptrace"]
CALLS = re.compile(r"<module>(;scene(;(mapped(;element)?|plain|nested(;nested\.<locals>\.<lambda>(;element)?)?))?)?")
# Python's calls, with the extension's functions between them.
CHAINS = {"mapped": ["mapped", "array_apply", "element", "array_add", "array_kernel"],
          "nested": ["nested", "array_apply", "nested.<locals>.<lambda>", "array_apply", "element", "array_add",
                     "array_kernel"],
          "plain": ["plain", "array_add", "array_kernel"]}


@pytest.fixture(scope="module", name="extension")
def build_extension(tmp_path_factory):
    """A folder with the extension, for the interpreter of the distribution."""
    compiler = shutil.which("cc")
    if not compiler or not pathlib.Path(PYTHON).exists():
        pytest.skip("no compiler or no /usr/bin/python3")
    asked = subprocess.run([PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('include'))"],
                           capture_output=True, text=True, check=True).stdout.strip()
    if not pathlib.Path(asked, "Python.h").exists():
        pytest.skip("Python's headers are not installed (python3-dev)")
    folder = tmp_path_factory.mktemp("extension")
    subprocess.run([compiler, "-O2", "-g", "-fPIC", "-shared", "-I", asked, WORKLOADS / "python_extension.c",
                    "-o", folder / "arrays.so"], check=True)
    return folder


@pytest.mark.parametrize("engine", EACH_ENGINE)
def test_calls_through_an_extension_and_back_are_exact(wick, extension, engine):
    recording = wick.record(["env", f"PYTHONPATH={extension}", PYTHON, ARRAYS, "0.3"], "--engine", engine,
                            "-F", RATES[engine], "--overhead", "off")
    samples = [sample for sample in samples_of(wick, recording)
               if any(frame["function"] == "scene" for frame in python_calls(sample))]
    wrong = collections.Counter()
    seen = collections.Counter()
    for sample in samples:
        calls = ";".join(frame["function"] for frame in python_calls(sample))
        if not CALLS.fullmatch(calls):
            wrong[calls] += 1
        known = {name for chain in CHAINS.values() for name in chain}
        mixed = [frame["function"] for frame in sample["stack"] if frame["function"] in known]
        # A stack that reaches the kernel of the extension has the whole chain, in this order.
        if mixed[-1:] == ["array_kernel"]:
            wrong[";".join(mixed)] += mixed != CHAINS[mixed[0]]
            seen[mixed[0]] += 1
    assert len(samples) > 100
    # The outside engine may stop the program right after it loaded the extension, before it looks at the maps again.
    assert wrong.total() <= max(engine == "ptrace", len(samples) / 1000), (+wrong).most_common(5)
    assert all(seen[name] > 5 for name in CHAINS), seen


def release(version):
    """The command that runs an interpreter of another Debian, which sees the files of this machine it needs."""
    import releases  # pylint: disable=import-outside-toplevel
    if os.geteuid() != 0 or not tempfile.gettempdir().startswith("/tmp"):
        pytest.skip("needs root and /tmp to enter the root of another Debian")
    try:
        root = releases.Release(version, ROOT / f"build/python/site-{version}").root
    except releases.Unavailable as why:
        pytest.skip(str(why))
    return ["unshare", "--mount", "sh", "-c", 'mount --bind /tmp "$0/tmp" && exec chroot "$0" "$@"', str(root),
            f"/usr/bin/python{version}"]


def dumped_stacks(text):
    """Of each thread: (line, name) of its calls, outermost first."""
    threads = re.split(r"^(?:Thread|Current thread) .*\n", text, flags=re.M)[1:]
    return [tuple((int(line), name) for line, name in
                  reversed(re.findall(r'^  File "[^"]*", line (\d+) in (.*)$', thread, re.M)))
            for thread in threads]


def recorded_stacks(samples):
    """The same, by thread, in every sample."""
    stacks = collections.defaultdict(set)
    for sample in samples:
        # The interpreter's dump has the last part of a name.
        stacks[sample["tid"]].add(tuple((frame["line"], frame["function"].rpartition(".")[2])
                                        for frame in python_calls(sample)))
    return stacks


@pytest.mark.parametrize("version", [None, *(pytest.param(version, marks=pytest.mark.skipif(
    not LONG, reason="fetches another Debian: WICK_LONG")) for version in ("3.9", "3.13", "3.14"))])
def test_held_threads_are_where_the_interpreter_says(wick, background, tmp_path, version):
    program = tmp_path / "held.py"
    shutil.copy(HELD, program)
    command = release(version) if version else [PYTHON]
    process = background([*command, str(program), str(tmp_path)])
    wait_for((tmp_path / "ready").exists, what="all threads at their points")
    recording = wick.attach("--engine", "ptrace", "-p", str(process.pid), "-d", "0.3", "-F", "99")
    os.kill(process.pid, signal.SIGUSR1)
    dumped = []

    def is_whole():
        dumped[:] = dumped_stacks((tmp_path / "dump").read_text())
        return len(dumped) == 8 and all(stack and stack[0][1] in ("<module>", "_bootstrap") for stack in dumped)

    wait_for(is_whole, what="the dump of all threads")
    recorded = recorded_stacks(samples_of(wick, recording))
    assert all(len(stacks) == 1 for stacks in recorded.values()), recorded
    assert sorted(stacks.pop() for stacks in recorded.values()) == sorted(dumped)

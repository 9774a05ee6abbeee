# SPDX-License-Identifier: BSD-2-Clause
"""Stack walks are correct at every instruction that compilers generate.

stepped.c is compiled in many ways (ways.py), stepped through by tests/tools/stepper with a
signal now and then, and each walk is compared with the true call chain. WICK_BUILD names the
build folder. With WICK_LONG it is compiled in every way, otherwise in some of them.

Known faults on aarch64, one instruction each time:

* The first instruction of _start: its CFI says that the return address is in lr, where
  the dynamic linker has left one of its own. The walk has one frame too many.
* The first instruction of glibc's lazy resolver (_dl_runtime_resolve, a nop or bti): its
  CFI does not yet say that the PLT has saved lr and lowered sp. Once for each function
  that is called for the first time in a program without BIND_NOW.
* __wrap_main, two instructions in programs that are not position independent: the FDE of
  _start covers it and marks it as a root. The walk is too short.

Anything else, even one instruction, fails the test.
"""
import collections
import os
import pathlib
import platform
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import ways  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("WICK_BUILD") or HERE.parent.parent / "build")
STEPPER = BUILD / "tests/tools/stepper"
LONG = bool(os.environ.get("WICK_LONG"))
CACHE = BUILD / "test-cache" / str(os.getpid())

STEPPED = os.environ.get("WICK_STEPPED")
MACHINE = platform.machine()
# clang on aarch64 writes synchronous CFI; what the repair cannot see is allowed for.
GOAL = {"gcc": 0.999, "clang": 0.995 if MACHINE == "aarch64" else 0.999}
MOST_KNOWN = 40  # calls for the first time, and _start


Result = collections.namedtuple("Result", "numbers misses text")
TOTALS = collections.defaultdict(collections.Counter)


def step_through(program):
    # Tables are compiled anew: those in the user's cache may be of another compiler.
    run = subprocess.run([STEPPER, "-s", "211", program], capture_output=True, text=True,
                         timeout=60, env={**os.environ, "XDG_CACHE_HOME": str(CACHE)})
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    words = lines[0].split()
    numbers = dict(zip(words[::2], map(int, words[1::2])))
    misses = [line.split(maxsplit=5) for line in lines[1:]]
    return Result(numbers, misses, run.stdout)


@pytest.fixture(autouse=True, scope="module")
def totals(request):
    """Prints the rate for each compiler at the end."""
    yield
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        for compiler, total in TOTALS.items():
            print(f"\n{compiler}: {total['right']} of {total['steps']} right, "
                  f"{100 * total['right'] / total['steps']:.4f} %; in its own code "
                  f"{total['own_right']} of {total['own']}, "
                  f"{100 * total['own_right'] / total['own']:.4f} %")


def stepped_program(compiler, options, folder):
    """The program, compiled here or before."""
    if STEPPED:
        program = pathlib.Path(STEPPED, ways.name_of(compiler, options))
        if not program.exists():
            reason = program.with_name(program.name + ".reason")
            pytest.skip(f"{compiler} cannot do this: "
                        f"{reason.read_text() if reason.exists() else 'not compiled'}")
        return program
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    program = folder / "stepped"
    failure = ways.compile_way([compiler], options, program)
    if failure:
        pytest.skip(f"{compiler} cannot do this: {failure}")
    return program


@pytest.mark.parametrize("compiler,options", ways.ways(MACHINE, LONG),
                         ids=lambda value: value if isinstance(value, str) else " ".join(value))
def test_every_instruction(compiler, options, tmp_path):
    program = stepped_program(compiler, options, tmp_path)

    result = step_through(program)
    numbers = result.numbers

    TOTALS[compiler].update(numbers)
    assert numbers["broken"] == 0 and numbers["shadow_wrong"] == 0, "the truth itself is wrong"
    assert numbers["copy_differs"] == 0, "a copied stack is walked differently"
    assert numbers["signals"] > 10
    assert numbers["right"] / numbers["steps"] >= GOAL[compiler], result.text
    own_known = 3 if "-no-pie" in options else 1  # _start, __wrap_main
    assert numbers["own_right"] >= numbers["own"] - own_known, result.text
    assert all(int(miss[1]) == 1 for miss in result.misses), result.text
    assert numbers["steps"] - numbers["right"] <= MOST_KNOWN, result.text

# SPDX-License-Identifier: BSD-2-Clause
"""Which tests run in the machine, and how: guest.sh runs them and writes the results to files."""
import concurrent.futures
import os
import pathlib
import resource
import shlex
import shutil
import time

import cross
import machine

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STEPPING = "tests/unwind/test_every_instruction.py::test_every_instruction"

# Everything but what is the same on every CPU: documents, files that are broken on purpose, a
# comparison with readelf that needs no machine, statistics, and what a compiler is needed for.
ALL = {
    "unwind": ["tests/unwind"],
    "e2e": ["tests/e2e",
            *(f"--ignore=tests/e2e/test_{name}.py" for name in ("bad_input", "cfi", "diff", "docs",
                                                        "examples", "symbolize"))],
}

# The least that shows each piece at work: three minutes of an emulator's time.
SMOKE = {
    "unwind": [f"{STEPPING}[{way}]" for way in
               ("gcc--Os -fomit-frame-pointer", "clang--O2")],
    "e2e": [f"tests/e2e/{name}" for name in (
        "test_truth.py::test_as_many_samples_are_taken_as_the_rate_and_the_cpu_time_say",
        "test_engines.py::test_a_launched_program_without_frame_pointers_is_whole",
        "test_engines.py::test_time_off_the_cpu_is_that_of_the_sleep",
        "test_sample.py::test_callers_are_found_without_frame_pointers",
        "test_python_frames.py::test_the_kernel_accepts_the_programs_that_read_python_calls",
        "test_looking.py::test_maps_lists_the_libraries_and_resolves_addresses",
        "test_looking.py::test_the_flame_graph_is_well_formed_and_self_contained")],
}
SLOW_UNITS = {"recording"}  # half a minute there
SECONDS = {"smoke": 900, "all": 6000}  # the most, on a host with other things to do
# Two machines run at a time. The time of both follows their instructions: rates are exact, and
# on a busy host no time limit of a test is reached.
MACHINES = {"steps": ("units", "unwind"), "time": ("e2e",)}


def unit_tests(build, smoke):
    names = [path.name.removeprefix("test_") for path in (build / "tests/unit").glob("test_*")
             if path.is_file() and os.access(path, os.X_OK)]
    return sorted(set(names) - (SLOW_UNITS if smoke else set()))


def children_cpu_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_machine(cache, cpu, settings, build, name, plan):
    """Runs one machine's share of the tests; returns its status."""
    logs = build / "logs"
    # Arrays of bash, one for each suite.
    (logs / f"{name}.plan").write_text("".join(
        f"{suite}=({shlex.join(plan[suite])})\n" for suite in MACHINES[name]))
    command = ["tests/vm/guest.sh", str(build), str(logs), str(logs / f"{name}.plan")]
    with open(logs / f"machine-{name}.log", "wb") as output:
        return machine.run(cache, cpu, settings, ROOT, shlex.join(command), output)


def run(cache, cpu, settings, build, smoke):
    """Runs the tests; returns 0 if they ran to the end, passed or not."""
    logs = build / "logs"
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)
    cross.compile_stepped(cpu, cache.root(cpu), False, build / "stepped")
    plan = {"units": unit_tests(build, smoke), **(SMOKE if smoke else ALL)}
    settings.icount = True
    if settings.timeout_s == machine.Settings.timeout_s:
        settings.timeout_s = SECONDS["smoke" if smoke else "all"]
    print(f"logs {logs}", flush=True)
    cache.kernel(cpu, settings.suite)  # before anything runs: it may not be there
    start_s, start_cpu_s = time.monotonic(), children_cpu_s()
    with concurrent.futures.ThreadPoolExecutor(len(MACHINES)) as pool:
        jobs = [pool.submit(run_machine, cache, cpu, settings, build, name, plan)
                for name in MACHINES]
        try:
            status = max(job.result() for job in jobs)
        except BaseException:
            machine.stop_all()
            raise
    print(f"machines {time.monotonic() - start_s:.0f} s, {children_cpu_s() - start_cpu_s:.0f} s of "
          f"CPU, kernel {cache.release(cpu, settings.suite)}", flush=True)
    return status

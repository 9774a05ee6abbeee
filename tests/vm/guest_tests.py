# SPDX-License-Identifier: BSD-2-Clause
"""Which tests run in the machine, and how: guest.sh runs them, files are the result."""
import concurrent.futures
import os
import pathlib
import shlex
import shutil

import cross
import machine

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STEPPING = "tests/unwind/test_every_instruction.py::test_every_instruction"

# What another CPU can make different. The rest of tests/e2e is about documents and bad
# input, the same everywhere.
# These count on a machine that starts a program or compiles tables within some milliseconds.
TOO_SLOW = ("test_sample.py::test_two_hundred_times_do_no_harm",
            "test_launch.py::test_a_second_sigint_ends_at_once",
            "test_launch.py::test_many_short_programs_in_a_row_leave_nothing_behind",
            "test_launch.py::test_children_that_come_and_go_leak_no_descriptor_and_no_memory")
ALL = {
    "unwind": ["tests/unwind"],
    "e2e": [*(f"tests/e2e/test_{name}.py" for name in
              ("truth", "unwind", "launch", "attach", "sample", "looking")),
            *(f"--deselect=tests/e2e/{name}" for name in TOO_SLOW)],
}

# A part that takes a minute or two: the least that shows each piece at work.
SMOKE = {
    "unwind": [f"{STEPPING}[{way}]" for way in
               ("gcc--O2", "gcc--Os -fomit-frame-pointer", "clang--O2")],
    "e2e": [f"tests/e2e/{name}" for name in (
        "test_truth.py::test_a_seventy_thirty_split_comes_out_as_seventy_thirty",
        "test_truth.py::test_as_many_samples_are_taken_as_the_rate_and_the_cpu_time_say",
        "test_truth.py::test_a_chain_of_calls_is_folded_in_its_order",
        "test_unwind.py::test_a_chain_without_frame_pointers_is_whole",
        "test_sample.py::test_callers_are_found_without_frame_pointers",
        "test_sample.py::test_all_threads_with_their_names",
        "test_looking.py::test_maps_lists_the_libraries_and_resolves_addresses",
        "test_looking.py::test_the_flame_graph_is_well_formed_and_self_contained")],
}
SLOW_UNITS = {"recording"}  # half a minute there
SECONDS = {"smoke": 400, "all": 3000}
# Two machines run at a time. The time of both follows their instructions: rates are exact, and
# on a busy host no time limit of a test is reached.
MACHINES = {"steps": ("units", "unwind"), "time": ("e2e",)}


def unit_tests(build, smoke):
    names = [path.name.removeprefix("test_") for path in (build / "tests/unit").glob("test_*")
             if path.is_file() and os.access(path, os.X_OK)]
    return sorted(set(names) - (SLOW_UNITS if smoke else set()))


def run_machine(cache, cpu, settings, build, name, plan):
    """Runs a machine's part; returns its status."""
    logs = build / "logs"
    # Arrays of bash, one for each suite.
    (logs / f"{name}.plan").write_text("".join(
        f"{suite}=({shlex.join(plan[suite])})\n" for suite in MACHINES[name]))
    command = ["tests/vm/guest.sh", str(build), str(logs), str(logs / f"{name}.plan")]
    with open(logs / f"machine-{name}.log", "wb") as output:
        return machine.run(cache, cpu, settings, ROOT, shlex.join(command), output)


def run(cache, cpu, settings, build, smoke):
    """Runs the tests; returns 0 when they ran to their end, passed or not."""
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
    with concurrent.futures.ThreadPoolExecutor(len(MACHINES)) as pool:
        jobs = [pool.submit(run_machine, cache, cpu, settings, build, name, plan)
                for name in MACHINES]
        try:
            return max(job.result() for job in jobs)
        except BaseException:
            machine.stop_all()
            raise

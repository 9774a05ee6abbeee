#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Builds and runs the test suites; the last line is "N passed, N failed, N skipped".

    run-tests.py [--build DIR] [--long] [--vm smoke|all] [SUITE...]

Suites, in the order they run: unit scripts golden bench e2e, in parallel with e2e unwind dwarf lint; python asan
fuzz deb browser vm. A case is one cmocka test, one pytest test, one lint check or one fuzz target. Logs are
kept in DIR/logs, those of the emulated machine (vm) in build-vm-CPU/logs.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
Case = collections.namedtuple("Case", "name status seconds detail")
Build = collections.namedtuple("Build", "directory setup target env", defaults=("", None))
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
DETAIL_LINES = 40
# Files of end-to-end tests that look at what was recorded, or count: not at how long something took.
STEADY = ("alone", "annotate", "bad_input", "cfi", "debuginfod", "diff", "docs", "example_programs", "examples",
          "failure_paths", "formats", "heap", "heaptrack", "hostile_files", "import_files", "looking", "names",
          "other_viewers", "png", "symbolize", "values")
# Those of the continuous profiler, most of whose time is waiting for windows and answers.
WAITING = ("agent", "agent_pull", "agent_push", "agent_side", "faults", "ingest_load", "kills", "monitoring",
           "relay", "serve", "server", "server_symbols", "store", "web_api")


class BuildFailed(Exception):
    pass


def tail(text, lines=DETAIL_LINES):
    kept = text.rstrip().splitlines()[-lines:]
    return "\n".join(kept)


def run_logged(command, log, timeout=600, env=None, cwd=ROOT):
    """Runs a command with its output in a file. Returns (status, seconds, output)."""
    log.parent.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    with open(log, "wb") as out:
        try:
            status = subprocess.run([str(word) for word in command], cwd=cwd, stdout=out,
                                    stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                    timeout=timeout, env={**os.environ, **(env or {})}).returncode
        except subprocess.TimeoutExpired:
            out.write(f"\ntimed out after {timeout} s\n".encode())
            status = 124
        except OSError as error:
            out.write(f"{error}\n".encode())
            status = 127
    return status, time.monotonic() - start, log.read_text(errors="replace")


def give_way():
    """From here on this thread, and what it starts, runs only when the CPUs are otherwise idle."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def junit_cases(path):
    """The cases of a JUnit file (cmocka's or pytest's)."""
    cases = []
    # cmocka appends one root for each group of tests to the file.
    for part in re.findall(r"<testsuites.*?</testsuites>", path.read_text(errors="replace"), re.S):
        tree = xml.etree.ElementTree.fromstring(part)
        for case in tree.iter("testcase"):
            bad = [child for child in case if child.tag in ("failure", "error")]
            skip = case.find("skipped")
            status = FAILED if bad else SKIPPED if skip is not None else PASSED
            detail = ""
            if bad:
                detail = tail(bad[0].text or bad[0].get("message") or "")
            elif skip is not None:
                detail = skip.get("message") or "the test gives no reason"
            else:
                detail = ", ".join(told.get("value") for told in case.iter("property") if told.get("name") == "repeated")
            cases.append(Case(case.get("name"), status, float(case.get("time") or 0), detail))
    return cases


class Runner:
    def __init__(self, options):
        self.options = options
        self.build = pathlib.Path(options.build)
        self.logs = ROOT / self.build / "logs"
        self.logs.mkdir(parents=True, exist_ok=True)
        self.steady_done = threading.Event()
        self.beside = False

    def wants(self, suite):
        return (not self.options.suites or suite in self.options.suites) and \
            (suite not in FOLDERS or (ROOT / FOLDERS[suite]).is_dir())

    # Building

    @staticmethod
    def build_command(build, jobs=""):
        return ["scripts/build", "--setup", build.setup, "--only", build.target, "--jobs", jobs, build.directory]

    def make(self, build):
        status, _, output = run_logged(self.build_command(build), self.logs / f"build-{build.directory.name}.log",
                                       timeout=1800, env=build.env)
        if status != 0:
            raise BuildFailed(tail(output))

    def make_main(self):
        self.make(Build(self.build, f"-Dwerror={self.options.werror}"))

    # Unit tests: every test that Meson knows, one case for each cmocka test.

    def unit_program(self, directory, test, env):
        name = test["name"]
        report = self.logs / directory.name / f"{name}.xml"
        report.parent.mkdir(parents=True, exist_ok=True)
        report.unlink(missing_ok=True)
        status, seconds, output = run_logged(
            test["cmd"], self.logs / directory.name / f"{name}.log",
            timeout=test["timeout"] * (1 if directory == self.build else 6),
            cwd=test["workdir"] or ROOT / directory,
            env={**test["env"], **env, "CMOCKA_MESSAGE_OUTPUT": "XML",
                 "CMOCKA_XML_FILE": str(report)})
        try:
            cases = junit_cases(report) if report.exists() else []
        except xml.etree.ElementTree.ParseError:
            cases = []
        cases = [case._replace(name=f"{name}: {case.name}") for case in cases]
        if status == 77:
            return [Case(name, SKIPPED, seconds, tail(output, 1))]
        if status != 0 and not any(case.status == FAILED for case in cases):
            cases.append(Case(f"{name}: exit status {status}", FAILED, seconds, tail(output)))
        return cases or [Case(name, PASSED, seconds, "")]

    def unit_programs(self, directory, env, suites=None):
        listed = subprocess.run(["meson", "introspect", "--tests", str(directory)], cwd=ROOT,
                                capture_output=True, text=True, check=True).stdout
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            jobs = [pool.submit(self.unit_program, directory, test, env)
                    for test in json.loads(listed)
                    if not suites or any(suite.split(":")[-1] in suites for suite in test["suite"])]
            return [case for job in jobs for case in job.result()]

    def suite_unit(self):
        return self.unit_programs(self.build, {})

    def asan_build(self):
        return Build(pathlib.Path(f"{self.build}-asan"),
                     "-Db_sanitize=address,undefined -Db_lundef=false -Doptimization=0",
                     "meson-test-prereq")

    def suite_asan(self):
        directory = self.asan_build().directory
        self.make(self.asan_build())
        # The pages are checked by the unit suite already.
        return self.unit_programs(directory, suites={"unit"}, env={
            "ASAN_OPTIONS": "detect_leaks=1",
            "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"})

    # Lint: one case for each check.

    def lint_checks(self):
        jobs, build = str(1 if self.beside else self.options.jobs), str(self.build)
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
            capture_output=True, text=True, check=True).stdout.splitlines()
        listed = [name for name in listed if (ROOT / name).is_file()]
        code = [name for name in listed if name.endswith((".c", ".h", ".cpp"))]
        sources = [name for name in code if name.startswith("src/") and name.endswith(".c")
                   and self.is_compiled(name)]
        scripts = [name for name in listed if self.is_shell(ROOT / name)]
        (ROOT / self.build / "cppcheck").mkdir(exist_ok=True)
        return [
            ("clang-format", ["clang-format-14", "--dry-run", "-Werror", *code]),
            ("layers", [sys.executable, "scripts/check-layers.py"]),
            ("headers", ["scripts/check-headers.sh"]),
            ("shape", [sys.executable, "scripts/check-shape.py"]),
            ("symbols", ["scripts/check-symbols.sh", build]),
            ("shellcheck", ["shellcheck", *scripts]),
            ("javascript", ["scripts/check-javascript", build]),
            # Right shifts of negative numbers are arithmetic in every compiler we know. Scoped
            # release and out-parameters are beyond it; leaks are found by the asan suite.
            ("cppcheck", ["cppcheck", "-q", "-j", jobs, f"--cppcheck-build-dir={build}/cppcheck",
                          "--std=c11", "-D_GNU_SOURCE", f"-D__{platform.machine()}__", "-Isrc", "-Iinclude", "--inline-suppr",
                          "--enable=warning,performance,portability", "--error-exitcode=1",
                          "--suppress=shiftTooManyBitsSigned", "--suppress=missingIncludeSystem",
                          "--suppress=memleak", "--suppress=resourceLeak",
                          "--suppress=ctunullpointer",
                          "-isrc/bpf",  # for another machine: the build compiles it with -Werror
                          # The context lives as long as the command that it points into.
                          "--suppress=autoVariables:src/cli/command.c",
                          "src", "examples"]),
            ("clang-tidy", [sys.executable, "scripts/tidy.py", "--build", build, "--jobs", jobs,
                            *sources]),
        ]

    def is_compiled(self, name):
        database = ROOT / self.build / "compile_commands.json"
        return not database.exists() or f"{name}\"" in database.read_text()

    @staticmethod
    def is_shell(path):
        with open(path, "rb") as file:
            first = file.readline(80)
        return first.startswith((b"#!/bin/bash", b"#!/bin/sh", b"#!/usr/bin/env bash"))

    def suite_lint(self):
        cases = []
        for name, command in self.lint_checks():
            if not shutil.which(command[0]) and not (ROOT / command[0]).exists():
                cases.append(Case(name, SKIPPED, 0, f"{command[0]} is not installed (make deps)"))
                continue
            status, seconds, output = run_logged(command, self.logs / f"lint-{name}.log")
            if status == 77:  # it cannot check here, and says why
                cases.append(Case(name, SKIPPED, seconds, tail(output, 1)))
                continue
            cases.append(Case(name, PASSED if status == 0 else FAILED, seconds,
                              tail(output) if status else ""))
        return cases

    # Fuzzing: a target passes when it survives its seconds.

    def fuzz_target(self, directory, program):
        name = program.name.removeprefix("fuzz_")
        corpus = ROOT / directory / "corpus" / name
        corpus.mkdir(parents=True, exist_ok=True)
        seeds = ROOT / "tests/fuzz/corpus" / name
        seconds = self.options.fuzz_seconds
        command = [program, f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=1024",
                   f"-artifact_prefix={directory}/crash-{name}-", "-print_funcs=0", corpus]
        # One leak check takes seconds on aarch64: only long runs look for leaks.
        status, taken, output = run_logged(
            command + ([seeds] if seeds.is_dir() else []), self.logs / f"fuzz-{name}.log",
            timeout=seconds + 60, env={"ASAN_OPTIONS": f"detect_leaks={int(self.options.long)}"})
        return Case(name, PASSED if status == 0 else FAILED, taken, tail(output) if status else "")

    def fuzz_build(self):
        """None: there is no compiler for it."""
        compiler = shutil.which("clang-14") or shutil.which("clang")
        return compiler and Build(pathlib.Path(f"{self.build}-fuzz"),
                                  "-Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=1 "
                                  "-Dc_args=-fsanitize=fuzzer-no-link", "fuzz", {"CC": compiler})

    def suite_fuzz(self):
        build = self.fuzz_build()
        if not build:
            return [Case("fuzz", SKIPPED, 0, "clang is not installed (make deps)")]
        directory = build.directory
        self.make(build)
        programs = sorted(path for path in (ROOT / directory / "tests/fuzz").glob("fuzz_*")
                          if path.is_file() and os.access(path, os.X_OK))
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            return list(pool.map(lambda path: self.fuzz_target(directory, path), programs))

    # Suites of pytest

    @staticmethod
    def python_with_pytest():
        for python in (sys.executable, "/usr/bin/python3"):
            if subprocess.run([python, "-c", "import pytest"], capture_output=True,
                              check=False).returncode == 0:
                return python
        return None

    def pytest(self, name, *arguments, nice=0, timeout=None):
        python = self.python_with_pytest()
        if not python:
            return [Case(name, SKIPPED, 0, "pytest is not installed (make deps)")]
        report = self.logs / f"{name}.xml"
        report.unlink(missing_ok=True)
        status, seconds, output = run_logged(
            ["nice", "-n", str(nice), python, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-p", "time_limit",
             "-p", "stolen_time",
             "-q", "--tb=short", f"--junitxml={report}", *arguments],
            self.logs / f"{name}.log", timeout=timeout or (3600 if self.options.long else 1800),
            env={"PYTHONPATH": str(ROOT / "tests"), "WICK": str(ROOT / self.build / "wick"), "WICK_BUILD": str(ROOT / self.build),
                 "WICK_LONG": "1" if self.options.long else ""})
        cases = junit_cases(report) if report.exists() else []
        if status not in (0, 1, 5) or (status == 1 and not cases):
            cases.append(Case(f"pytest: exit status {status}", FAILED, seconds, tail(output)))
        return cases

    def suite_scripts(self):
        return self.pytest("scripts", "tests/scripts")

    def suite_golden(self):
        return self.pytest("golden", "tests/golden")

    def suite_e2e(self):
        """Files that wait, and at lower priority those that tolerate load, run in parallel with the others."""
        steady, waiting = ([f"tests/e2e/test_{name}.py" for name in names] for names in (STEADY, WAITING))
        with concurrent.futures.ThreadPoolExecutor(1 if self.options.jobs == 1 else 3) as pool:
            parts = [pool.submit(self.pytest, "e2e", "tests/e2e", *(f"--ignore={path}" for path in steady + waiting)),
                     pool.submit(self.pytest_steady, steady),
                     pool.submit(self.pytest, "e2e-waiting", *waiting)]
            return [case for part in parts for case in part.result()]

    def pytest_steady(self, files):
        try:
            return self.pytest("e2e-steady", *files, nice=10)
        finally:
            self.steady_done.set()

    # One thing at a time runs beside the end-to-end tests, on what they leave free: their own
    # steady files, then suites that measure nothing, then what later suites will have to build.

    def run_beside(self, suites, stop):
        """Runs the suites to their end and builds until stop is set; returns their cases."""
        self.steady_done.wait()
        give_way()
        self.beside = True
        results = {name: run_suite(self, name) for name in suites}
        self.build_ahead(stop)
        return results

    def build_ahead(self, stop):
        """Builds what later suites need until it is stopped."""
        give_way()
        for suite, build in (("asan", self.asan_build()), ("fuzz", self.fuzz_build())):
            if self.wants(suite) and build and not stop.is_set():
                self.build_until(stop, build)

    def build_until(self, stop, build):
        """Builds until it is stopped. The suite that needs the build continues from there, and reports the errors."""
        with open(self.logs / "build-beside.log", "wb") as out, subprocess.Popen(
                list(map(str, self.build_command(build, jobs=1))), cwd=ROOT, stdout=out,
                env={**os.environ, **(build.env or {})},
                stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL) as process:
            name = pathlib.Path(f"/proc/{process.pid}/comm")
            while process.poll() is None:
                # Meson is left to its end; ninja leaves nothing half made.
                if stop.wait(0.2) and name.read_text(encoding="utf-8") == "ninja\n":
                    process.terminate()
                    process.wait()
                time.sleep(0.1)

    def suite_unwind(self):
        return self.pytest("unwind", "tests/unwind")

    def suite_dwarf(self):
        return self.pytest("dwarf", "tests/dwarf")

    def suite_python(self):
        """Several interpreters take hours with --long: a file at a time, with a limit of its own."""
        if not self.options.long:
            return self.pytest("python", "tests/python")
        return [case for path in sorted((ROOT / "tests/python").glob("test_*.py"))
                for case in self.pytest(f"python-{path.stem}", f"tests/python/{path.name}", timeout=6 * 3600)]

    def suite_deb(self):
        return self.pytest("deb", "tests/deb")

    # The browser looks at what was drawn, most programs at one file. Each line "ok" or "FAIL" of
    # a Node program is a case; its packages are installed beside a copy of it, once.

    def browser_folder(self):
        """A folder with the browser tests and their packages, or the reason why there is none."""
        for tool in ("node", "npm", "chromium"):
            if not shutil.which(os.environ.get(tool.upper(), tool)):
                return None, f"{tool} is not installed (make deps)"
        folder = ROOT / self.build / "browser"
        shutil.copytree(ROOT / "tests/browser", folder, dirs_exist_ok=True)
        wanted = json.loads((folder / "package.json").read_text())["dependencies"]
        if not all((folder / "node_modules" / name).is_dir() for name in wanted):
            status, _, output = run_logged(
                ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"],
                self.logs / "browser-npm.log", timeout=300, cwd=folder)
            if status != 0:
                return None, f"npm cannot install {' and '.join(wanted)}: {tail(output, 1)}"
        return folder, ""

    def browser_program(self, folder, path, *files):
        status, seconds, output = run_logged(
            ["node", path.name, *files], self.logs / f"browser-{path.stem}.log", timeout=180,
            cwd=folder)
        cases = []
        for line in re.findall(r"^[^:\n]*: \d+ ms of CPU$", output, re.M):
            print(f"  {path.stem}: {line}", flush=True)
        for line in output.splitlines():
            word, _, name = line.partition(" ")
            if word in ("ok", "FAIL", "skip"):
                cases.append(Case(f"{path.stem}: {name.strip()}",
                                  {"ok": PASSED, "FAIL": FAILED, "skip": SKIPPED}[word], 0,
                                  name.partition(": ")[2] if word == "skip" else line))
        if status != 0 and not any(case.status == FAILED for case in cases):
            cases.append(Case(f"{path.stem}: exit status {status}", FAILED, seconds, tail(output)))
        return cases

    @staticmethod
    def write_many_stacks(path):
        """100,000 stacks of 40 frames: callers are shared as in a binary tree, the rest is not."""
        with open(path, "w", encoding="utf-8") as out:
            for i in range(100000):
                frames = (((i >> max(0, 17 - depth)) * 2654435761 >> 7) % 4000 ^ depth
                          for depth in range(39))
                out.write(f"app;{';'.join(f'f{frame}' for frame in frames)} 8\n")

    def suite_browser(self):
        folder, reason = self.browser_folder()
        if not folder:
            return [Case("browser", SKIPPED, 0, reason)]
        wick, demo, told = ROOT / self.build / "wick", folder / "demo.wick", folder / "told.wick"
        graphs = {"flame": folder / "demo.svg", "diff": folder / "diff.svg", "use": folder / "use.svg",
                  "ways": folder / "use.svg", "speed": folder / "speed.svg",
                  "values": folder / "values.svg", "hostile": folder / "hostile.svg",
                  "page": folder / "page.html", "page_time": folder / "demo.html",
                  "page_tracks": folder / "tracks.html", "page_diff": folder / "diff.html",
                  "page_python": folder / "python.html", "page_frame": folder / "page.html",
                  "page_speed": folder / "many.html",
                  "heap_page": folder / "tides.html"}
        many = folder / "speed.folded"
        many.write_text("".join(  # 1,000 stacks, some 10,000 boxes
            f"app;a{i // 100};b{i // 10};{';'.join(f'f{i}_{k}' for k in range(10))} {10 + i % 7}\n"
            for i in range(1000)))
        several = folder / "several.pb"
        subprocess.run([sys.executable, ROOT / "tests/browser/make_values.py", several], check=True)
        self.write_many_stacks(folder / "many.folded")
        for command in (["record", "-o", demo, "--", ROOT / self.build / "examples/demo"],
                        ["record", "--engine", "signal", "-o", told, "--",
                         ROOT / self.build / "examples/events"],
                        ["heap", "--leaks", "-o", folder / "tides.wick", "--",
                         ROOT / self.build / "tests/workloads/tides"],
                        ["heap-report", folder / "tides.wick", "--title", "<i>tides</i></script>",
                         "-o", graphs["heap_page"]],
                        ["record", "--heap", "--mode", "wall", "-o", folder / "tracks.wick", "--",
                         ROOT / self.build / "tests/workloads/tides"],
                        ["flame", folder / "tracks.wick", "-o", graphs["page_tracks"]],
                        ["record", "--heap", "--mode", "wall", "-o", folder / "python.wick", "--",
                         "/usr/bin/python3", ROOT / "tests/workloads/python_tracks.py"],
                        ["flame", folder / "python.wick", "-o", graphs["page_python"]],
                        ["flame", demo, "-o", graphs["flame"]],
                        # Compared with the names that their files have.
                        ["diff", "--names", "full", folder / "before.folded", folder / "after.folded", "-o",
                         graphs["diff"]],
                        ["flame", "--names", "full", folder / "use.folded", "-o", graphs["use"]],
                        ["flame", "--names", "full", folder / "hostile.folded", "-o", graphs["hostile"]],
                        ["flame", several, "-o", graphs["values"]],
                        ["flame", several, "-o", folder / "values.html"],
                        ["flame", many, "-o", graphs["speed"]],
                        ["flame", demo, "-o", graphs["page_time"]],
                        ["flame", demo, "--to", "640ms", "-o", folder / "part.html"],
                        ["flame", demo, "--no-source", "-o", folder / "bare.html"],
                        ["diff", "--names", "full", folder / "before.folded", folder / "after.folded", "-o",
                         graphs["page_diff"]],
                        ["flame", folder / "page.folded", "-o", graphs["page"]],
                        ["flame", folder / "page.folded", "-o", folder / "page.svg"],
                        ["flame", "--names", "full", folder / "hostile.folded", "-o", folder / "hostile.html"],
                        ["flame", folder / "many.folded", "-o", graphs["page_speed"]]):
            status, seconds, output = run_logged([wick, *command], self.logs / "browser-graph.log")
            if status != 0:
                return [Case(f"wick {command[0]}", FAILED, seconds, tail(output))]
        graphs["speedscope"] = wick
        sites = sorted((ROOT / "tests/browser").glob("site*.mjs"))
        graphs.update((path.stem, wick.parent) for path in sites)
        others = {"speedscope": (ROOT / "tests/golden/recording-v1.wick", demo, told,
                                 folder / "hostile.folded", several),
                  "page_frame": ("", wick),
                  "page_tracks": ("", wick, folder / "tracks.wick"),
                  "page_python": ("", wick, folder / "python.wick")}
        cases = []
        if not (wick.parent / "libduckdb.so").exists():
            cases = [Case("web page", SKIPPED, 0, "libduckdb.so is not there: make fetches it")]
        return cases + [case for path in sorted((ROOT / "tests/browser").glob("*.mjs"))
                        if not cases or path not in sites
                        for case in self.browser_program(folder, path, graphs[path.stem],
                                                         *others.get(path.stem, ()))]

    # Figures that are far above the committed ones of this CPU: see bench/quick.py.

    def suite_bench(self):
        status, seconds, output = run_logged([sys.executable, "bench/quick.py", "--build", self.build],
                                             self.logs / "bench.log")
        words = {"ok": PASSED, "FAIL": FAILED, "skip": SKIPPED}
        cases = [Case(name, words[word], 0, detail.strip() if word != "ok" else "") for word, name, detail in
                 re.findall(r"^(ok|FAIL|skip) ([^:]+): (.*)$", output, re.M)]
        if status != 0 and not any(case.status == FAILED for case in cases):
            cases.append(Case(f"exit status {status}", FAILED, seconds, tail(output)))
        return cases

    # The emulated machine of the other CPU leaves a JUnit file for each program and suite.

    @staticmethod
    def machine_cases(report):
        """The cases of one of its files; a failure without a failed case counts as one too."""
        cases = [case._replace(name=f"{report.stem}: {case.name}") for case in
                 (junit_cases(report) if report.exists() else [])]
        status, log = report.with_suffix(".status"), report.with_suffix(".log")
        if not status.exists() or any(case.status == FAILED for case in cases):
            return cases
        number = int(status.read_text())
        output = log.read_text(errors="replace") if log.exists() else ""
        if number == 77:
            return [Case(report.stem, SKIPPED, 0, tail(output, 1))]
        return [*cases, Case(f"{report.stem}: exit status {number}", FAILED, 0, tail(output))]

    def suite_vm(self):
        which = self.options.vm or ("all" if self.options.long else "smoke")
        status, seconds, output = run_logged(
            [sys.executable, "-B", "tests/vm/vm.py", "test", which], self.logs / "vm.log",
            timeout=7200)
        if status == 77:
            return [Case("machine", SKIPPED, seconds, tail(output, 1))]
        for line in re.findall(r"^machines .*$", output, re.M):
            print(f"  {line}", flush=True)
        logs = next((line.partition(" ")[2] for line in output.splitlines()
                     if line.startswith("logs ")), None)
        names = sorted({path.with_suffix("") for path in pathlib.Path(logs).iterdir()
                        if path.suffix in (".xml", ".status")}) if logs else []
        cases = [case for name in names for case in self.machine_cases(name.with_suffix(".xml"))]
        if logs and pathlib.Path(logs, "unwind.log").exists():
            for line in re.findall(r"^(?:gcc|clang): .*right.*$",
                                   pathlib.Path(logs, "unwind.log").read_text(), re.M):
                print(f"  stepped  {line}", flush=True)
        if status != 0 or not cases:
            cases.append(Case(f"machine: exit status {status}", FAILED, seconds, tail(output)))
        return cases


# Suites that measure nothing, and need no more than a CPU now and then.
BESIDE = ("unwind", "dwarf", "lint")
FOLDERS = {"scripts": "tests/scripts", "golden": "tests/golden", "e2e": "tests/e2e",
           "unwind": "tests/unwind", "dwarf": "tests/dwarf", "python": "tests/python", "deb": "tests/deb", "browser": "tests/browser",
           "fuzz": "tests/fuzz", "vm": "tests/vm"}
SUITES = ("unit", "scripts", "golden", "bench", "unwind", "dwarf", "lint", "e2e", "python", "asan", "fuzz",
          "deb", "browser", "vm")


def count(cases, status):
    return sum(case.status == status for case in cases)


def run_suite(runner, name):
    start = time.monotonic()
    try:
        cases = getattr(runner, f"suite_{name}")()
    except BuildFailed as error:
        cases = [Case("build", FAILED, 0, str(error))]
    seconds = time.monotonic() - start
    print(f"  {name:<8} {count(cases, PASSED):5} passed {count(cases, FAILED):4} failed "
          f"{count(cases, SKIPPED):4} skipped {seconds:7.1f} s", flush=True)
    return cases


def run_e2e(runner, beside):
    """Runs the end-to-end tests and the suites that run in parallel with them."""
    stop = threading.Event()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        others = pool.submit(runner.run_beside, beside, stop)
        results = {"e2e": run_suite(runner, "e2e")}
        stop.set()
        return {**others.result(), **results}


def run_building(runner, name):
    """Runs a suite that needs one CPU, while the other builds what later suites need."""
    stop = threading.Event()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        others = pool.submit(runner.build_ahead, stop)
        cases = run_suite(runner, name)
        stop.set()
        others.result()
        return cases


def run_suites(runner):
    wanted = [name for name in SUITES if runner.wants(name)]
    beside = [name for name in BESIDE if "e2e" in wanted and name in wanted]
    results = {}
    for name in wanted:
        if name == "e2e" and runner.options.jobs > 1:
            results.update(run_e2e(runner, beside))
        elif name == "python" and runner.options.jobs > 1:
            results[name] = run_building(runner, name)
        elif name not in beside or runner.options.jobs == 1:
            results[name] = run_suite(runner, name)
    return results


def report(results):
    for suite, cases in results.items():
        for case in cases:
            if case.status == SKIPPED:
                print(f"skipped  {suite}: {case.name}: {case.detail}")
            elif case.status == PASSED and case.detail:
                print(f"repeated {suite}: {case.name}: {case.detail}")
    for suite, cases in results.items():
        for case in cases:
            if case.status == FAILED:
                print(f"\nFAILED   {suite}: {case.name}")
                print("    " + case.detail.replace("\n", "\n    "))
    everything = [case for cases in results.values() for case in cases]
    slowest = sorted(everything, key=lambda case: -case.seconds)[:5]
    if slowest and slowest[0].seconds >= 5:
        print("slowest  " + ", ".join(f"{case.name} {case.seconds:.1f} s" for case in slowest))
    print(f"{count(everything, PASSED)} passed, {count(everything, FAILED)} failed, "
          f"{count(everything, SKIPPED)} skipped")
    return 1 if count(everything, FAILED) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--werror", default="true", choices=("true", "false"))
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--fuzz-seconds", type=int)
    parser.add_argument("--vm", choices=("smoke", "all"), help="which tests of the suite vm")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=" ".join(SUITES))
    options = parser.parse_args()
    unknown = set(options.suites) - set(SUITES)
    if unknown:
        parser.error(f"no such suite: {' '.join(sorted(unknown))} (there are {' '.join(SUITES)})")
    if options.fuzz_seconds is None:
        options.fuzz_seconds = 120 if options.long else 5
    os.chdir(ROOT)
    runner = Runner(options)
    start = time.monotonic()
    try:
        runner.make_main()
        print(f"  built in {time.monotonic() - start:.1f} s", flush=True)
    except BuildFailed as error:
        return report({"build": [Case("build", FAILED, 0, str(error))]})
    return report(run_suites(runner))


if __name__ == "__main__":
    sys.exit(main())

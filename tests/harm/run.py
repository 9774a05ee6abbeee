#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs real programs with and without the signal engine and compares what they do.

    tests/harm/run.py [--build DIR] [--heap] [--runs N] [--write FILE] [NAME...]

Standard output, standard error and exit status of a sampled run must equal those of a plain run, and each
sampled run should have 50 samples or more. A run that takes two minutes counts as hung. Prints a table and
every difference; the exit status is 1 if there was one. Programs that are not installed are skipped and
listed. Every fourth run records wall time (--mode wall), the others CPU time. Ctrl-C or SIGTERM ends the runs
early; the table then has those that were completed.
With --heap the programs run under `wick heap` and should have 10,000 events if they allocate that often.
"""
import argparse
import collections
import datetime
import os
import pathlib
import platform
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time

import programs as jobs

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HANG_SECONDS = 120
MIN_SAMPLES = 50
MIN_EVENTS = 10000  # of the heap
MAX_TRIES = 3
SHOWN = 12
# The shell says what the job took of CPU time, to a file: its streams stay the job's own.
SHELL = 'eval "$JOB"; s=$?; times >"$TIMES"; exit $s'
# A disk of its own for the recording, that nobody else sees.
DISK = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs -o "$DISK_OPTIONS" none "$DISK" || exit;'
        '(exec 2>/dev/null; head -c 65536 /dev/zero >"$DISK/ballast"); exec "$@"', "sh")
DISK_OPTIONS = {"full": "size=64k", "read-only": "size=64k,ro"}
FAILED = 1  # of wick: the recording could not be written
NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")

Run = collections.namedtuple("Run", "status stdout stderr cpu hung")


class Stopped(Exception):
    """A signal asks to end the runs."""


def stop(_number, _frame):
    raise Stopped


class Tally:
    """The results of all runs of one program."""

    def __init__(self):
        self.runs = self.samples = self.differences = self.crashes = self.hangs = 0
        self.least = None
        self.few = 0  # runs with fewer samples or events than wanted
        self.unsteady = False  # plain runs differ among themselves
        self.seen_ns = self.cpu = 0
        self.plain, self.sampled = [], []
        self.details = []

    def slow_down(self):
        """The slow-down in words; a shell that is killed reports no times."""
        if not self.plain or not self.sampled or not statistics.median(self.sampled):
            return "–"
        return f"{100 * statistics.median(self.sampled) / max(statistics.median(self.plain), 0.01) - 100:+.0f} %"


def cpu_seconds(path):
    """The sum of all times that sh reports: its own and those of its children."""
    try:
        times = re.findall(r"(\d+)m([\d.]+)s", pathlib.Path(path).read_text())
    except OSError:
        return 0
    return sum(60 * int(minutes) + float(seconds) for minutes, seconds in times)


def end_group(group):
    """Ends all remaining processes of a session of ours."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(group, number)
        except ProcessLookupError:
            return
        time.sleep(0.2)


def execute(command, folder, environment, beside=None):
    """Runs a command to its end, or until its time limit; beside(its id) runs meanwhile."""
    times = pathlib.Path(folder, "times")
    times.unlink(missing_ok=True)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                   start_new_session=True, env={**os.environ, **environment, "TIMES": str(times)})
        try:
            if beside:
                beside(process.pid)
            status, hung = process.wait(HANG_SECONDS), False
        except subprocess.TimeoutExpired:
            status, hung = None, True
        finally:
            end_group(process.pid)
            process.wait()
        out.seek(0)
        err.seek(0)
        if status is not None and status < 0:
            status = 128 - status  # as the recorder and shells tell it
        return Run(status, out.read(), err.read(), cpu_seconds(times), hung)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def kept(program, stdout):
    if not program.keep:
        return stdout
    return b"\n".join(re.findall(program.keep.encode(), stdout, re.M))


def describe(status):
    return "hung" if status is None else f"exit {status}"


class Suite:
    def __init__(self, build, folder, heap):
        self.heap = heap
        self.wick = str(pathlib.Path(build, "wick").resolve())
        self.folder = folder
        self.data = pathlib.Path(folder, "data")
        self.data.mkdir()
        jobs.make_files(self.data)
        if shutil.which("javac"):
            subprocess.run(["javac", "Job.java"], cwd=self.data, check=False)
        self.tallies = collections.OrderedDict()

    def fresh(self, program):
        """A folder with the files, in the same place for all runs of a program: paths may be printed."""
        place = pathlib.Path(self.folder, "job")
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.data, place)
        if program.unprivileged:
            for path in [place, *place.rglob("*")]:
                os.chown(path, 65534, 65534)
        return place

    def command(self, program):
        prefix = NOBODY if program.unprivileged and os.geteuid() == 0 else ()
        return [*prefix, "bash" if program.name == "bash" else "sh", "-c", SHELL]

    def environment(self, program):
        return {"JOB": program.job, "PORT": str(free_port()), "LC_ALL": "C", "POSTGRES_BIN":
                os.path.dirname(program.needs[0]), "HOME": str(self.folder)}

    def plain(self, program):
        return execute(self.command(program), self.fresh(program), self.environment(program))

    def recorder(self, program, place, mode, rate):
        """The arguments that record into a file, which is the last one."""
        words = list(DISK if program.disk else ())
        if mode == "heap":
            words += [self.wick, "heap", "-q"]
        elif program.attach:  # by whatever engine can
            words += [self.wick, "record", "-q", "-F", str(rate)]
        else:
            words += [self.wick, "record", "--engine", "signal", "-q", "-F", str(rate), "--mode", mode]
        (place / "disk").mkdir()
        return words + ["-o", str(place / ("disk/out.wick" if program.disk else "out.wick"))]

    def attached(self, program, place, mode, rate):
        """A run that a recorder joins."""
        words = self.recorder(program, place, mode, rate)
        environment = {**os.environ, **self.environment(program), **self.disk(program, place)}
        ended = []

        def join(pid):
            time.sleep(0.1)
            sampling = ["--sample", "512K"] if mode == "heap" else []
            done = subprocess.run(words + sampling + ["-p", str(pid)], cwd=place, env=environment,
                                  capture_output=True, timeout=HANG_SECONDS, check=False)
            ended.append(done.returncode)

        run = execute(self.command(program), place, environment, join)
        # A recorder that died is as bad as a program that did.
        return run._replace(status=128 - ended[0]) if ended and ended[0] < 0 else run

    @staticmethod
    def disk(program, place):
        return {"DISK": str(place / "disk"), "DISK_OPTIONS": DISK_OPTIONS[program.disk]} if program.disk else {}

    def sampled(self, program, mode, rate):
        """Returns the run, and samples and nanoseconds that were recorded."""
        place = self.fresh(program)
        if program.attach:
            return self.told(self.attached(program, place, mode, rate), place, mode, rate)
        words = self.recorder(program, place, mode, rate) + ["--"]
        command = self.command(program)
        if program.unprivileged:  # may write its recording
            os.chmod(place, 0o777)
        at = len(NOBODY) if command[0] == NOBODY[0] else 0
        run = execute(command[:at] + words + command[at:], place,
                      {**self.environment(program), **self.disk(program, place)})
        return self.told(run, place, mode, rate)

    def told(self, run, place, mode, rate):
        stderr = re.sub(rb"^wick: .*\n(      .*\n)*", b"", run.stderr, flags=re.M)
        info = subprocess.run([self.wick, "info", str(place / "out.wick")], capture_output=True, text=True, check=False).stdout
        found = re.search(r"^heap events +(\d+)()" if mode == "heap" else
                          r"^samples +(\d+)(?: of (\d+) expected)?", info, re.M)
        samples, expected = (int(found[1]), int(found[2] or 0)) if found else (0, 0)
        return run._replace(stderr=stderr), samples, expected * 1e9 / rate

    def is_steady(self, program, expected):
        """Whether plain runs give the same result, now that a sampled one did not."""
        return all(self.same(program, expected, self.plain(program)) for _ in range(MAX_TRIES))

    @staticmethod
    def as_told(program, expected):
        """The expected result of a recorded run: a recording that cannot be written has a status of its own, or no run at all."""
        if program.attach or not program.disk:
            return expected
        return expected._replace(status=FAILED, stdout=b"" if program.disk == "read-only" else expected.stdout)

    @staticmethod
    def same(program, one, other):
        return (one.status, kept(program, one.stdout), one.stderr) == \
               (other.status, kept(program, other.stdout), other.stderr)

    def rate_for(self, cpu):
        """Chooses a rate that gives 50 samples with some to spare."""
        return 997 if cpu > 0.12 else 4999

    def one(self, program, expected, tally, mode):
        run, samples, seen_ns = self.sampled(program, mode, self.rate_for(expected.cpu))
        tally.runs += 1
        tally.samples += samples
        tally.few += not program.disk and samples < (MIN_EVENTS if self.heap else MIN_SAMPLES)
        tally.least = samples if tally.least is None else min(tally.least, samples)
        tally.sampled.append(run.cpu)
        if mode == "cpu":
            tally.seen_ns += seen_ns
            tally.cpu += run.cpu
        if run.hung:
            tally.hangs += 1
        elif run.status != expected.status and run.status > 128:
            tally.crashes += 1
        elif self.same(program, self.as_told(program, expected), run):
            return
        elif not self.is_steady(program, expected):
            tally.unsteady = True
        else:
            tally.differences += 1
        tally.details.append(f"{program.name} ({mode}): {describe(expected.status)}, sampled {describe(run.status)}\n" +
                             difference(kept(program, expected.stdout), kept(program, run.stdout)) +
                             difference(expected.stderr, run.stderr))

    def go_through(self, chosen, runs):
        """The programs in rotation, so that a limited run covers each of them."""
        references = {}
        for number in range(runs if chosen else 0):
            program = chosen[number % len(chosen)]
            tally = self.tallies.setdefault(program.name, Tally())
            turn = number // len(chosen)
            if turn % 4 == 0 or references[program.name].hung:
                run = self.plain(program)
                if program.name not in references or references[program.name].hung:
                    references[program.name] = run
                tally.plain.append(run.cpu)
            told = len(tally.details)
            mode = "heap" if self.heap else "wall" if turn % 4 == 1 else "cpu"
            self.one(program, references[program.name], tally, mode)
            for text in tally.details[told:]:
                print(text, flush=True)


def difference(expected, got):
    """The first lines that differ."""
    if expected == got:
        return ""
    pairs = [(a, b) for a, b in zip(expected.splitlines() + [b""] * SHOWN, got.splitlines() + [b""] * SHOWN) if a != b]
    return "".join(f"  - {a.decode(errors='replace')[:160]}\n  + {b.decode(errors='replace')[:160]}\n" for a, b in pairs[:3])


def table(tallies, counted):
    rows = [f"| program | runs | {counted} | fewest | differences | crashes | hangs | CPU seen | slow-down |",
            "|---|---:|---:|---:|---:|---:|---:|---:|---:|"]
    sums = Tally()
    for name, tally in tallies.items():
        if tally.runs == 0:
            continue
        seen = f"{100 * tally.seen_ns / 1e9 / tally.cpu:.0f} %" if tally.cpu else "–"
        rows.append(f"| {name} | {tally.runs} | {tally.samples} | {tally.least} | {tally.differences} |"
                    f" {tally.crashes} | {tally.hangs} | {seen} | {tally.slow_down()} |")
        for field in ("runs", "samples", "differences", "crashes", "hangs"):
            setattr(sums, field, getattr(sums, field) + getattr(tally, field))
    rows.append(f"| **all** | {sums.runs} | {sums.samples} | | {sums.differences} | {sums.crashes} | {sums.hangs} | | |")
    return "\n".join(rows), sums.differences + sums.crashes + sums.hangs


def choose(names, workloads):
    everything = jobs.programs(workloads)
    chosen = [program for program in everything if not names or program.name in names]
    absent = {program.name: jobs.missing(program) for program in chosen}
    for name, lacking in absent.items():
        if lacking:
            print(f"left out: {name}: {', '.join(lacking)} not installed")
    return [program for program in chosen if not absent[program.name]]


def few_words(suite):
    """A sentence that names the programs with too few samples or events; "" if there are none."""
    few = {name: tally.few for name, tally in suite.tallies.items() if tally.few}
    if not few:
        return ""
    runs = sum(tally.runs for tally in suite.tallies.values())
    wanted = f"{MIN_EVENTS:,} events" if suite.heap else f"{MIN_SAMPLES} samples"
    text = f"{sum(few.values())} of {runs} runs have fewer than {wanted}: those of {', '.join(few)}."
    return textwrap.fill(text, 110, break_on_hyphens=False)


def report(suite, path):
    unsteady = [name for name, tally in suite.tallies.items() if tally.unsteady]
    text, bad = table(suite.tallies, "events" if suite.heap else "samples")
    few = few_words(suite)
    text += f"\n\n{few}" if few else ""
    print(text)
    if unsteady:
        print(f"not conclusive, because plain runs differ from each other: {', '.join(unsteady)}")
    if path:
        document = pathlib.Path(path)
        mark = "harm of the heap" if suite.heap else "harm"
        begin, end = f"<!-- {mark}: begin -->\n", f"<!-- {mark}: end -->"
        head, _, rest = document.read_text().partition(begin)
        tail = rest.partition(end)[2]
        line = f"{datetime.date.today()}, {platform.machine()}, Linux {platform.release().split('-')[0]}:\n\n"
        document.write_text(head + begin + line + text + "\n" + end + tail)
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--heap", action="store_true", help="record allocations, and count events instead of samples")
    parser.add_argument("--write", metavar="FILE", help="write the table into this document, between its marks")
    parser.add_argument("name", nargs="*")
    options = parser.parse_args()
    chosen = choose(options.name, pathlib.Path(options.build, "tests/workloads").resolve())
    with tempfile.TemporaryDirectory(prefix="wick-harm-") as folder:
        os.chmod(folder, 0o755)
        suite = Suite(options.build, folder, options.heap)
        signal.signal(signal.SIGINT, stop)
        signal.signal(signal.SIGTERM, stop)
        try:
            suite.go_through(chosen, options.runs)
        except Stopped:
            print("ended early by a signal")
        return report(suite, options.write)


if __name__ == "__main__":
    sys.exit(main())

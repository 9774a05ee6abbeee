# SPDX-License-Identifier: BSD-2-Clause
"""The emulated machine's cache, and the message if no machine is available."""
import argparse
import importlib.util
import multiprocessing
import os
import pathlib
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
VM = ROOT / "tests/vm/vm.py"
sys.path.insert(0, str(VM.parent))
import guest_tests  # noqa: E402
import machine  # noqa: E402

FORKED = multiprocessing.get_context("fork")


def fill_slowly(folder):
    """Notes each fill in a file next to the cache; an entry is complete only after a while."""
    with open(folder.parent.parent / "fillings", "a", encoding="ascii") as file:
        file.write(f"{os.getpid()}\n")
    folder.mkdir()
    time.sleep(0.3)
    (folder / "whole").touch()


def get_entry(folder, results):
    path = machine.Cache(folder).entry("root-cpu", ["recipe"], fill_slowly)
    results.put((str(path), (path / "whole").exists()))


def names(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != "lock")


def fill_empty(folder):
    folder.mkdir()


def test_two_who_fill_at_once_get_one_whole_entry(tmp_path):
    results = FORKED.Queue()
    both = [FORKED.Process(target=get_entry, args=(tmp_path / "cache", results)) for _ in range(2)]
    for process in both:
        process.start()
    answers = [results.get(timeout=20) for _ in both]
    for process in both:
        process.join()
    assert answers[0] == answers[1] and answers[0][1]
    assert len((tmp_path / "fillings").read_text().splitlines()) == 1
    assert len(names(tmp_path / "cache")) == 1


def test_a_filling_that_fails_leaves_nothing(tmp_path):
    def fill(folder):
        folder.mkdir()
        raise machine.Unavailable("no network")
    with pytest.raises(machine.Unavailable):
        machine.Cache(tmp_path).entry("root-cpu", ["recipe"], fill)
    assert names(tmp_path) == []


def test_what_a_killed_process_left_is_removed(tmp_path):
    for name in ("root-cpu-0.new", "root-cpu-0.new.apt", "root-cpu-0.old", "root-other-0.new"):
        (tmp_path / name / "inside").mkdir(parents=True)
    path = machine.Cache(tmp_path).entry("root-cpu", ["recipe"], fill_empty)
    assert names(tmp_path) == [path.name, "root-other-0.new"]


def test_old_entries_are_removed_when_nobody_has_used_them_for_a_day(tmp_path, monkeypatch):
    user = machine.Cache(tmp_path)
    old = user.entry("root-cpu", ["old"], fill_empty)
    other = machine.Cache(tmp_path).entry("kernel-cpu", ["old"], fill_empty)
    new = machine.Cache(tmp_path).entry("root-cpu", ["new"], fill_empty)
    assert names(tmp_path) == sorted([old.name, other.name, new.name])
    monkeypatch.setattr(machine, "KEPT_S", 0)
    machine.Cache(tmp_path).entry("root-cpu", ["new"], fill_empty)
    assert old.exists(), "it was removed under somebody who uses it"
    user.close()
    machine.Cache(tmp_path).entry("root-cpu", ["new"], fill_empty)
    assert names(tmp_path) == sorted([other.name, new.name])


def run_vm(tmp_path, *words, path="", **environment):
    return subprocess.run([sys.executable, "-B", VM, "--cache", tmp_path / "cache", *words],
                          env={"PATH": path, "HOME": str(tmp_path), **environment},
                          capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("words", (("test", "smoke"), ("run", "true"), ("build",), ("root",)))
def test_what_is_not_installed_is_said_in_one_line_with_status_77(tmp_path, words):
    done = run_vm(tmp_path, *words, path=str(tmp_path))
    assert done.returncode == 77
    assert "is not installed (scripts/install-deps" in done.stderr
    assert len(done.stderr.splitlines()) == 1 and done.stdout == ""


@pytest.mark.skipif(not os.path.exists("/usr/bin/apt-get"), reason="needs apt")
def test_packages_that_cannot_be_had_give_77_too(tmp_path):
    done = run_vm(tmp_path, "root", path=os.environ["PATH"],
                  WICK_DEBIAN_MIRROR=f"file:{tmp_path}/nowhere/debian")
    assert done.returncode == 77
    assert "apt-get update" in done.stderr.splitlines()[-1]
    assert names(tmp_path / "cache") == []


@pytest.mark.parametrize("status, output, expected", (
    (77, "vm: qemu is not installed\n", ("skipped", "vm: qemu is not installed")),
    (1, "vm: ninja failed\n", ("failed", "vm: ninja failed")),
    (0, "", ("failed", ""))))
def test_the_suite_passes_on_why_there_is_no_machine(monkeypatch, tmp_path, status, output,
                                                     expected):
    spec = importlib.util.spec_from_file_location("run_tests", ROOT / "scripts/run-tests.py")
    run_tests = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(run_tests)
    monkeypatch.setattr(run_tests, "run_logged", lambda *_, **__: (status, 0.1, output))
    options = argparse.Namespace(build=tmp_path, vm="smoke", long=False)
    case, = run_tests.Runner(options).suite_vm()
    assert (case.status, case.detail) == expected


def test_new_files_of_tests_run_in_the_machine_without_being_named():
    chosen = guest_tests.ALL["e2e"]
    assert chosen[0] == "tests/e2e"
    for option in chosen[1:]:
        assert (ROOT / option.removeprefix("--ignore=")).exists(), option


def test_what_the_smoke_part_names_is_there():
    for name in guest_tests.SMOKE["e2e"]:
        path, _, function = name.partition("::")
        assert f"def {function.partition('[')[0]}(" in (ROOT / path).read_text(), name

# SPDX-License-Identifier: BSD-2-Clause
"""WICK_MODE: programs that start the recorder themselves, without the wick command."""
import json
import os
import shutil
import subprocess
import time

import contract
import pytest
from conftest import LIBRARY, PATIENCE, TIMEOUT, WICK, Recording, workload


class Alone:
    """Runs programs with the library, and waits for their recordings."""

    def __init__(self, wick, library):
        self.wick = wick
        self.library = library

    def run(self, *command, preload="library", **variables):
        environment = {**os.environ, "WICK_MODE": "heap", **variables}
        if preload:
            environment["LD_PRELOAD"] = str(self.library if preload == "library" else preload)
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False,
                              cwd=self.wick.folder, env=environment, timeout=TIMEOUT)

    def record(self, *command, **variables):
        path = self.wick.new_path()
        done = self.run(*command, WICK_OUT=str(path), **variables)
        assert done.returncode == 0 and done.stderr == "", done.stderr
        return self.wait_for(Recording(self.wick, path, done))

    def wait_for(self, recording):
        """The recorder ends a moment after the program."""
        for _ in range(100 * PATIENCE):
            done = self.wick.run("info", recording.path, "--format", "json")
            if done.returncode == 0 and json.loads(done.stdout)["complete"]:
                return recording
            time.sleep(0.1)
        pytest.fail(f"{recording.path} is not complete: {done.stdout}{done.stderr}")


@pytest.fixture
def alone(wick, library):
    return Alone(wick, library)


def events_of(recording):
    return int(recording.info()["session"]["heap_events"])


def events_by_command(wick, command):
    path = wick.new_path()
    done = wick.ok("heap", "-o", path, "--", *command)
    return events_of(Recording(wick, path, done))


def test_what_is_recorded_is_what_wick_heap_records(alone):
    command = workload("memory")
    recording = alone.record(*command)
    plain = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert recording.truth == plain  # it has no child to wait for, and no descriptor more
    assert plain["no_child"]
    assert events_of(recording) == events_by_command(alone.wick, command) > 2000
    assert recording.info()["session"]["title"] == "memory"


def test_pools_tell_of_their_blocks(wick):
    without = events_by_command(wick, workload("memory", 10, 0))
    path = wick.new_path()
    recording = Recording(wick, path, wick.ok("heap", "-o", path, "--", *workload("memory", 10, 1000)))
    assert events_of(recording) == without + 2000
    for value, truth in (("alloc_space", 64 * 1024), ("pool_alloc_space", 1000 * 64)):
        # wick_alloc() of the header is a part of the function that calls it.
        found = [size for stack, size in recording.folded("--event", value) if "take_of_pool" in stack[-2:]]
        assert sum(found) == truth
    # Sampled by bytes: all of a block of 64 KiB, of 64 bytes one in a hundred.
    path = wick.new_path()
    done = wick.ok("heap", "--sample", "6400", "-o", path, "--", *workload("memory", 0, 100000))
    assert 1000 < events_of(Recording(wick, path, done)) < 4000
    pools = json.loads(wick.ok("report", "--by", "site", "--format", "json", path).stdout)["pools"]["totals"]
    assert pools["temporary_blocks"] == pools["allocated"]["blocks"] > 0  # each is freed before the next


def test_what_is_mapped_is_recorded_when_asked_for(wick):
    command = workload("memory", 10, 0, 50)
    without = events_by_command(wick, command)
    assert without == events_by_command(wick, workload("memory", 10, 0, 0))
    path = wick.new_path()
    done = wick.ok("heap", "--maps", "-o", path, "--", *command)
    recording = Recording(wick, path, done)
    assert events_of(recording) == without + 50 * 18, done.stderr
    # What is left of ranges is of those who mapped them, what mremap() made of one its own.
    stacks = recording.folded("--event", "alloc_space")
    pages = {name: sum(size for stack, size in stacks if stack[-1] == name) / 50 / os.sysconf("SC_PAGE_SIZE")
             for name in ("map", "take_ranges")}
    assert pages == {"map": 10 + (4 + 4) + (1 + 1) + 2 + 2, "take_ranges": 1 + 1}
    assert not [stack for stack, _ in recording.folded("--event", "inuse_space") if "take_ranges" in stack]
    both = wick.run("heap", "--maps", "--sample", "512K", "--", *command)
    assert both.returncode == contract.USAGE and "use one of them" in both.stderr


def test_who_has_an_allocator_of_its_own_is_told_apart(wick):
    done = wick.ok("heap", "-o", wick.new_path(), "--", *workload("own_malloc"))
    assert '"own": true' in done.stdout
    assert "nothing    was recorded: no call of malloc() reached the library" in done.stderr
    static = wick.run("heap", "-o", wick.new_path(), "--", *workload("chain_static"))
    assert static.returncode == contract.FAILED
    assert "linked statically" in static.stderr and "sudo wick heap -p PID" in static.stderr
    both = wick.ok("heap", "-o", wick.new_path(), "--", "sh", "-c", 'true; "$0"', *workload("own_malloc"))
    assert "1 program used a statically linked malloc()" in both.stderr


def test_a_program_that_is_linked_with_the_library(alone):
    command = workload("memory_linked")
    recording = alone.record(*command, preload=None)
    assert recording.truth["no_child"]
    assert events_of(recording) > 2000
    unasked = alone.run(*command, preload=None, WICK_MODE="", WICK_OUT="unasked.wick")
    assert (unasked.returncode, unasked.stderr) == (0, "")
    assert not (alone.wick.folder / "unasked.wick").exists()


def test_children_are_in_the_recording_of_their_parent(alone):
    # The last of them outlives the shell.
    recording = alone.record("sh", "-c", '"$0" 100; "$0" 2000 & (sleep 0.3; "$0" 500) &', *workload("memory"))
    assert events_of(recording) > 2 * (100 + 2000 + 500)
    assert recording.info()["processes"] >= 4
    assert len(list(alone.wick.folder.iterdir())) == 1


def test_without_a_name_it_has_one_of_the_time(alone):
    done = alone.run(*workload("memory"))
    assert done.stderr == ""
    (path,) = alone.wick.folder.glob("wick-*-memory.wick")
    alone.wait_for(Recording(alone.wick, path, done))


@pytest.mark.parametrize("variables, why", [
    ({"WICK_TOOL": "/no/such/tool"}, "WICK_TOOL=/no/such/tool cannot be run"),
    ({"WICK_OUT": "/no/such/folder/x.wick"}, "cannot write /no/such/folder/x.wick"),
    ({"WICK_OUT": "-"}, "name a file with WICK_OUT"),
    ({"WICK_MODE": "cpu"}, "invalid WICK_MODE=cpu"),
])
def test_what_cannot_be_runs_unrecorded_and_says_why(alone, variables, why):
    done = alone.run("sh", "-c", '"$0" && "$0"', *workload("memory"), **{"WICK_OUT": "x.wick", **variables})
    assert done.returncode == 0 and done.stdout.count('"no_child": true') == 2
    assert why in done.stderr
    assert done.stderr.count("the heap of this program is not recorded") == 1
    assert not list(alone.wick.folder.iterdir())


def test_a_library_without_its_tool(alone, tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    shutil.copy(LIBRARY, folder)
    done = alone.run(*workload("memory"), preload=folder / LIBRARY.name, PATH=str(folder))
    assert done.returncode == 0
    assert "wick is neither beside this library nor in PATH" in done.stderr
    (folder / "wick").write_text("#!/bin/sh\necho WICK_SESSION=/no/such/session\n", encoding="utf-8")
    (folder / "wick").chmod(0o755)
    done = alone.run(*workload("memory"), preload=folder / LIBRARY.name)
    assert done.returncode == 0 and "the recorder is a different version" in done.stderr
    (folder / "wick").unlink()
    (folder / "wick").symlink_to(WICK)
    (folder / "lib/any/wick").mkdir(parents=True)
    (folder / "bin").mkdir()
    (folder / "bin/wick").symlink_to(WICK)
    shutil.copy(LIBRARY, folder / "lib/any/wick")
    for preload in (folder / LIBRARY.name, folder / "lib/any/wick" / LIBRARY.name):
        assert events_of(alone.record(*workload("memory"), preload=preload, PATH="/nowhere")) > 2000

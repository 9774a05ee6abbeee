# SPDX-License-Identifier: BSD-2-Clause
"""The example programs that use libwick, and the example of a plug-in, do what they say."""
import os
import shutil
import subprocess

from conftest import BUILD, WICK, workload

PLUGIN = BUILD / "examples/paths.so"
PROFILE = BUILD / "examples/example_profile"


def test_the_example_profiles_a_process_and_draws_it(tmp_path):
    graph = tmp_path / "a flame.svg"
    with subprocess.Popen(workload("spin", 20000), stdout=subprocess.DEVNULL) as target:
        try:
            done = subprocess.run([str(PROFILE), str(target.pid), str(graph)],
                                  capture_output=True, text=True, check=False)
        finally:
            target.kill()
    assert done.returncode == 0, done.stderr
    assert "burn_until" in done.stdout, done.stdout
    assert graph.read_text(encoding="utf-8").startswith("<?xml")


def test_the_example_says_why_it_cannot():
    done = subprocess.run([str(PROFILE), "4194303", "x.svg"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 1
    assert "4194303" in done.stderr, done.stderr


def run_with_plugins(folder, *args):
    return subprocess.run([WICK, *args], cwd=folder, capture_output=True, text=True, check=False,
                          env={**os.environ, "WICK_PLUGINS": str(folder)})


def test_the_formats_of_a_plug_in_are_like_those_of_wick(tmp_path):
    folder = tmp_path / "my plug-ins"
    folder.mkdir(mode=0o755)
    shutil.copy(PLUGIN, folder)
    (folder / "broken.so").write_text("no object", encoding="utf-8")
    (folder / "x.folded").write_text("app;main;parse 30\n", encoding="utf-8")
    listed = run_with_plugins(folder, "list", "formats")
    assert "(plug-in paths)" in listed.stdout
    assert listed.stderr.count("wick: ") == 1 and "broken.so is left out" in listed.stderr
    done = run_with_plugins(folder, "export", "--format", "paths", "x.folded", "-o", "x.paths")
    assert done.returncode == 0, done.stderr
    for command in (["export", "--format", "folded", "x.paths"],
                    ["import", "-o", "x.wick", "x.paths"],
                    ["export", "--format", "folded", "x.wick"]):
        done = run_with_plugins(folder, *command)
        assert done.returncode == 0, done.stderr
        assert done.stdout in ("", "app;main;parse 30\n")


def test_what_records_loads_no_plug_ins(tmp_path):
    (tmp_path / "broken.so").write_text("no object", encoding="utf-8")
    done = run_with_plugins(tmp_path, "record", "--help")
    assert done.returncode == 0 and done.stderr == ""

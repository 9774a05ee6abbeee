# SPDX-License-Identifier: BSD-2-Clause
"""The example programs that use libwick, and the example of a plug-in, do what they say."""
import os
import re
import shutil
import subprocess

from conftest import BUILD, ROOT, WICK, workload

PLUGIN = BUILD / "examples/paths.so"
FIND_LEAKS = BUILD / "examples/example_find_leaks"
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


def test_the_example_finds_the_leaks_that_wick_leaks_shows(wick, tmp_path):
    """Sums, classes, amounts, places and stacks, of a program that loses blocks in known ways."""
    path = tmp_path / "a heap.wick"
    wick.ok("heap", "-q", "--leaks", "-o", path, "--", *workload("tides"))
    shown = wick.json("leaks", path, "--format", "json")
    expected = [f"{shown['sums']['definite']['bytes']} bytes are lost"]
    for leak in shown["leaks"]:
        if leak["class"] in ("indirect", "reachable", "lifetime"):
            continue
        expected.append(f"  {leak['class']} ({leak['confidence']:.2f}): {leak['bytes']} bytes in "
                        f"{leak['blocks']} blocks: {'; '.join(leak['evidence'])}")
        expected += [f"      {frame['function_name']}  {frame['file']}:{frame['line']}"
                     for frame in leak["stacks"][0]["frames"]]
    done = subprocess.run([str(FIND_LEAKS), str(path)], capture_output=True, text=True,
                          check=False)
    assert done.stdout.splitlines() == expected
    assert done.returncode == 1 and "keep_some" in done.stdout


def test_each_function_and_header_is_in_the_reference():
    text = (ROOT / "docs/API.md").read_text(encoding="utf-8")
    symbols = (ROOT / "src/api/libwick.symbols").read_text(encoding="utf-8").splitlines()
    headers = [f"include/wick/{path.name}" for path in (ROOT / "include/wick").glob("*.h")]
    names = [name for name in symbols if not name.startswith("#")] + headers
    assert [name for name in names if not re.search(rf"\b{name}\b", text)] == []


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
    assert listed.stderr.count("\n") == 1 and "broken.so is left out" in listed.stderr
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

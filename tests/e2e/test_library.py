# SPDX-License-Identifier: BSD-2-Clause
"""The example programs that use libwick, and the example plug-in, work as documented."""
import json
import os
import pathlib
import pwd
import re
import shutil
import subprocess
import tempfile

import pytest

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
    text = (ROOT / "docs/reference/libwick.md").read_text(encoding="utf-8")
    symbols = (ROOT / "src/libwick/libwick.symbols").read_text(encoding="utf-8").splitlines()
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
    assert listed.stderr.count("wick: ") == 1 and "broken.so not loaded" in listed.stderr
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


def test_views_analysers_and_resolvers_of_a_plug_in(tmp_path):
    folder = tmp_path / "my plug-ins"
    folder.mkdir(mode=0o755)
    shutil.copy(BUILD / "examples/insight.so", folder)
    (folder / "x.folded").write_text("app;main;parse 30\napp;main 10\n", encoding="utf-8")
    listed = run_with_plugins(folder, "list")
    assert listed.stdout.count("(plug-in insight)") == 3 and listed.stderr == ""
    assert run_with_plugins(folder, "report", "--by", "depth", "x.folded").stdout == \
        "     1  10\n     2  30\n"
    done = run_with_plugins(folder, "report", "--by", "depth", "--format", "json", "x.folded")
    assert json.loads(done.stdout) == {"1": 10, "2": 30}
    done = run_with_plugins(folder, "report", "--analyse", "all", "--fail-on", "warning",
                            "x.folded")
    assert done.returncode == 3 and done.stdout == "warning  hotspot: parse takes 75 % of all by itself\n"
    done = run_with_plugins(folder, "report", "--analyse", "hotspot", "--fail-on", "error",
                            "--format", "json", "x.folded")
    assert done.returncode == 0 and json.loads(done.stdout)["analysers"] == ["hotspot"]
    for wrong in (["--by", "weather"], ["--analyse", "x"], ["--fail-on", "note"],
                  ["--by", "depth", "--tree"], ["--by", "depth", "--sort", "total"]):
        done = run_with_plugins(folder, "report", *wrong, "x.folded")
        assert done.returncode == 2 and done.stdout == "", wrong


def test_a_resolver_names_what_a_stripped_file_has_no_name_for(tmp_path):
    program = tmp_path / "stripped"
    subprocess.run(["strip", "-o", program, *workload("spin")[:1]], check=True)
    shutil.copy(BUILD / "examples/insight.so", tmp_path)
    notes = subprocess.run(["readelf", "-n", program], capture_output=True, text=True, check=True)
    build_id = re.search(r"Build ID: ([0-9a-f]+)", notes.stdout)[1]
    (tmp_path / "names.txt").write_text(f"{build_id} 0 ffffff _ZN6secret4codeEv\n")
    for names, expected in (("names.txt", "secret::code()"), ("none.txt", "stripped+0x10")):
        done = subprocess.run([WICK, "symbolize", "-f", "-C", "-e", program, "0x10"], cwd=tmp_path,
                              capture_output=True, text=True, check=False,
                              env={**os.environ, "WICK_PLUGINS": str(tmp_path),
                                   "INSIGHT_NAMES": names})
        assert done.stdout.startswith(expected), done.stdout
        assert ("cannot open INSIGHT_NAMES none.txt" in done.stderr) == (names == "none.txt")


def test_services_load_no_plug_in(tmp_path):
    """They often run as root; the option that does not exist ends them after plug-ins were loaded."""
    (tmp_path / "x.c").write_text('#include <fcntl.h>\n__attribute__((constructor)) static void f(void)'
                                  ' { open("loaded", O_CREAT | O_WRONLY, 0600); }\n')
    subprocess.run(["cc", "-shared", "-fPIC", tmp_path / "x.c", "-o", tmp_path / "x.so"], check=True)
    for name, is_loaded in (("report", True), ("agent", False), ("server", False)):
        done = subprocess.run([WICK, name, "--no-such-option"], cwd=tmp_path, capture_output=True, text=True,
                              check=False, env={**os.environ, "WICK_PLUGINS": str(tmp_path)})
        assert done.returncode == 2 and "--no-such-option" in done.stderr, done.stderr
        assert (tmp_path / "loaded").exists() == is_loaded, name
        (tmp_path / "loaded").unlink(missing_ok=True)


@pytest.fixture(name="open_folder")
def make_open_folder():
    """A folder that other users can reach: those of pytest are private."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield pathlib.Path(name)


def test_no_plug_in_is_loaded_with_raised_privileges(open_folder):
    """A copy of wick with an ambient or a file capability, run by a user who names a plug-in of his
    own. A setuid copy does not run at all."""
    nobody = pwd.getpwnam("nobody")
    if os.geteuid() != 0 or not shutil.which("setcap"):
        pytest.skip("needs root and setcap")
    home = open_folder / "of nobody"
    home.mkdir()
    (home / "x.c").write_text('#include <fcntl.h>\n__attribute__((constructor)) static void f(void)'
                              ' { open("loaded", O_CREAT | O_WRONLY, 0600); }\n')
    subprocess.run(["cc", "-shared", "-fPIC", home / "x.c", "-o", home / "x.so"], check=True)
    os.chown(home, nobody.pw_uid, nobody.pw_gid)
    os.chown(home / "x.so", nobody.pw_uid, nobody.pw_gid)
    raised = open_folder / "wick"
    shutil.copy(WICK, raised)
    ambient = ["setpriv", "--inh-caps", "+sys_ptrace", "--ambient-caps", "+sys_ptrace", "--reuid",
               str(nobody.pw_uid), "--clear-groups"]
    done = subprocess.run([*ambient, raised, "list", "formats"], cwd=home, capture_output=True,
                          text=True, check=True, env={**os.environ, "WICK_PLUGINS": str(home)})
    assert "elevated privileges" in done.stderr and not (home / "loaded").exists(), done.stderr
    for capabilities, is_loaded in (("", True), ("cap_perfmon+ep", False)):
        if capabilities and subprocess.run(["setcap", capabilities, raised], check=False).returncode:
            pytest.skip("capabilities cannot be given to files here")
        done = subprocess.run([raised, "list", "formats"], cwd=home, capture_output=True, text=True,
                              check=False, user=nobody.pw_uid, group=nobody.pw_gid,
                              extra_groups=[], env={"WICK_PLUGINS": str(home)})
        assert done.returncode == 0 and done.stderr.count("wick: ") == 1, done.stderr
        assert ("it has no symbol wick_plugin" in done.stderr) == is_loaded, done.stderr
        assert ("elevated privileges" in done.stderr) != is_loaded
        assert (home / "loaded").exists() == is_loaded
        (home / "loaded").unlink(missing_ok=True)
    subprocess.run(["setcap", "-r", raised], check=True)
    os.chmod(raised, 0o4755)
    done = subprocess.run([raised, "list"], user=nobody.pw_uid, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 1 and done.stdout == "" and "setuid" in done.stderr

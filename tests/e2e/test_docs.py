# SPDX-License-Identifier: BSD-2-Clause
"""Runs the commands that the README shows, and follows the links of the documents.

In ```console blocks a line "$ wick ..." is a command and what follows it is its output, in which
"…" stands for what was left out. Numbers, addresses and paths differ from machine to machine, so of
the output only the words that do not are compared: lines of a table may differ, its head may not.
"""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from conftest import BUILD, ROOT, WICK

README = ROOT / "README.md"
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TABLE_HEADS = ("self   total", "total    self", "start           -end")
VERDICTS = {"ok", "limited", "no", "sudo"}  # of wick doctor: the machine decides
WANTED = ("record", "report", "flame", "info", "maps", "export", "doctor", "config")


def without_fences(text):
    return FENCE.sub("", text)


def console_commands(text):
    """[(command, lines of output)] of all console blocks."""
    commands = []
    for language, body in FENCE.findall(text):
        if language != "console":
            continue
        for line in body.splitlines():
            if line.startswith("$ "):
                commands.append((line[2:], []))
            elif commands:
                commands[-1][1].append(line)
    return commands


def words_of(lines):
    """The first word of every shown line that is the same on every machine."""
    words = set()
    for line in lines:
        match = re.match(r"\s*([a-z]+[:;]?)(?=\s|$)", line)
        if match and "…" not in line:
            words.add(match.group(1))
    return words - VERDICTS


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder that looks like the checkout after make, with wick in the PATH."""
    folder = tmp_path_factory.mktemp("tour")
    (folder / "build").symlink_to(BUILD.resolve())
    (folder / "examples").symlink_to(ROOT / "examples")
    (folder / "bin").mkdir()
    (folder / "bin/wick").symlink_to(WICK.resolve())
    return folder


def run_in(place, command):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("WICK")}
    environment |= {"PATH": f"{place}/bin:{environment['PATH']}", "HOME": str(place),
                    "XDG_CONFIG_HOME": str(place), "LC_ALL": "C.UTF-8"}
    return subprocess.run(["sh", "-c", command], cwd=place, env=environment, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False)


@pytest.mark.perf
def test_the_tour_of_the_readme_works_as_shown(place):
    commands = console_commands(README.read_text(encoding="utf-8"))
    assert {command.split()[1] for command, _ in commands} == set(WANTED)
    for command, shown in commands:
        assert command.startswith("wick "), command
        done = run_in(place, command)
        output = done.stdout + done.stderr
        assert done.returncode == 0, f"$ {command}\n{output}"
        missing = words_of(shown) - words_of(output.splitlines())
        assert not missing, f"$ {command}\ndoes not say {missing}:\n{output}"
        functions = re.findall(r"(\w+) +demo$", "\n".join(shown), re.MULTILINE)
        assert all(re.search(rf"\b{name} +demo$", output, re.MULTILINE) for name in functions), output
        for head in TABLE_HEADS:
            assert any(head in line for line in shown) == (head in output), f"$ {command}\n{output}"
    assert "</svg>" in (place / "demo.svg").read_text(encoding="utf-8")


def test_git_ignores_what_the_tour_leaves_behind():
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("not a git checkout")
    for name in ("demo.wick", "demo.svg", "demo/flame.svg", "build/wick"):
        done = subprocess.run(["git", "check-ignore", "-q", "--no-index", name], cwd=ROOT,
                              check=False)
        assert done.returncode == 0, f"{name} would show up as untracked"


def test_the_library_comes_with_a_pkg_config_file():
    text = (BUILD / "meson-private/libwick.pc").read_text(encoding="utf-8")
    assert "-lwick\n" in text and "wickcore" not in text, text


def test_the_options_of_shown_commands_exist():
    """The sh blocks name programs that are not here; their options can be looked up."""
    commands = [line for language, body in FENCE.findall(README.read_text(encoding="utf-8"))
                if language == "sh" for line in body.splitlines() if "wick " in line]
    assert commands
    for line in commands:
        words = line.partition("#")[0].split()
        words = words[words.index("wick") + 1:]
        words = words[:words.index("--")] if "--" in words else words
        done = subprocess.run([WICK, words[0], "--help"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, line
        for option in (word for word in words if word.startswith("-")):
            assert re.search(rf"(^|\s){re.escape(option)}[\s,=]", done.stdout), f"{option} of: {line}"


def test_the_targets_of_make_that_documents_name_exist():
    known = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"),
                           re.MULTILINE))
    for document in (README, ROOT / "CONTRIBUTING.md"):
        text = document.read_text(encoding="utf-8")
        named = set(re.findall(r"(?:^|`|sudo )make ([a-z][a-z0-9-]*)", text, re.MULTILINE))
        assert named and named <= known, f"{document.name}: {named - known}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_of_a_document_lead_somewhere(document):
    for link in LINK.findall(without_fences(document.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        path = (document.parent / target).resolve() if target else document
        assert path.exists(), f"{document.name} links to {link}"
        assert not anchor or path.suffix == ".md", f"{document.name} links to {link}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_functions_that_a_document_names_exist(document):
    text = without_fences(document.read_text(encoding="utf-8"))
    sources = "\n".join(path.read_text(encoding="utf-8") for folder in ("src", "include")
                        for path in (ROOT / folder).rglob("*.[ch]"))
    for name in set(re.findall(r"`((?:src/)?[a-z_]+(?:/[a-z_]+)*\.(?:c|h|js))`", text)):
        found = [path for path in (ROOT / "src").rglob(pathlib.Path(name).name)
                 if str(path).endswith("/" + name.removeprefix("src/"))]
        assert found or (ROOT / name).exists(), f"{document.name} names {name}"
    for name in set(re.findall(r"`([a-z]+_[a-z_0-9]+)\(\)`", text)):
        assert re.search(rf"\b{name}\(", sources), f"{document.name} names {name}()"


def test_every_preset_is_valid_and_changes_something():
    for path in sorted((ROOT / "examples/presets").glob("*.json")):
        done = subprocess.run([WICK, "config", "--preset", path.stem], capture_output=True,
                              text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert f"(preset {path.stem})" in done.stdout


def test_the_example_of_a_configuration_names_every_key(place):
    shown = run_in(place, "wick config --print --config examples/config.json")
    assert shown.returncode == 0, shown.stderr
    keys = [line for line in shown.stdout.splitlines() if " = " in line]
    assert keys and not [line for line in keys if "(file " not in line], shown.stdout

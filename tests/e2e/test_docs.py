# SPDX-License-Identifier: BSD-2-Clause
"""Checks the links of the documents, and that what they name exists. test_examples.py runs their examples."""
import pathlib
import re
import shutil
import subprocess

import pytest

from conftest import BUILD, ROOT, WICK
from documents import DOCUMENTS, FENCE, blocks_of

README = ROOT / "README.md"
LINK = re.compile(r"\]\(([^)\s]+)\)")


def without_fences(text):
    return FENCE.sub("", text)


def anchors_of(document):
    """The anchors of the headings of a document."""
    headings = re.findall(r"^#+ (.+)$", without_fences(document.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


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
        assert not anchor or anchor in anchors_of(path), f"{document.name} links to {link}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_functions_that_a_document_names_exist(document):
    text = without_fences(document.read_text(encoding="utf-8"))
    sources = "\n".join(path.read_text(encoding="utf-8") for folder in ("src", "include", "python")
                        for kind in ("*.[ch]", "*.py") for path in (ROOT / folder).rglob(kind))
    for name in set(re.findall(r"`((?:src/)?[a-z_]+(?:/[a-z_]+)*\.(?:c|h|js))`", text)):
        found = [path for path in (ROOT / "src").rglob(pathlib.Path(name).name)
                 if str(path).endswith("/" + name.removeprefix("src/"))]
        assert found or (ROOT / name).exists(), f"{document.name} names {name}"
    for name in set(re.findall(r"`([a-z]+_[a-z_0-9]+)\(\)`", text)):
        assert re.search(rf"\b{name}\(", sources), f"{document.name} names {name}()"


def named_tests():
    """(file, test) of each test in the tables of security.md: file::test, or ::test of the file before."""
    text = (ROOT / "docs/reference/security.md").read_text(encoding="utf-8")
    for row in re.findall(r"^\|.*\|$", text, re.MULTILINE):
        file = None
        for name, test in re.findall(r"`(test_\w+(?:\.py)?)?(?:::(\w+))?`", row):
            if name:
                file = ROOT / ("tests/e2e" if name.endswith(".py") else "tests/unit") / name
                file = file if name.endswith(".py") else file.with_suffix(".c")
            if name or test:
                yield file, test


def test_the_tests_that_show_what_is_said_of_security_exist():
    named = list(named_tests())
    assert len(named) > 30
    for file, test in named:
        assert file.exists(), file.name
        assert re.search(rf"\b{test}\(", file.read_text(encoding="utf-8")) or not test, f"{file.name}::{test}"


@pytest.fixture(scope="module")
def options_of():
    """The options of a command according to its help; None if there is no such command."""
    known = {}

    def ask(command):
        if command not in known:
            done = subprocess.run([WICK, command, "--help"], capture_output=True, text=True, check=False)
            names = re.findall(r"(?<![\w-])(-\w|--(?:\[no-\])?[a-z][a-z-]*)", done.stdout)
            known[command] = {form for name in names for form in (name.replace("[no-]", ""), name.replace("[no-]", "no-"))} \
                if done.returncode == 0 else None
        return known[command]
    return ask


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_that_a_text_names_have_these_options(document, options_of):
    """In the text and in tables; blocks are run."""
    for command, rest in re.findall(r"`(?:sudo )?wick ([a-z][a-z-]*)((?: [^`]*)?)`", without_fences(document.read_text(
            encoding="utf-8"))):
        options = options_of(command)
        assert options is not None, f"there is no wick {command}"
        own = re.split(r" -- |[|>]", rest + " ")[0]
        for option in re.findall(r"(?<= )--?[a-z][a-z-]*", own, re.IGNORECASE):
            forms = [option] if option.startswith("--") else [f"-{letter}" for letter in option[1:]]
            assert set(forms) <= options, f"wick {command} has no {option}"


def test_messages_that_the_troubleshooting_guide_quotes_are_what_wick_says():
    """In text blocks, with "…" for what differs. Adjacent literals are one."""
    sources = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "src").rglob("*.c")))
    said = re.sub(r'"\s+"', "", sources).replace("%%", "%")
    quoted = [line for block in blocks_of(ROOT / "docs/user/troubleshooting.md") if block.language == "text"
              for line in block.body.splitlines()]
    assert len(quoted) > 20
    for line in quoted:
        parts = [part.strip() for part in re.split("…|: |; ", line.removeprefix("wick: "))]
        assert all(part in said for part in parts), line


def test_every_preset_is_valid_and_changes_something():
    for path in sorted((ROOT / "examples/presets").glob("*.json")):
        done = subprocess.run([WICK, "config", "--preset", path.stem], capture_output=True,
                              text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert f"(preset {path.stem})" in done.stdout


def test_the_example_of_a_configuration_names_every_key():
    shown = subprocess.run([WICK, "config", "--print", "--config", "examples/config.json"], cwd=ROOT, text=True,
                           capture_output=True, check=False)
    assert shown.returncode == 0, shown.stderr
    keys = [line for line in shown.stdout.splitlines() if " = " in line]
    assert keys and not [line for line in keys if "(file " not in line], shown.stdout

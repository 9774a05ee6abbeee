# SPDX-License-Identifier: BSD-2-Clause
"""scripts/embed-help.py turns help texts into C."""
import pathlib
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts/embed-help.py"


@pytest.fixture
def embed(tmp_path):
    def run(text):
        (tmp_path / "x.txt").write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, SCRIPT, tmp_path / "x.h", tmp_path / "x.txt"],
                              capture_output=True, text=True, check=False)
        return done, (tmp_path / "x.h").read_text(encoding="utf-8") if done.returncode == 0 else ""
    return run


def test_lines_of_a_paragraph_are_joined_and_comments_left_out(embed):
    _, header = embed('# a comment\nDESCRIPTION\n\nOne\ntwo "three".\n\nFour…\n')
    assert 'help_description[] = {\n\t"One two \\"three\\".",\n\t"Four…",\n\tNULL,\n' in header


def test_items_of_a_list_keep_their_tab(embed):
    _, header = embed("WITHOUT ROOT\n\n\tfirst\n\t\tgoes on\n\tsecond\n")
    assert 'help_without_root[] = {\n\t"\\tfirst goes on",\n\t"\\tsecond",\n\tNULL,\n' in header


def test_an_example_is_a_line_and_what_it_is_for(embed):
    _, header = embed("EXAMPLES\n\nwick a\n\tone\n\ttwo\nwick b\n\tthree\n")
    assert '{"wick a", "one two"},\n\t{"wick b", "three"},\n\t{NULL, NULL},\n' in header


@pytest.mark.parametrize("text, reason", (
    ("words\n", "before the first heading"),
    ("NOTES\n\nNOTES\n", "a second section"),
    ("EXAMPLES\n\n\tpurpose\n", "put the command line first"),
    ("EXAMPLES\n\nwick a\nwick b\n\tpurpose\n", "no explanation below the example: wick a"),
))
def test_a_text_that_cannot_be_read_is_refused(embed, text, reason):
    done, _ = embed(text)
    assert done.returncode != 0 and reason in done.stderr

# SPDX-License-Identifier: BSD-2-Clause
"""The checks of make lint find what they should find."""
import importlib.util
import pathlib
import subprocess

import pytest

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts"


def load(name):
    spec = importlib.util.spec_from_file_location(name.replace("-", "_"), SCRIPTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


layers = load("check-layers")
shape = load("check-shape")
RULES = ("base:\nmodel: base\nexport: base model\nview: base model\nview/low: base\nview/high: base view/low\n"
         "libraries: zstd.h\nlibc-only: base\n")


@pytest.fixture
def tree(tmp_path):
    def write(files):
        (tmp_path / "docs").mkdir()
        (tmp_path / "docs/layers.txt").write_text(RULES)
        for name, text in {"src/base/vec.h": "", "src/model/m.h": "", **files}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        checker = layers.Checker(tmp_path)
        checker.run()
        return checker.errors
    return write


def test_includes_that_point_down_are_fine(tree):
    assert tree({"src/model/m.c": '#include "model/m.h"\n\n#include <stdio.h>\n\n#include <zstd.h>'
                 '\n\n#include "base/vec.h"\n'}) == []


@pytest.mark.parametrize("place, line, reason", (
    ("src/base/a.c", '#include "model/m.h"', "may not include"),
    ("src/export/a.c", '#include "view/v.h"', "may not include"),
    ("src/base/a.c", '#include "vec.h"', "not a file under"),
    ("src/base/a.c", '#include "../base/vec.h"', "not a file under"),
    ("src/base/a.c", "#include <zstd.h>", "C library only"),
    ("src/model/m.c", "#include <stdio.h>\n\n#include \"model/m.h\"", "own header"),
    ("src/model/a.c", '#include "base/vec.h"\n\n#include <stdio.h>', "comes before"),
    ("src/model/a.c", '#include <stdio.h>\n#include "base/vec.h"', "blank line"),
    ("src/model/a.c", "#include <stdio.h>\n#include <errno.h>", "sorted"),
    ("src/other/a.c", '#include "base/vec.h"', "not in docs/layers.txt"),
    ("src/view/low/a.c", '#include "view/high/h.h"', "view/low may not include"),
    ("src/view/low/a.c", '#include "model/m.h"', "view/low may not include"),
))
def test_an_include_that_breaks_a_rule_is_named(tree, place, line, reason):
    errors = tree({"src/view/v.h": "", "src/view/high/h.h": "", place: line + "\n"})
    assert errors and reason in errors[0] and errors[0].startswith(place)


def test_a_part_of_a_folder_includes_what_its_row_lists_and_the_files_around_it(tree):
    assert tree({"src/view/v.h": "", "src/view/low/l.h": "", "src/view/other/o.h": "",
                 "src/view/high/a.c": '#include "base/vec.h"\n#include "view/low/l.h"\n#include "view/v.h"\n',
                 "src/view/other/a.c": '#include "model/m.h"\n#include "view/low/l.h"\n'}) == []


SAMPLE = """\
/* { */
static const int table[] = {1, 2};

__attribute__((format(printf, 1, 2))) static int
three(const char *a, int (*call)(int, int),
      struct s b)
{
	if (a) {
		for (;;) {
			b = (struct s){.x = {1}};
			while (1) {
			}
		}
	}
	return 0;
}

int none(void)
{
	return '{';
}
"""


def test_functions_are_measured():
    three, none = shape.functions_of(SAMPLE)
    assert three == ("three", 4, 13, 3, 3)
    assert none == ("none", 18, 4, 0, 0)


@pytest.mark.parametrize("line, bad", (("TO" "DO: later", True), ("TO" "DO #12: later", False),
                                       ("TO" "DO(#12): later", False), ("mastodons", False)))
def test_open_ends_need_an_issue_number(line, bad):
    assert bool(shape.OPEN_END.search(line)) == bad


def test_an_unknown_group_of_packages_is_refused():
    done = subprocess.run([SCRIPTS / "install-deps", "--check", "no-such-group"],
                          capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "no-such-group" in done.stderr

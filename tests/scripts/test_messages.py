# SPDX-License-Identifier: BSD-2-Clause
"""Every message of wick is listed, and names the thing, the reason and the remedy."""
import re

import pytest

from test_checks import SCRIPTS, load

messages = load("list-messages")
ROOT = SCRIPTS.parent

ERROR_C = """\
static const struct {
} remedies[] = {
	{ENOMEM, ABOUT_ANYTHING, "end other programs"},
	{ENOENT, ABOUT_FILE, "check the path"},
};
"""
TABLES = {path: name for table in (messages.BEHIND, messages.INSIDE, messages.NAMED)
          for path, name in table.values()}


@pytest.fixture(scope="module")
def listed():
    lister = messages.Lister(ROOT)
    lister.run()
    return lister


@pytest.fixture
def problems(tmp_path):
    """The faults of a file in a small source tree that has none without it."""
    def check(body, path="src/base/x.c"):
        files = {"src/base/error.c": ERROR_C, path: body}
        for file, name in TABLES.items():
            if file != path:
                files.setdefault(file, f"int {name}(void)\n{{\n}}\n")
        for name, text in files.items():
            place = tmp_path / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        lister = messages.Lister(tmp_path)
        lister.run()
        found = list(lister.errors)
        for message in lister.messages:
            found += [f"{message.place()}: {word}" for word in messages.check(message)]
        return [line for line in found if line.startswith(path)]
    return check


def function(body):
    return "static int f(const char *path, struct error *err)\n{\n" + body + "\n}\n"


def test_every_message_of_wick_is_written_as_it_should_be(listed):
    wrong = list(listed.errors)
    for message in listed.messages:
        wrong += [f"{message.place()}: {word}" for word in messages.check(message)]
    assert not wrong, "\n".join(wrong)


def test_no_message_is_left_out(listed):
    """Counted in another way: everything that looks like a call, without comments and definitions."""
    call = re.compile(r"\b(error_set|error_errno|error_file|error_prefix|command_misused)\(")
    found = 0
    for path in (ROOT / "src").rglob("*.[ch]"):
        if path.stem == "error":
            continue
        text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
        text = re.sub(r'"(\\.|[^"\\\n])*"', '""', text)
        found += len(call.findall(re.sub(r"^(static )?int \w+\(", "", text, flags=re.M)))
    kinds = ("error_set", "error_errno", "error_file", "error_prefix", "command_misused")
    inside = 2  # command_misused() and wrong() of suppressions make theirs with error_set()
    assert sum(m.kind in kinds for m in listed.messages) == found - inside
    assert found > 600


def test_a_message_is_listed_with_text_code_and_remedy(listed):
    one = next(m for m in listed.messages if "no such process: %d" in m.texts)
    assert (one.path, one.kind, one.code, one.remedy) == \
        ("src/proc/process_info.c", "error_set", "-ESRCH", "own")
    assert one.advice == ["list the running processes: ps -e"]


@pytest.mark.parametrize("body", (
    'return error_file(err, -errno, "cannot open %s", path);',
    'return error_errno(err, -errno, "cannot watch %s", path);',
    'return error_set(err, -ENOMEM, "out of memory");',
    'return error_set(err, r, "out of " "memory");',
    'return error_advise(err, error_set(err, -EINVAL, "%s is wrong", path), "mend it");',
    '(void)error_set(err, -EINVAL, "%" PRIu64 " is wrong", n);\nerror_remedy(err, "mend it");',
    'if (!path) {\n(void)error_set(err, -EINVAL, "%s is wrong", path);\n} else {\nreturn 0;\n}\n'
    'if (n)\nerror_remedy(err, "do this");\nelse\nerror_remedy(err, "do that");\nreturn n;',
))
def test_what_names_thing_reason_and_remedy_is_fine(problems, body):
    assert problems(function(body)) == []


@pytest.mark.parametrize("body, reason", (
    ('return error_set(err, -EINVAL, "%s is wrong", path);', "no remedy"),
    ('if (r < 0)\nreturn error_set(err, r, "%s is wrong", path);\nerror_remedy(err, "mend it");',
     "no remedy"),
    ('if (r < 0) {\n(void)error_set(err, r, "%s is wrong", path);\n} else {\n'
     'error_remedy(err, "mend it");\n}', "no remedy"),
    ('(void)error_set(err, -EINVAL, "%s is wrong", path);\nif (r)\nerror_remedy(err, "mend it");',
     "no remedy"),
    ('return error_set(err, -ENOENT, "%s is not there", path);', "no remedy"),
    ('return error_errno(err, -errno, "epoll");', "names no thing"),
    ('return error_file(err, -errno, "Cannot open %s", path);', "a capital"),
    ('return error_file(err, -errno, "cannot open %s.", path);', "a full stop"),
    ('(void)fprintf(stderr, "%s is wrong", path);', "outside of src/cli"),
    ('perror(path);', "past the command's streams"),
    ('(void)write(2, path, 5);', "to a fixed number"),
    ('(void)write(STDERR_FILENO, path, 5);', "past the command's streams"),
    ('FILE *file = fopen("/dev/tty", "w");', "a stream to write to"),
))
def test_what_lacks_something_is_named(problems, body, reason):
    found = problems(function(body))
    assert found and any(reason in line for line in found), found


def test_a_remedy_behind_which_nobody_stands_is_no_remedy(problems):
    assert "gives no remedy" in "".join(problems(
        "int advise(int code)\n{\n\treturn code;\n}\n", path="src/import/table.c"))
    assert "there is no advise()" in "".join(problems(
        "int other(int code)\n{\n\treturn code;\n}\n", path="src/import/table.c"))


def test_a_macro_makes_no_messages(problems):
    assert "a macro makes a message" in "".join(problems(
        '#define FAIL(err) \\\n\terror_set(err, -ENOMEM, "out of memory")\n'))


def test_words_that_callers_hand_over_are_listed(problems, tmp_path):
    problems('static int refuse(const char *why, struct error *err)\n{\n'
             '\treturn error_advise(err, error_set(err, -EINVAL, "%s", why), "mend it");\n}\n'
             + function('return refuse(path ? "it is too old" : "it is too new", err);'))
    lister = messages.Lister(tmp_path)
    lister.run()
    words = next(m for m in lister.messages if m.kind == "words")
    assert words.texts == ["it is too old", "it is too new"]

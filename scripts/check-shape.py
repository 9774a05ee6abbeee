#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks size limits, SPDX lines, and that every open to-do has an issue number.

Exceptions are listed in scripts/shape-allow.txt, each with a reason; an exception that
is no longer needed is an error too.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMITS = {"function": 80, "file": 800, "header": 250, "parameters": 6, "nesting": 4}
SPDX = "SPDX-License-Identifier: "
SPDX_SUFFIXES = {".c", ".h", ".cpp", ".py", ".sh", ".build", ".js", ".mjs"}
OPEN_END = re.compile(r"\b(" + "TO" + "DO|FIX" + r"ME|XX" + r"X)\b(?!\(?:?\s*#\d+)")
TOKEN = re.compile(r"[A-Za-z_]\w*|\S")


def strip_comments_and_strings(text):
    """Blanks comments, strings, character constants and directives, keeping line numbers."""
    pattern = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)

    def blank(match):
        found = match.group()
        fill = "0" if found[0] in "\"'" else " "
        return fill + "\n" * found.count("\n")

    text = pattern.sub(blank, text)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: "\n" * m.group().count("\n"), text,
                  flags=re.M)


def split_parameters(signature):
    """The number of parameters of the last parenthesised list of a function's head."""
    start = signature.find("(")
    depth, count, inside = 0, 0, ""
    for char in signature[start:]:
        if char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if depth == 0:
                break
        elif char == "," and depth == 1:
            count += 1
        elif depth:
            inside += char
    return 0 if inside.strip() in ("", "void") else count + 1


def nesting_of(body):
    """How deep blocks nest; braces of initialisers do not count."""
    blocks, parens, deepest, previous, closed_after = [], [], 0, "", ""
    for token in TOKEN.findall(body):
        if token == "(":
            parens.append(previous)
        elif token == ")":
            closed_after = parens.pop() if parens else ""
        elif token == "{":
            control = previous in ("else", "do") or (
                previous == ")" and re.match(r"[A-Za-z_]", closed_after or "")
                and closed_after not in ("return", "sizeof", "__extension__"))
            blocks.append(bool(control))
            deepest = max(deepest, sum(blocks))
        elif token == "}" and blocks:
            blocks.pop()
        previous = token
    return deepest


def functions_of(text):
    """(name, first line, line count, parameters, nesting) of each function of a C file."""
    lines = strip_comments_and_strings(text).split("\n")
    number = 0
    while number < len(lines):
        if lines[number] != "{":
            number += 1
            continue
        first = number
        while first > 0 and re.match(r"\S|\s", lines[first - 1]) and \
                not lines[first - 1].startswith("}") and not lines[first - 1].endswith(";"):
            first -= 1
        head = " ".join(lines[first:number])
        end = number
        while end < len(lines) and not lines[end].startswith("}"):
            end += 1
        # Attributes in front of the name have parentheses of their own.
        plain = re.sub(r"__attribute__\s*\(\(.*?\)\)", " ", head)
        name = re.search(r"([A-Za-z_]\w*)\s*\(", plain)
        if name:
            body = "\n".join(lines[number + 1:end])
            yield (name.group(1), first + 1, end - first + 1,
                   split_parameters(plain[name.start():]), nesting_of(body))
        number = end + 1


def tracked_files(root):
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            cwd=root, capture_output=True, check=True).stdout.decode()
    return [root / name for name in listed.split("\0") if name and (root / name).is_file()]


def read_allowed(path):
    allowed = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        words = line.split(None, 3)
        if len(words) < 4 or words[0] not in LIMITS or not words[2].isdigit():
            sys.exit(f"{path.name}:{number}: expected: KIND PATH[:FUNCTION] LIMIT REASON")
        allowed[(words[0], words[1])] = int(words[2])
    return allowed


class Checker:
    def __init__(self, root):
        self.root = root
        self.allowed = read_allowed(root / "scripts/shape-allow.txt")
        self.used = set()
        self.errors = []

    def measure(self, kind, place, line, value):
        if value <= LIMITS[kind]:
            return
        limit = self.allowed.get((kind, place))
        if limit is not None:
            self.used.add((kind, place))
        if value > (limit or LIMITS[kind]):
            self.errors.append(f"{place.split(':')[0]}:{line}: {kind} of "
                               f"{place} is {value}, limit {limit or LIMITS[kind]}")

    def check_c(self, name, text):
        self.measure("header" if name.endswith(".h") else "file", name, 1, text.count("\n"))
        for function, line, length, parameters, nesting in functions_of(text):
            place = f"{name}:{function}"
            self.measure("function", place, line, length)
            self.measure("parameters", place, line, parameters)
            self.measure("nesting", place, line, nesting)

    def check_file(self, path):
        name = path.relative_to(self.root).as_posix()
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            return
        script = text.startswith("#!")
        if (path.suffix in SPDX_SUFFIXES or script) and \
                SPDX not in "\n".join(text.splitlines()[:2]):
            self.errors.append(f"{name}:1: the SPDX line is missing")
        if path.suffix in (".c", ".h"):
            self.check_c(name, text)
        if path.suffix in SPDX_SUFFIXES or script:
            for number, line in enumerate(text.splitlines(), 1):
                if OPEN_END.search(line):
                    self.errors.append(f"{name}:{number}: an open end needs an issue number (#N)")

    def run(self):
        files = tracked_files(self.root)
        for path in files:
            self.check_file(path)
        for kind, place in sorted(set(self.allowed) - self.used):
            self.errors.append(f"scripts/shape-allow.txt: {kind} {place} is no longer needed")
        return len(files)


def main():
    checker = Checker(ROOT)
    count = checker.run()
    for error in checker.errors:
        print(error)
    print(f"shape: {count} files, {len(checker.errors)} errors")
    return 1 if checker.errors else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks the includes under src/ and include/ against docs/layers.txt.

* a quoted include is the path of an existing file, relative to src/ or include/;
* it stays in its own folder or points to one that docs/layers.txt allows, which may also have rows
  for parts of a folder;
* in a .c: own header; <system>; <library>; "project": sorted groups, blank lines between.
"""
import fnmatch
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')


def read_rules(path):
    """({folder: allowed folders}, {other list: its words})"""
    rules, lists = {}, {"libraries": [], "libc-only": [], "generated": []}
    for line in path.read_text().splitlines():
        line = line.split("#")[0].strip()
        if not line:
            continue
        name, _, rest = line.partition(":")
        words = rest.split()
        if name in lists:
            lists[name] = words
        else:
            rules[name] = set(words)
    return rules, lists


class Checker:
    def __init__(self, root):
        self.root = root
        self.rules, lists = read_rules(root / "docs/layers.txt")
        self.libraries = lists["libraries"]
        self.libc_only = lists["libc-only"]
        self.generated = lists["generated"]
        self.errors = []

    def folder_of(self, path):
        """The folder whose row holds for a file: the part of a folder if that has one."""
        parts = path.relative_to(self.root).parts
        part = "/".join(parts[1:3])
        if parts[0] == "include":
            return "include"
        return part if part in self.rules else parts[1]

    def is_library(self, name):
        return any(fnmatch.fnmatch(name, pattern) for pattern in self.libraries)

    def is_generated(self, name):
        return any(fnmatch.fnmatch(name, pattern) for pattern in self.generated)

    def target_folder(self, name):
        """The folder an included name belongs to, or None if there is no such file."""
        if self.is_generated(name) or (self.root / "src" / name).is_file() and "/" in name:
            return name.split("/")[0]
        if (self.root / "include" / name).is_file():
            return "include"
        return None

    def error(self, path, number, text):
        self.errors.append(f"{path.relative_to(self.root)}:{number}: {text}")

    def check_one(self, path, number, quote, name):
        folder = self.folder_of(path)
        if quote == "<":
            if self.is_library(name) and folder in self.libc_only:
                self.error(path, number, f"{folder} uses the C library only, not <{name}>")
            return
        target = self.target_folder(name)
        if target is None:
            self.error(path, number, f'"{name}" is not a file under src/ or include/ '
                       "(includes start there, not at the own folder)")
        elif folder not in self.rules:
            self.error(path, number, f"folder {folder} is not in docs/layers.txt")
        elif not self.may_include(folder, target, name):
            self.error(path, number, f'{folder} may not include "{name}"')

    def may_include(self, folder, target, name):
        """target: the top folder of what is included."""
        own, _, part = folder.partition("/")
        inside = pathlib.PurePosixPath(name).parent.as_posix()  # "engine", "engine/perf", "engine/perf/x"
        if target != own:
            return target in self.rules[folder]
        if not part or inside == own:
            return True
        return any(inside == known or inside.startswith(known + "/")
                   for known in {folder} | self.rules[folder])

    def rank(self, path, quote, name):
        own = path.relative_to(self.root).with_suffix(".h").as_posix()
        own = own.removeprefix("src/").removeprefix("include/")
        # The public header of src/libwick/x.c is wick/x.h.
        if name in (own, own.replace("libwick/", "wick/", 1)):
            return 0
        if quote == '"' or name.startswith("wick/"):
            return 3
        return 2 if self.is_library(name) else 1

    def is_near(self, path, name):
        """Whether an included header is in the folder of a file, or in a parent of it."""
        folder = pathlib.PurePosixPath(name).parent
        return "/" in name and (self.root / "src" / folder) in path.parents

    def check_order(self, path, includes):
        """includes: (line number, quote, name) of one unconditional run from the top."""
        own = path.with_suffix(".h")
        # A file of a table, or the second file of a module, begins with the header that
        # declares what it defines.
        if not own.exists() and includes and self.is_near(path, includes[0][2]):
            includes = includes[1:]
        if own.exists() and includes and self.rank(path, *includes[0][1:]) != 0:
            self.error(path, includes[0][0], f"its own header {own.name} comes first")
        for (line, *before), (next_line, *after) in zip(includes, includes[1:]):
            old, new = self.rank(path, *before), self.rank(path, *after)
            if new < old:
                self.error(path, next_line, f"{after[1]} comes before {before[1]} (own header, "
                           "<system>, <library>, \"project\")")
            elif new == old and next_line == line + 1 and after[1] < before[1]:
                self.error(path, next_line, f"{after[1]} is not in sorted order")
            elif new > old and next_line == line + 1:
                self.error(path, next_line, "a blank line goes between groups of includes")

    def check_file(self, path):
        includes, conditional = [], False
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            # What follows an #if or #define is special on purpose: only its target is checked.
            if re.match(r"\s*#\s*(if|ifdef|ifndef|define|pragma|undef)\b", line):
                conditional = True
            match = INCLUDE.match(line)
            if not match:
                continue
            self.check_one(path, number, *match.groups())
            if not conditional:
                includes.append((number, *match.groups()))
        if path.suffix == ".c":
            self.check_order(path, includes)

    def run(self):
        files = sorted(p for top in ("src", "include") for p in (self.root / top).rglob("*.[ch]"))
        for path in files:
            self.check_file(path)
        return len(files)


def main():
    checker = Checker(pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT)
    count = checker.run()
    for error in checker.errors:
        print(error)
    print(f"layers: {count} files, {len(checker.errors)} errors")
    return 1 if checker.errors else 0


if __name__ == "__main__":
    sys.exit(main())

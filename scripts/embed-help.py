#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Turns the help text of a command into a C header.

    embed-help.py OUT.h TEXT.txt

A text consists of sections. A line in capitals is the heading of a section; everything up to
the next heading belongs to it. A blank line ends a paragraph, and how its lines are broken does
not matter. A line that begins with one tab is an item of a list, or a line of code; lines that
begin with two tabs continue it. In EXAMPLES, an unindented line is a command line and the
indented lines below it explain it. Lines that begin with "#" are comments.

The header has one array for each section, with NULL as its last element: DESCRIPTION becomes
help_description[], WITHOUT ROOT becomes help_without_root[], EXAMPLES becomes help_examples[].
"""
import json
import re
import sys

HEADING = re.compile(r"[A-Z][A-Z ]+")


def sections_of(path):
    """{heading: its lines}"""
    sections = {}
    lines = None
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip()
            if line.startswith("#"):
                continue
            if HEADING.fullmatch(line):
                if line in sections:
                    sys.exit(f"{path}:{number}: a second section {line}")
                lines = sections[line] = []
            elif lines is not None:
                lines.append(line)
            elif line:
                sys.exit(f"{path}:{number}: text before the first heading, such as DESCRIPTION")
    return sections


def blocks_of(lines):
    """Groups of lines that blank lines separate."""
    block = []
    for line in [*lines, ""]:
        if line:
            block.append(line)
        elif block:
            yield block
            block = []


def paragraphs_of(lines):
    """Paragraphs and items, which keep their tab."""
    for block in blocks_of(lines):
        if not block[0].startswith("\t"):
            yield " ".join(line.strip() for line in block)
            continue
        item = ""
        for line in block:
            if line.startswith("\t\t"):
                item += " " + line.strip()
                continue
            if item:
                yield item
            item = line
        yield item


def examples_of(path, lines):
    """[[command line, purpose]]"""
    examples = []
    for line in filter(None, lines):
        if not line.startswith("\t"):
            examples.append([line, ""])
        elif examples:
            examples[-1][1] = f"{examples[-1][1]} {line.strip()}".strip()
        else:
            sys.exit(f"{path}: EXAMPLES begins with an explanation: put the command line first")
    for line, purpose in examples:
        if not purpose:
            sys.exit(f"{path}: no explanation below the example: {line}")
    return examples


def literal(text):
    return json.dumps(text, ensure_ascii=False).replace("??", '?""?')


def main():
    output, path = sys.argv[1:]
    with open(output, "w", encoding="utf-8") as header:
        header.write("/* Made by scripts/embed-help.py. */\n")
        for heading, lines in sections_of(path).items():
            name = "help_" + heading.lower().replace(" ", "_")
            if heading == "EXAMPLES":
                header.write(f"static const struct command_example {name}[] = {{\n")
                for pair in examples_of(path, lines):
                    header.write(f"\t{{{literal(pair[0])}, {literal(pair[1])}}},\n")
                header.write("\t{NULL, NULL},\n};\n")
                continue
            header.write(f"static const char *const {name}[] = {{\n")
            for paragraph in paragraphs_of(lines):
                header.write(f"\t{literal(paragraph)},\n")
            header.write("\tNULL,\n};\n")


if __name__ == "__main__":
    main()

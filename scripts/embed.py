#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Turns text files into a C header of string constants.

    embed.py OUT.h NAME=FILE… [NAME= FILE…]
    embed.py OUT.h --files NAME FILE…
    embed.py OUT.js --join FILE…

Files after "NAME=" are parts of one script: they share the scope of one function.
Indentation and lines that contain only a comment ("//", or one-line "/* */") are
removed, because only machines read the result.

With --files, NAME is a table of files as they are, for a server: the name of each, its
bytes, their number and a hash. --join writes the files one after the other.
"""
import hashlib
import json
import pathlib
import re
import sys


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = line.strip()
            if line and not line.startswith("//") and not re.fullmatch(r"/\*.*\*/", line):
                yield line + "\n"


def literal(line):
    # JSON escapes are C escapes but for \u, which asks for text beyond ASCII.
    if not line.isascii():
        raise SystemExit(f"embed.py: not ASCII: {line!r}")
    return json.dumps(line).replace("??", '?""?')


def assets_of(arguments):
    """(name, lines) of each constant."""
    while arguments:
        name, _, path = arguments.pop(0).partition("=")
        if path:
            yield name, list(lines_of(path))
            continue
        lines = ["(function () {\n", "'use strict';\n"]
        while arguments and "=" not in arguments[0]:
            lines += lines_of(arguments.pop(0))
        yield name, lines + ["})();\n"]


def bytes_literal(data):
    """Octal escapes have three digits at most, so none swallows what follows."""
    return '"' + "".join(chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
                         for byte in data) + '"'


def write_files(output, name, paths):
    with open(output, "w", encoding="utf-8") as header:
        header.write("/* Made by scripts/embed.py. */\n")
        header.write("static const struct {\n\tconst char *name;\n\tconst char *data;\n"
                     f"\tsize_t size;\n\tconst char *hash;\n}} {name}[] = {{\n")
        for path in map(pathlib.Path, paths):
            data = path.read_bytes()
            header.write(f'\t{{"{path.name}",\n')
            for line in data.splitlines(keepends=True) or [b""]:
                header.write(f"\t {bytes_literal(line)}\n")
            header.write(f'\t , {len(data)}, "{hashlib.sha256(data).hexdigest()[:16]}"}},\n')
        header.write("};\n")


def main():
    output, *arguments = sys.argv[1:]
    if arguments[0] == "--files":
        write_files(output, arguments[1], arguments[2:])
        return
    if arguments[0] == "--join":
        pathlib.Path(output).write_bytes(b"".join(pathlib.Path(path).read_bytes() for path in arguments[1:]))
        return
    with open(output, "w", encoding="utf-8") as header:
        header.write("/* Made by scripts/embed.py. */\n")
        for name, lines in assets_of(arguments):
            header.write(f"static const char {name}[] =\n")
            for line in lines:
                header.write(f"\t{literal(line)}\n")
            header.write("\t;\n")


if __name__ == "__main__":
    main()

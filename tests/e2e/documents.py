# SPDX-License-Identifier: BSD-2-Clause
"""The code blocks of the documents, and how to run them.

Blocks of ```sh, ```console, ```c and ```python are examples, and the tests run them. A comment in the line above gives
instructions that a reader does not see:

    <!-- not run: REASON -->        a test cannot run it
    <!-- needs: WORD, WORD -->      skipped if one of these is not available
    <!-- exit: 3 -->                expected exit status: one of these numbers; default 0

Other blocks are pictures, formats and messages; one that looks like commands is an example without a language.
"""
import collections
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.md")])
EXAMPLES = ("sh", "console", "c")
PROGRAMS = ("python",)  # run by tests/python
PICTURES = ("", "text", "json", "ini", "yaml", "sql")
COMMAND = re.compile(r"^(?:\$ |sudo |wick |make |cc |gcc |perf record |docker |kubectl |python3? |tests/|scripts/|WICK_\w+=)",
                     re.MULTILINE)
FENCE = re.compile(r"(?:^<!-- (?P<remark>[^\n]*) -->\n)?^```(?P<language>\w*)\n(?P<body>.*?)^```$",
                   re.MULTILINE | re.DOTALL)
REMARK = re.compile(r"(not run|needs|exit): (.+)")

Block = collections.namedtuple("Block", "document line language body not_run needs statuses")


def blocks_of(document):
    """All code blocks of a document; an unknown remark is an error."""
    text = document.read_text(encoding="utf-8")
    blocks = []
    for found in FENCE.finditer(text):
        said = {}
        remark = found["remark"]
        if remark:
            match = REMARK.fullmatch(remark)
            if not match:
                raise ValueError(f"{document.name}: what is meant by <!-- {remark} -->?")
            said[match[1]] = match[2]
        line = text.count("\n", 0, found.start("language")) + 1
        blocks.append(Block(document.relative_to(ROOT), line, found["language"], found["body"], said.get("not run"),
                            tuple(word.strip() for word in said.get("needs", "").split(",") if word.strip()),
                            tuple(map(int, said.get("exit", "0").split()))))
    return blocks


def examples_of(document):
    return [block for block in blocks_of(document) if block.language in EXAMPLES]


def unmarked(document):
    """Blocks that are not marked as an example or as something else: (line, fault)."""
    wrong = []
    for block in blocks_of(document):
        if block.language not in EXAMPLES + PROGRAMS + PICTURES:
            wrong.append((block.line, f"no language that is known: {block.language}"))
        elif block.language in PICTURES and COMMAND.search(block.body):
            wrong.append((block.line, "looks like commands: make it sh or console"))
    return wrong


def console_commands(body):
    """[(command, lines of output)] of a console block."""
    commands = []
    for line in body.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        elif commands:
            commands[-1][1].append(line)
    return commands

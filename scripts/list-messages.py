#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Lists every message that wick can print, and checks how each is written.

usage: list-messages.py [--check] [FOLDER]

A message is a text that is passed to a function of src/base/error.h or of the command line
(MAKERS), or a literal that begins with "wick: ". It is listed with its location, its kind,
its code, its text, the words that are inserted into it, and the source of its remedy:

  own     the function sets one afterwards, with error_remedy() or through another function
  code    src/base/error.c has one for its code, whatever failed
  system  error_errno(), error_file(): there is one for every code
  usage   command_misused() points to the help
  behind  a function through which all of them pass sets one with error_advise() (BEHIND)
  inside  it is not a message by itself: it is inserted into another one (INSIDE)

--check prints the faults instead:

  * a message without a remedy;
  * a text that begins with a capital or ends with a full stop;
  * a text that names nothing: nothing is inserted into it, and it contains none of NOUNS;
  * an unknown way to print: only src/cli writes to streams, and only to those that the
    command was given, so that no message is missing from the list.
"""
import argparse
import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# name: (argument of the code, argument of the text)
MAKERS = {"error_set": (1, 2), "error_errno": (1, 2), "error_file": (1, 2),
          "error_prefix": (1, 2), "command_misused": (None, 1), "remark": (None, 1),
          "command_note": (None, 1)}
# Those of one file: (file, name).
OWN_MAKERS = {("src/preload/self_start.c", "complain"): (None, 0)}
# name: argument of the text
REMEDY = {"error_remedy": 1, "error_advise": 2}
# Where notes are put together before somebody prints them.
NOTES = {"notice", "note", "refusal", "why_none"}

# Who adds the name and a remedy to all that comes through it: place -> (file, function).
BEHIND = {
    "src/import/": ("src/import/table.c", "advise"),
    "src/plugin/plugins.c": ("src/plugin/plugins.c", "warn"),
    "src/plugin/plugin_lists.c": ("src/plugin/plugins.c", "warn"),
    "src/cli/option_value.c": ("src/cli/option.c", "see_help"),
    "src/cli/config.c": ("src/cli/config.c", "apply_section"),
}

# Who puts such messages into another one, or into the log: nobody reads them by themselves.
INSIDE = {
    "src/cfi/": ("src/process_stacks/module_tables.c", "fill"),
    "src/dwarf/": ("src/symbol/debug_info.c", "debug_info_open"),
    "src/proc/jit_file.c": ("src/load/names/jit_functions.c", "refuse"),
    "src/proc/module_file.c": ("src/process_stacks/module_tables.c", "fill"),
    "src/symbol/jit/jitdump.c": ("src/load/names/jit_functions.c", "refuse"),
    "src/symbol/debug_file.c": ("src/symbol/module_symbols.c", "open_own_file"),
    "src/load/names/jit_functions.c": ("src/load/names/jit_functions.c", "refuse"),
    "src/live/engine_trial.c": ("src/cli/commands/doctor/doctor_engines.c", "explain_failure"),
}

# Who puts a name before the text of others, beside those above.
NAMED = {
    "src/export/": ("src/export/table.c", "exporter_write"),
}

# What a text may be about without anything put into it: things that there is one of, or that
# are known by a name of their own.
NOUNS = re.compile(
    r"\bmemory\b|standard (in|out)put|terminal|temporary file|signals|recorder|(^| )--?[a-z]|/proc\b|/sys/|"
    r"\b(eBPF|bpf\(\)|perf|ptrace|uprobe|signal|ebpf) |\bthe (kernel|scheduler|recording|heap|"
    r"window|body|selector|store|range of time|profile|plug-in|report|result|page|timeline|comparison|flame graph|call tree|program)\b|"
    r"\bthis (kernel|machine|wick|recording)\b|\b(PNG|objdump|SIGCHLD|timer|WICK_[A-Z]+)\b|"
    r"32-bit programs|wick_[a-z_]+\(\)|leak scan|process to run|live view|"
    r"\b(TLS|OpenTelemetry|release_before|service_name|a burst|parameter name|too many bursts|labels of a series|"
    r"table of series|HTTP|HOME|random numbers|a token|wick token)\b|the store's")

# Who may write to a stream beside src/cli, and why.
WRITERS = {
    "src/base/log.c": "what WICK_LOG asks for",
}
# Who may name the number of standard error.
STDERR_USERS = {
    "src/cli/held_messages.c": "what is written to it waits for the view to end",
    "src/base/run_command.c": "closes it for a program whose output is read",
    "src/cli/commands/cmd_heap.c": "lets go of it when the program goes on alone",
    "src/cli/main.c": "keeps its number when it is closed",
    "src/preload/self_start.c": "complain(): nobody else is there who could print",
    "src/record/launch.c": "closes it for a program that is to be silent",
    "src/record/recorder.c": "gives it to a program whose output would be ours",
    "src/live/live_session.c": "gives it to a program whose output would be ours",
}
STREAM_OF = {"fprintf": 0, "vfprintf": 0, "fputs": -1, "fputc": -1, "putc": -1, "fwrite": -1,
             "fflush": None}
FORBIDDEN = {"printf", "vprintf", "puts", "putchar", "perror", "psignal", "psiginfo", "dprintf",
             "vdprintf", "syslog", "vsyslog", "err", "errx", "verr", "warnx", "vwarn", "error",
             "error_at_line", "backtrace_symbols_fd", "fputs_unlocked", "putc_unlocked",
             "freopen", "fputws", "fwprintf", "open_memstream"}

TOKEN = re.compile(r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<directive>^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*)
  | (?P<string>(?:u8|[LuU])?"(?:\\.|[^"\\\n])*")
  | (?P<char>[LuU]?'(?:\\.|[^'\\\n])*')
  | (?P<word>[A-Za-z_]\w*)
  | (?P<number>\.?\d(?:[eEpP][+-]|[\w.'])*)
  | (?P<mark>->|\+\+|--|<<=?|>>=?|[-+*/%&|^=!<>]=|&&|\|\||\.\.\.|.)
""", re.X | re.S | re.M)
OPEN, CLOSE = set("([{"), set(")]}")
ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
CONVERSION = re.compile(r"%[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|h|ll|l|z|j|t)?[diouxXeEfgGcsp]")


MAKER_CALL = re.compile(r"\b(" + "|".join([*MAKERS, *REMEDY]) + r")\s*\(")


class Token:
    """A token; span is how many further on the bracket that it opens is closed."""
    __slots__ = ("kind", "text", "line", "span")

    def __init__(self, kind, text, line):
        self.kind, self.text, self.line, self.span = kind, text, line, 0

    def is_mark(self, marks):
        return self.kind == "mark" and self.text in marks


def tokenise(text):
    found, line, opened = [], 1, []
    for match in TOKEN.finditer(text):
        kind, word = match.lastgroup, match.group()
        if kind == "mark" and word in OPEN:
            opened.append(len(found))
        elif kind == "mark" and word in CLOSE and opened:
            found[opened[-1]].span = len(found) - opened[-1]
            opened.pop()
        if kind not in ("skip", "directive"):
            found.append(Token(kind, word, line))
        else:
            line += word.count("\n")
    return found


def directives(text):
    return [m.group() for m in TOKEN.finditer(text) if m.lastgroup == "directive"]


def close_of(tokens, at):
    """The index at which the bracket that opens at a token is closed."""
    return min(at + tokens[at].span, len(tokens) - 1)


def arguments_of(tokens, at):
    """The arguments of the call whose bracket opens at a token, each a list of tokens."""
    found, depth = [[]], 0
    for token in tokens[at + 1:close_of(tokens, at)]:
        depth += token.is_mark(OPEN) - token.is_mark(CLOSE)
        if depth == 0 and token.is_mark(","):
            found.append([])
        else:
            found[-1].append(token)
    return found


def escaped(match):
    code = match.group(1)
    if code[0] in "01234567":
        return chr(int(code, 8))
    if code[0] == "x":
        return chr(int(code[1:], 16))
    return ESCAPES.get(code, code)


def literal(text):
    body = text[text.index('"') + 1:-1]
    return re.sub(r"\\([0-7]{1,3}|x[0-9a-fA-F]+|.)", escaped, body)


def texts_of(tokens, defines):
    """The possible strings of an expression: adjacent literals are one, ?: makes several."""
    found, parts, last = [], [], None
    for token in tokens + [None]:
        if token and token.kind == "string":
            parts.append(literal(token.text))
        elif token and token.kind == "word" and token.text.startswith("PRI"):
            parts.append("ll" + token.text[3] if parts else "")
        elif token and token.kind == "word" and parts and token.text in defines:
            parts.append(defines[token.text])
        elif token and token.kind == "word" and token.text in defines and last in (None, ":", "?"):
            parts.append(defines[token.text])
        elif parts:
            found.append("".join(parts))
            parts = []
        last = token.text if token else None
    return found


def plain(tokens):
    return re.sub(r" ?(->|\.|\(|\)|\[|\]) ?", r"\1", " ".join(t.text for t in tokens))


class Statement:
    """One statement: its own tokens, what they call, and the statements that it holds."""

    def __init__(self, kind, head, parts):
        self.kind, self.head, self.parts = kind, head, parts
        self.calls = {token.text for _, token in calls_in(head)}


def parse_statements(tokens, at, end):
    found = []
    while at < end:
        statement, at = parse_statement(tokens, at, end)
        found.append(statement)
    return found


def parse_statement(tokens, at, end):
    token = tokens[at]
    if token.is_mark("{"):
        last = close_of(tokens, at)
        return Statement("block", [], parse_statements(tokens, at + 1, last)), last + 1
    if token.kind == "word" and token.text in ("if", "while", "for", "switch") \
            and tokens[at + 1].is_mark("("):
        last = close_of(tokens, at + 1)
        body, after = parse_statement(tokens, last + 1, end)
        parts = [body]
        if token.text == "if" and after < end and tokens[after].text == "else":
            other, after = parse_statement(tokens, after + 1, end)
            parts.append(other)
        return Statement(token.text, tokens[at:last + 1], parts), after
    if token.kind == "word" and token.text == "do":
        body, after = parse_statement(tokens, at + 1, end)
        last = after
        while not tokens[last].is_mark(";"):
            last += 1
        return Statement("do", tokens[after:last], [body]), last + 1
    depth, last = 0, at
    while last < end:
        depth += tokens[last].is_mark(OPEN) - tokens[last].is_mark(CLOSE)
        if depth == 0 and tokens[last].is_mark(";"):
            break
        if depth == 0 and tokens[last].is_mark(":") and \
                (token.text in ("case", "default") or last == at + 1):
            break
        last += 1
    return Statement("plain", tokens[at:last + 1], []), last + 1


class Function:
    def __init__(self, path, name, parameters, tokens, static):
        self.path, self.name, self.tokens, self.static = path, name, tokens, static
        self.parameters = [next((t.text for t in reversed(p) if t.kind == "word"), "...")
                           for p in parameters]

    @functools.cached_property
    def body(self):
        return parse_statements(self.tokens, 0, len(self.tokens))


def functions_of(path, tokens):
    at, start = 0, 0
    while at < len(tokens):
        token = tokens[at]
        if token.is_mark("{"):
            last = close_of(tokens, at)
            back = at - 1
            if tokens[back].is_mark(")"):
                depth = 0
                while back >= 0:
                    depth += tokens[back].is_mark(CLOSE) - tokens[back].is_mark(OPEN)
                    if depth == 0:
                        break
                    back -= 1
                yield Function(path, tokens[back - 1].text, arguments_of(tokens, back),
                               tokens[at + 1:last],
                               any(t.text == "static" for t in tokens[start:back]))
            at = start = last + 1
        elif token.is_mark("(["):
            at = close_of(tokens, at) + 1
        else:
            if token.is_mark(";"):
                start = at + 1
            at += 1


def calls_in(tokens, names=None):
    for i, token in enumerate(tokens[:-1]):
        if token.kind == "word" and tokens[i + 1].is_mark("(") and \
                (names is None or token.text in names):
            yield i, token


class Message:
    def __init__(self, path, line, function, kind):
        self.path, self.line, self.function, self.kind = path, line, function, kind
        self.code, self.texts, self.words, self.remedy, self.advice = "", [], [], "", []

    def place(self):
        return f"{self.path}:{self.line}"


class Source:
    """All of src/, read once."""

    def __init__(self, root):
        self.root, self.files, self.functions, self.defines = root, {}, [], {}
        self.macros, shared = [], {}
        for path in sorted((root / "src").rglob("*.[ch]")):
            name = path.relative_to(root).as_posix()
            text = path.read_text()
            self.files[name] = tokenise(text)
            self.macros += [f"{name}: a macro makes a message, where it cannot be listed: {line}"
                            for line in directives(text) if MAKER_CALL.search(line)]
            self.defines[name] = {
                m.group(1): literal(m.group(2)) for m in
                re.finditer(r'^#\s*define\s+(\w+)\s+("(?:\\.|[^"\\\n])*")\s*$', text, re.M)}
            self.functions += functions_of(name, self.files[name])
        for name, own in self.defines.items():
            if name.endswith(".h"):
                shared.update(own)
        self.defines = {name: {**shared, **own} for name, own in self.defines.items()}
        self.by_name, self.callers = {}, {}
        for function in self.functions:
            self.by_name.setdefault(function.name, []).append(function)
            for i, token in calls_in(function.tokens):
                self.callers.setdefault(token.text, []).append((function, i, token))

    def find(self, caller, name):
        """The function that a call refers to: a static one of the file comes first."""
        found = self.by_name.get(name, [])
        return next((f for f in found if f.path == caller.path), None) or \
            next((f for f in found if not f.static), None)


class Remedies:
    """Which functions set a remedy on every path."""

    def __init__(self, source):
        self.source, self.setters, names = source, set(), set(REMEDY)
        while names:
            callers = {c[0] for name in names for c in source.callers.get(name, ())}
            more = {f for f in callers if f not in self.setters and f.name not in MAKERS and
                    self.always(f, f.body)}
            self.setters |= more
            names = {f.name for f in more}

    def sets(self, function, names):
        """Whether a call by one of the names sets a remedy."""
        return any(name in REMEDY or self.source.find(function, name) in self.setters
                   for name in names)

    def always(self, function, statements):
        """Whether these statements set a remedy on (nearly) every path."""
        for statement in statements:
            if statement.kind == "plain" and self.sets(function, statement.calls):
                return True
            if statement.kind == "block" and self.always(function, statement.parts):
                return True
            if statement.kind == "if" and (
                    self.sets(function, statement.calls) or len(statement.parts) == 2 and
                    all(self.always(function, [part]) for part in statement.parts)):
                return True
        return False

    def follows(self, function, statements, at):
        """Whether a remedy is set after the token with index at, or around it."""
        for i, statement in enumerate(statements):
            if any(token is at for token in statement.head):
                if self.around(function, statement.head, at):
                    return True
                return self.after(function, statement, statements[i + 1:])
            for part in statement.parts:
                held = self.follows(function, [part] if part.kind != "block" else part.parts, at)
                if held is None:
                    continue
                return held or self.after(function, self.last_of(part), statements[i + 1:])
        return None

    @staticmethod
    def last_of(part):
        while part.kind == "block" and part.parts:
            part = part.parts[-1]
        return part

    def after(self, function, statement, rest):
        leaves = statement.kind == "plain" and statement.head and statement.head[0].text == "return"
        return not leaves and self.always(function, rest)

    def around(self, function, tokens, at):
        """Whether the call at a token is an argument of one that sets a remedy."""
        for i, token in calls_in(tokens):
            inner = tokens[i + 2:close_of(tokens, i + 1)]
            if any(t is at for t in inner) and self.sets(function, {token.text}):
                return True
        return False


def codes_with_remedies(source):
    """The codes for which src/base/error.c has a remedy, whatever failed."""
    tokens = source.files.get("src/base/error.c", [])
    return {tokens[i].text for i in range(len(tokens) - 2)
            if tokens[i + 1].is_mark(",") and tokens[i + 2].text == "ABOUT_ANYTHING"}


class Lister:
    def __init__(self, root):
        self.source = Source(root)
        self.remedies = Remedies(self.source)
        self.codes = codes_with_remedies(self.source)
        self.messages, self.errors = [], list(self.source.macros)
        self.makers = dict(MAKERS)
        for function in self.source.functions:
            self.add_maker(function)
        self.carriers = {}  # (path, function): parameters that become words of a message

    def run(self):
        for function in self.source.functions:
            self.list_made(function)
        self.list_carried()
        self.list_printed()
        self.list_notes()
        self.check_streams()
        self.check_tables()
        self.messages.sort(key=lambda m: (m.path, m.line))

    def add_maker(self, function):
        """A function that takes a format and makes a message of it is one more way to do so."""
        if function.parameters[-1:] == ["..."] and "format" in function.parameters and \
                any(True for _ in calls_in(function.tokens, MAKERS)):
            self.makers.setdefault(function.name, (None, function.parameters.index("format")))

    def list_made(self, function):
        if function.name in self.makers or function.path == "src/base/error.c":
            return
        for i, token in calls_in(function.tokens):
            code, text = OWN_MAKERS.get((function.path, token.text)) or \
                self.makers.get(token.text, (None, None))
            if text is None:
                continue
            arguments = arguments_of(function.tokens, i + 1)
            message = Message(function.path, token.line, function, token.text)
            message.code = plain(arguments[code]).replace(" ", "") if code else ""
            message.texts = texts_of(arguments[text], self.source.defines[function.path])
            message.remedy = self.remedy_of(message, token)
            message.advice = self.advice_of(function, i)
            for argument in arguments[text:]:
                self.follow(function, argument, message, argument is arguments[text])
            self.messages.append(message)

    def advice_of(self, function, at):
        """The text of the remedy that is set around a message, or next after it."""
        for i, token in calls_in(function.tokens, REMEDY):
            last = close_of(function.tokens, i + 1)
            if i < at < last or i > at:
                arguments = arguments_of(function.tokens, i + 1)
                return texts_of(arguments[REMEDY[token.text]],
                                self.source.defines[function.path])
        return []

    def remedy_of(self, message, token):
        if message.kind in ("remark", "command_note"):
            return "note"
        if (message.path, message.kind) in OWN_MAKERS:
            return "own"
        if self.remedies.follows(message.function, message.function.body, token):
            return "own"
        if message.kind == "command_misused":
            return "usage"
        if message.kind == "error_prefix":
            return "kept"
        if message.kind in ("error_errno", "error_file"):
            return "system"
        if message.kind not in MAKERS:
            return "own"
        if message.code.removeprefix("-") in self.codes:
            return "code"
        if not re.fullmatch(r"-E[A-Z0-9]+", message.code) and "ENOMEM" in self.codes and \
                any(re.search(r"(no|out of) memory", text) for text in message.texts):
            return "code"
        for table, word in ((BEHIND, "behind"), (INSIDE, "inside")):
            through = through_of(message.path, table)
            if through:
                return f"{word} {through[1]}()"
        return ""

    def follow(self, function, argument, message, is_text):
        """What can be inserted into a message: literals, parameters, results of functions."""
        if not is_text:
            message.words += texts_of(argument, self.source.defines[function.path])
        elif not message.texts:
            message.words.append("")
        for i, token in enumerate(argument):
            if token.kind != "word" or i > 0 and argument[i - 1].text in ("->", "."):
                continue
            called = i + 1 < len(argument) and argument[i + 1].is_mark("(")
            if called:
                message.words += self.answers(function, token.text)
            elif token.text in function.parameters:
                at = function.parameters.index(token.text)
                self.carriers.setdefault((function.path, function.name), (function, {}))[1] \
                    .setdefault(at, message)
            else:
                message.words += self.assigned(function, token.text)

    def answers(self, function, name):
        """The texts that a function of ours can return."""
        called = self.source.find(function, name)
        found = []
        for statement in walk(called.body) if called else ():
            if statement.kind == "plain" and statement.head[0].text == "return":
                found += texts_of(statement.head, self.source.defines[called.path])
        return [text for text in found if " " in text]

    def assigned(self, function, name):
        found = []
        for statement in walk(function.body):
            head = statement.head
            for i in range(len(head) - 1):
                if head[i].text == name and head[i + 1].is_mark("=") and statement.kind == "plain":
                    found += texts_of(head[i + 2:], self.source.defines[function.path])
        return [text for text in found if " " in text]

    def list_carried(self):
        """Words that a caller passes to a function that makes a message of them."""
        done = set()
        while set(self.carriers) - done:
            key = sorted(set(self.carriers) - done)[0]
            done.add(key)
            made, places = self.carriers[key]
            for function, i, token in self.source.callers.get(made.name, ()):
                if self.source.find(function, made.name) is not made:
                    continue
                arguments = arguments_of(function.tokens, i + 1)
                for at, through in sorted(places.items()):
                    if at < len(arguments):
                        self.carry(function, token, arguments[at], through)

    def carry(self, function, token, argument, through):
        message = Message(function.path, token.line, function, "words")
        message.remedy = f"as {through.place()}"
        message.through = through
        self.follow(function, argument, message, False)
        message.texts = [word for word in message.words if " " in word]
        message.words = []
        if message.texts:
            self.messages.append(message)

    def list_printed(self):
        """Every literal that begins as a message does."""
        for path, tokens in self.source.files.items():
            for i, token in enumerate(tokens):
                starts = token.kind == "string" and (i == 0 or tokens[i - 1].kind != "string")
                if not starts or not re.match(r"\r?wick: ", literal(token.text)):
                    continue
                last = i
                while tokens[last].kind == "string" or tokens[last].text.startswith("PRI") or \
                        tokens[last].text in self.source.defines[path]:
                    last += 1
                function = next((f for f in self.source.functions if f.path == path and
                                 any(t is token for t in f.tokens)), None)
                message = Message(path, token.line, function, "printed")
                message.texts = texts_of(tokens[i:last], self.source.defines[path])
                message.remedy = "note"
                self.messages.append(message)

    def list_notes(self):
        """Texts that are stored and printed later."""
        for function, i, token in self.source.callers.get("snprintf", ()):
            arguments = arguments_of(function.tokens, i + 1)
            if not any(t.text in NOTES for t in arguments[0]) and \
                    not self.is_told(function, arguments[0]):
                continue
            message = Message(function.path, token.line, function, "note")
            message.remedy = "note"
            message.texts = texts_of(arguments[2], self.source.defines[function.path])
            for argument in arguments[3:]:
                self.follow(function, argument, message, False)
            self.messages.append(message)

    @staticmethod
    def is_told(function, place):
        """Whether a text is passed to a function that a command provided for its notes."""
        for i, token in calls_in(function.tokens, {"notice", "warn", "tell"}):
            told = arguments_of(function.tokens, i + 1)[-1]
            if len(place) == 1 and [t.text for t in told] == [place[0].text]:
                return True
        return False

    def check_tables(self):
        """Checks that the functions named in the tables exist and do what the tables say."""
        known = {(f.path, f.name): f for f in self.source.functions}
        for table in (BEHIND, INSIDE, NAMED):
            for place, through in table.items():
                function = known.get(through)
                if not function:
                    self.errors.append(f"{through[0]}: there is no {through[1]}(), which is to "
                                       f"heed the messages of {place}")
                elif table is BEHIND and not any(calls_in(function.tokens, REMEDY)):
                    self.errors.append(f"{through[0]}: {through[1]}() gives no remedy to the "
                                       f"messages of {place}")

    def check_streams(self):
        for path, tokens in self.source.files.items():
            for i, token in enumerate(tokens):
                if token.text == "STDERR_FILENO" and path not in (*STDERR_USERS, *WRITERS):
                    self.errors.append(f"{path}:{token.line}: STDERR_FILENO is used past the "
                                       "command's streams")
                if token.text in ("write", "writev") and tokens[i + 1].is_mark("(") and \
                        tokens[i + 2].kind == "number":
                    self.errors.append(f"{path}:{token.line}: {token.text}() to a fixed number")
                if token.text in ("fopen", "fdopen") and tokens[i + 1].is_mark("(") and \
                        arguments_of(tokens, i + 1)[-1][0].text not in ('"r"', '"re"'):
                    self.errors.append(f"{path}:{token.line}: {token.text}() makes a stream to "
                                       "write to")
                if token.kind == "string" and "/dev/stderr" in token.text:
                    self.errors.append(f"{path}:{token.line}: /dev/stderr is opened")
            for i, token in calls_in(tokens, FORBIDDEN | set(STREAM_OF)):
                if tokens[i - 1].is_mark("*") or tokens[i - 1].text in ("->", ".", "int", "void"):
                    continue
                here = f"{path}:{token.line}"
                if path in WRITERS:
                    continue
                if token.text in FORBIDDEN and self.source.by_name.get(token.text) is None:
                    self.errors.append(f"{here}: {token.text}() prints past the command's streams")
                elif token.text in STREAM_OF and not path.startswith("src/cli/"):
                    self.errors.append(f"{here}: {token.text}() outside of src/cli: return an "
                                       "error, or hand a note to whoever prints")
            for token in tokens:
                if token.text == "stderr" and path not in WRITERS and path != "src/cli/main.c":
                    self.errors.append(f"{path}:{token.line}: stderr is for src/cli/main.c, which "
                                       "hands it on")


def walk(statements):
    for statement in statements:
        if statement.head:
            yield statement
        yield from walk(statement.parts)


def through_of(path, *tables):
    """The function that all messages of a file pass through, if there is one."""
    for table in tables:
        for place in (path, path.rsplit("/", 1)[0] + "/"):
            if place in table:
                return table[place]
    return None


def check(message):
    """The faults of a message, in words."""
    for text in message.texts:
        said = re.sub(r"^\r?wick: ", "", text)
        first = said.split("\n")[0]
        if re.match(r"[A-Z][a-z]", first) and message.kind != "words":
            yield f"begins with a capital: {text!r}"
        if re.search(r"[a-z)]\.$", first):
            yield f"ends with a full stop: {text!r}"
        if message.kind in ("error_prefix", "remark", "command_note") or message.kind not in MAKERS or \
                through_of(message.path, BEHIND, INSIDE, NAMED):
            continue
        if not CONVERSION.search(text) and not NOUNS.search(text):
            yield f"names no thing: {text!r}"
    if not message.remedy:
        yield f"has no remedy: {' / '.join(message.texts)!r}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="print what is wrong")
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=ROOT)
    options = parser.parse_args()
    lister = Lister(options.root)
    lister.run()
    errors = list(lister.errors)
    kinds = {}
    for message in lister.messages:
        errors += [f"{message.place()}: {word}" for word in check(message)]
        sort = message.remedy.split(" ")[0] or "none"
        kinds[sort] = kinds.get(sort, 0) + 1
        if not options.check:
            print(f"{message.place()} {message.kind} {message.code} [{message.remedy or 'none'}]")
            for text in message.texts:
                print(f"    {text!r}")
            for word in message.words:
                print(f"        with {word!r}")
            for advice in message.advice if message.remedy == "own" else ():
                print(f"      -> {advice!r}")
    if options.check:
        print("\n".join(errors))
    print(f"{len(lister.messages)} messages: " +
          ", ".join(f"{n} {k}" for k, n in sorted(kinds.items())), file=sys.stderr)
    return 1 if options.check and errors else 0


if __name__ == "__main__":
    sys.exit(main())

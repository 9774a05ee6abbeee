# SPDX-License-Identifier: BSD-2-Clause
"""Runs every example of the documents and of --help, in order, in a folder for each document.

./app is a program of tests/workloads, 1234 a running process; app.wick and other files exist. In ```console
blocks a line "$ wick ..." is a command and the lines after it are its output, in which "…" marks what was
left out. Numbers, addresses and paths differ between machines, so only words that do not differ
are compared: rows of a table may differ, its header may not.
"""
import os
import pathlib
import re
import shutil
import subprocess

import pytest
from conftest import BUILD, REFUSAL, ROOT, WICK, WORKLOADS
from documents import DOCUMENTS, console_commands, examples_of, unmarked

TABLE_HEADS = ("self   total", "total    self", "share       total", "------- self", "class      confidence")
VERDICTS = {"ok", "limited", "no", "sudo"}  # of wick doctor: the machine decides
# Nobody waits for as long as a reader would.
SHORTER = ((re.compile(r"-d \d+s?\b"), "-d 0.2"), (re.compile(r"--interval \d+s\b"), "--interval 0.2s"),
           (re.compile(r"examples/demo( 1)?$", re.MULTILINE), "examples/demo 0.7"))
EXAMPLES = [block for document in DOCUMENTS for block in examples_of(document)]
# Examples of --help that are not run, and why: only their options are looked at.
HELP_NOT_RUN = {
    "wick top -p 1234": "takes over the terminal",
    "sudo wick top -a": "takes over the terminal",
    "sudo wick top --mode offcpu -p 1234": "takes over the terminal",
    "wick sample 1234": "goes on until Ctrl-C",
    "wick status": "needs a recording under way",
    "wick status 1234 --pause": "needs a recording under way",
    "wick status 1234 --resume": "needs a recording under way",
    "wick annotate app.wick '/^Parser::/'": "the program is in C",
    "wick report --by lock app.wick": "needs a recording of time off the CPUs",
    "wick help --man config | man -l -": "man is not installed everywhere",
    "wick export --format samples app.wick | jq .comm": "jq is not installed everywhere",
    "sudo wick agent --once 60s -o window.wick": "takes a minute",
    "sudo wick agent --server https://wick.example.org:4040 --token-file /etc/wick/token":
        "goes on until it is stopped",
}
# Commands none of whose examples are run, and why.
HELP_COMMANDS_NOT_RUN = {
    "serve": "goes on until it is stopped",
    "relay": "goes on until it is stopped",
    "server": "goes on until it is stopped",
    "query": "needs a server with history: see test_server.py",
    "burst": "needs a server with agents",
    "token": "changes the tokens of this machine's server",
}
HELP_TRIPS = ("wick heap --fail-on definite",)


def cgroup2():
    """Where cgroup2 is mounted, or None."""
    for line in pathlib.Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines():
        if line.split()[2] == "cgroup2":
            return line.split()[1]
    return None


def ebpf_works():
    done = subprocess.run([WICK, "doctor"], capture_output=True, text=True, check=False)
    return os.geteuid() == 0 and re.search(r"^ok +eBPF", done.stdout, re.MULTILINE)


NEEDS = {
    "root": lambda: os.geteuid() == 0,
    "ebpf": ebpf_works,
    "perf": lambda: not REFUSAL and shutil.which("perf"),
    "go": lambda: shutil.which("go"),
    "ruby": lambda: shutil.which("ruby"),
    "cc": lambda: shutil.which("cc") and shutil.which("pkg-config"),
    "cgroup2": lambda: os.geteuid() == 0 and cgroup2(),
    "rights": lambda: os.geteuid() == 0,
}


@pytest.fixture(scope="module")
def available():
    """Whether something is available; checked once."""
    answers = {}

    def ask(word):
        if word not in answers:
            answers[word] = bool(NEEDS[word]())
        return answers[word]
    return ask


def run_in(place, command, pid=None):
    """Runs a script as a reader would type it, with stand-ins for what is missing here."""
    for pattern, shorter in SHORTER:
        command = pattern.sub(shorter, command)
    if pid:
        command = re.sub(r"\b1234\b", str(pid), command)
        command = command.replace("--name nginx", "--name app")
    command = re.sub(r"/system\.slice\b", "/", command)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("WICK")}
    environment |= {"PATH": f"{place}/bin:{environment['PATH']}", "HOME": str(place), "XDG_CONFIG_HOME": str(place),
                    "LC_ALL": "C.UTF-8", "LD_LIBRARY_PATH": f"{place}/lib", "PKG_CONFIG_PATH": f"{place}/lib",
                    "GOCACHE": f"{place}/go"}
    return subprocess.run(["bash", "-e", "-c", command], cwd=place, env=environment, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    """The files that examples use, created once."""
    folder = tmp_path_factory.mktemp("recordings")
    app = WORKLOADS / "app"

    def wick(*words):
        subprocess.run([WICK, *words], cwd=folder, check=True, capture_output=True)
    wick("record", "-q", "--heap", "-o", "app.wick", "--", app, "3")
    wick("heap", "-q", "--leaks", "-o", "heap.wick", "--", app, "3")
    for name in ("old", "new", "monday", "tuesday", "old-1", "old-2", "old-3"):
        (folder / f"{name}.wick").symlink_to("app.wick")
    for name in ("old", "new"):
        wick("export", "--format", "pprof", "heap.wick", "-o", f"{name}.pb.gz")
    wick("export", "--format", "pprof", "app.wick", "-o", "cpu.pb.gz")
    wick("export", "--format", "folded", "app.wick", "-o", "stacks.folded")
    (folder / "addresses").write_text("0x1000\n", encoding="ascii")
    if NEEDS["perf"]():
        subprocess.run(["perf", "record", "-q", "-g", "-o", "perf.data", app], cwd=folder, check=True)
    return folder


@pytest.fixture(scope="module")
def places(tmp_path_factory, recordings):
    """A folder for each document that looks like a checkout after make, with wick in the PATH."""
    made = {}

    def place_of(name):
        if name in made:
            return made[name]
        place = made[name] = tmp_path_factory.mktemp("place")
        for folder in ("bin", "lib", "include", ".zfunc", ".config/fish/completions"):
            (place / folder).mkdir(parents=True)
        (place / "build").symlink_to(BUILD.resolve())
        for folder in ("examples", "src"):
            (place / folder).symlink_to(ROOT / folder)
        (place / "bin/wick").symlink_to(WICK.resolve())
        (place / "bin/sudo").write_text('#!/bin/sh\nexec "$@"\n', encoding="ascii")
        (place / "bin/sudo").chmod(0o755)
        (place / "app.rb").write_text("puts (1..300000).sum { |number| number * number }\n", encoding="ascii")
        (place / "app.py").write_text("print(sum(number * number for number in range(300000)))\n", encoding="ascii")
        for name in ("app", "app-old", "app-new", "test"):
            shutil.copy(WORKLOADS / "app", place / name)
        for path in recordings.iterdir():
            shutil.copy(path, place / path.name)
        for name in ("libwick.so", "libwick.so.0"):
            (place / "lib" / name).symlink_to(BUILD.resolve() / name)
        (place / "include/wick").symlink_to(ROOT / "include/wick")
        (place / "lib/libwick.pc").write_text(
            f"Name: libwick\nDescription: profiles\nVersion: 1\nCflags: -I{place}/include\nLibs: -L{place}/lib -lwick\n",
            encoding="utf-8")
        return place
    return place_of


@pytest.fixture(scope="module")
def server(places):
    """The process that documents call 1234."""
    process = subprocess.Popen([places("server") / "app", "--serve"], stdin=subprocess.DEVNULL)
    yield process.pid
    process.kill()
    process.wait()


def words_of(lines):
    """The first word of every shown line that is the same on every machine."""
    words = set()
    for line in lines:
        match = re.match(r"\s*([a-z]+[:;]?)(?=\s|$)", line)
        if match and "…" not in line:
            words.add(match.group(1))
    return words - VERDICTS


def check_console(place, body, pid):
    for command, shown in console_commands(body):
        done = run_in(place, command, pid)
        output = done.stdout + done.stderr
        assert done.returncode == 0, f"$ {command}\n{output}"
        missing = words_of(shown) - words_of(output.splitlines())
        assert not missing, f"$ {command}\ndoes not say {missing}:\n{output}"
        functions = re.findall(r"(\w+) (?: *(?:demo|app)|\((?:demo|app)\))$", "\n".join(shown), re.MULTILINE)
        assert all(re.search(rf"\b{name} +\(?(demo|app)\)?$", output, re.MULTILINE) for name in functions), output
        for head in TABLE_HEADS:
            assert any(head in line for line in shown) <= (head in output), f"$ {command}\n{output}"


def check_c(place, body, pid):
    """A program is compiled with the library and run."""
    name = re.match(r"/\* (\w+)\.c", body)
    source = place / f"{name[1] if name else 'example'}.c"
    body = re.sub(r"duration_ns = \d+", "duration_ns = 200000000", body)
    source.write_text(re.sub(r"\b1234\b", str(pid), body), encoding="utf-8")
    done = run_in(place, f"cc -Wall -Wextra -Werror -o {source.stem} {source.name} $(pkg-config --cflags --libs libwick) && "
                  f"./{source.stem}")
    assert done.returncode == 0, f"{source.name}:\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("block", EXAMPLES, ids=lambda block: f"{block.document}:{block.line}")
def test_an_example_of_a_document_works(block, places, server, available):
    if block.not_run:
        assert len(block.not_run.split()) > 1, "a reason has more than one word"
        pytest.skip(f"not run: {block.not_run}")
    needs = [*block.needs, *(["rights"] if "sudo " in block.body else []), *(["cc"] if block.language == "c" else [])]
    for word in needs:
        if not available(word):
            pytest.skip(f"needs {word}")
    place = places(block.document)
    if block.language == "console":
        check_console(place, block.body, server)
    elif block.language == "c":
        check_c(place, block.body, server)
    else:
        done = run_in(place, block.body, server)
        assert done.returncode in block.statuses, f"{block.body}\nstatus {done.returncode}\n{done.stdout}{done.stderr}"


def test_the_tour_leaves_a_flame_graph(places):
    svg = places(pathlib.Path("README.md")) / "demo.svg"
    if not svg.exists():
        pytest.skip("the tour was not run")
    assert "</svg>" in svg.read_text(encoding="utf-8")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_blocks_of_a_document_are_examples_or_pictures(document):
    assert not unmarked(document)


# Of --help, and so of the manual pages

def help_examples(command):
    text = subprocess.run([WICK, *([command] if command else []), "--help"], capture_output=True, text=True, check=True,
                          env={**os.environ, "COLUMNS": "200"}).stdout
    return re.findall(r"^  (\S.*)$", text.partition("\nExamples:\n")[2].partition("\n\n")[0], re.MULTILINE)


def commands():
    text = subprocess.run([WICK, "--help"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^  ([a-z-]+) ", text.partition("Commands:\n")[2].partition("\n\n")[0], re.MULTILINE)


@pytest.mark.parametrize("command", commands())
def test_examples_of_the_help_work(command, places, server, available):
    examples = help_examples(command)
    assert len(examples) >= 2
    place = places(f"help {command}")
    if command in ("leaks", "heap-report"):
        shutil.copy(place / "heap.wick", place / "app.wick")
    for example in examples:
        if example in HELP_NOT_RUN or command in HELP_COMMANDS_NOT_RUN:
            done = run_in(place, re.split("[|<>]", example)[0] + " --help")
        elif ("sudo " in example or "heap -p" in example) and not available("ebpf") or \
                "--cgroup" in example and not available("cgroup2") or \
                "perf.data" in example and not available("perf"):
            continue
        else:
            done = run_in(place, example, server)
        trips = example.startswith(HELP_TRIPS)
        assert done.returncode == (3 if trips else 0), f"$ {example}\n{done.stdout}{done.stderr}"


def test_the_first_steps_of_the_help_work(places, server, available):
    for example in help_examples(None):
        if "sudo " not in example or available("ebpf"):
            done = run_in(places("first steps"), example, server)
            assert done.returncode == 0, f"$ {example}\n{done.stdout}{done.stderr}"

# SPDX-License-Identifier: BSD-2-Clause
"""Java, Node and Go: functions of real programs have names, and what wick says without the flag.

test_jit.py runs Node with its flags.
"""
import contextlib
import os
import pathlib
import shutil
import subprocess

import contract
import pytest

JAVA = """
public class Hot {
    static long inner(long n) {
        long x = n;
        for (int i = 0; i < 20000; i++)
            x = x * 31 + i;
        return x;
    }
    static long outer(long n) { return inner(n) + 1; }
    public static void main(String[] arguments) {
        long end = System.nanoTime() + 1_500_000_000L, x = 0;
        while (System.nanoTime() < end)
            x += outer(x);
        System.out.println("{\\"pid\\":" + ProcessHandle.current().pid() + "}");
        if (x == 42)
            System.out.println(x);
    }
}
"""
JAVA_FLAGS = ("-XX:+PreserveFramePointer", "-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit",
              "-XX:-Inline")
NODE = """
function inner(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; return s; }
const end = Date.now() + 1000; let r = 0;
while (Date.now() < end) r ^= inner(100000);
"""
GO = """package main

import "time"

//go:noinline
func inner(n int) int {
	x := n
	for i := 0; i < 20000; i++ {
		x = x*31 + i
	}
	return x
}

//go:noinline
func outer(n int) int {
	return inner(n) + 1
}

func main() {
	end := time.Now().Add(time.Second)
	x := 0
	for time.Now().Before(end) {
		x += outer(x)
	}
	println(x)
}
"""


def need(program):
    path = shutil.which(program)
    if not path:
        pytest.skip(f"{program} is not installed")
    return path


def share_of(recording, name):
    return sum(row["self_percent"] for function, row in contract.functions(recording.report()).items()
               if name in function)


@contextlib.contextmanager
def map_removed(recording):
    """A runtime leaves its list of functions behind."""
    try:
        yield
    finally:
        pathlib.Path(f"/tmp/perf-{recording.truth['pid']}.map").unlink(missing_ok=True)


@pytest.fixture(scope="module")
def java_class(tmp_path_factory):
    java, javac = need("java"), need("javac")
    folder = tmp_path_factory.mktemp("java")
    (folder / "Hot.java").write_text(JAVA)
    subprocess.run([javac, "Hot.java"], cwd=folder, check=True)
    return [java, "-cp", folder]


@pytest.fixture(scope="module", params=((), ("-ldflags=-s -w",)), ids=("symbols", "stripped"))
def go_program(tmp_path_factory, request):
    go = need("go")
    folder = tmp_path_factory.mktemp("go")
    (folder / "hot.go").write_text(GO)
    subprocess.run([go, "build", *request.param, "-o", "hot", "hot.go"], cwd=folder, check=True,
                   env={**os.environ, "GOCACHE": str(folder / "cache"), "GO111MODULE": "off"})
    return folder / "hot"


def test_methods_of_java_have_names_with_the_flag(wick, java_class):
    recording = wick.record([java_class[0], *JAVA_FLAGS, *java_class[1:], "Hot"])
    with map_removed(recording):
        assert share_of(recording, "Hot.inner") > 50


def test_methods_of_java_have_none_without_it(wick, java_class):
    recording = wick.record([*java_class, "Hot"])
    assert share_of(recording, "Hot.inner") == 0
    missing = wick.ok("report", recording.path, "--missing").stdout
    assert "java -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit" in missing


def test_functions_of_node_have_none_without_it(wick):
    (wick.folder / "hot.js").write_text(NODE)
    recording = wick.record([need("node"), "hot.js"])
    assert share_of(recording, "inner") < 1
    assert "node --perf-basic-prof" in wick.ok("report", recording.path, "--missing").stdout


def test_functions_of_go_have_names_lines_and_callers(wick, go_program):
    recording = wick.record([go_program])
    assert share_of(recording, "main.inner") > 50
    folded = wick.ok("export", recording.path, "--format", "folded").stdout
    assert "main.main;main.outer;main.inner" in folded
    rows = {name: row for name, row in contract.functions(recording.report()).items() if name == "main.inner"}
    assert rows["main.inner"]["file"].endswith("hot.go")


def test_the_doctor_names_the_flags(wick):
    text = " ".join(wick.run("doctor").stdout.split())
    assert "has names if its runtime writes them to a file, which needs a flag" in text
    assert "node --perf-basic-prof" in text
    assert "java -XX:+PreserveFramePointer" in text

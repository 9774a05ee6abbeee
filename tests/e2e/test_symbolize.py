# SPDX-License-Identifier: BSD-2-Clause
"""wick symbolize: addresses of files and of processes, in addr2line's format and as JSON."""
import json
import os
import re
import shutil
import subprocess
import zlib

import pytest
from conftest import WICK

SOURCE = """\
static inline __attribute__((always_inline)) int inner(volatile int *at)
{
	return *at * 3;
}
__attribute__((noinline)) int outer(volatile int *at)
{
	int a = inner(at);
	return a + 1;
}
int second(volatile int *at) { return *at + 2; }
"""
MAIN = """\
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int outer(volatile int *at);
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		void *library = dlopen(argv[i], RTLD_NOW);
		printf("%p\\n", library ? dlsym(library, "outer") : 0);
	}
	fflush(stdout);
	for (;;)
		pause();
}
"""
CC = shutil.which("cc") or "cc"


def compile_c(folder, name, *options, source=SOURCE):
    (folder / f"{name}.c").write_text(source)
    path = folder / name
    subprocess.run([CC, "-g", "-O2", "-o", path, folder / f"{name}.c", *options], check=True)
    return path


def library(folder, name, *options, **kwargs):
    return compile_c(folder, name, "-shared", "-fPIC", *options, **kwargs)


def symbol(path, name):
    for line in subprocess.run(["nm", path], capture_output=True, text=True,
                               check=True).stdout.splitlines():
        words = line.split()
        if len(words) == 3 and words[2] == name:
            return int(words[0], 16)
    raise AssertionError(f"no {name} in {path}")


def without_debug(path, *options):
    """Splits debug information off; returns its file."""
    debug = path.with_name(path.name + ".debug")
    subprocess.run(["objcopy", "--only-keep-debug", path, debug], check=True)
    subprocess.run(["objcopy", "--strip-all", *options, path], check=True)
    return debug


def answers(wick, *args, **options):
    done = wick.ok("symbolize", "--no-cache", "--format", "json", *args, **options)
    return [json.loads(line) for line in done.stdout.splitlines()]


def chain(answer):
    return [(frame["function"], os.path.basename(frame["file"] or ""), frame["line"])
            for frame in answer["frames"]]


@pytest.fixture
def lib(tmp_path):
    return library(tmp_path, "libone.so")


INLINED = [("inner", "libone.so.c", 3), ("outer", "libone.so.c", 7)]
WHERE = ["-fia", "-fi", "-f", "-i", "-fs", "-a", ""]


@pytest.mark.parametrize("options", WHERE)
def test_the_form_is_that_of_addr2line(wick, lib, options):
    addresses = [hex(symbol(lib, "second")), hex(symbol(lib, "second") + 4)[2:]]
    command = [word for word in (options, "-e", str(lib), *addresses) if word]
    theirs = subprocess.run(["addr2line", *command], capture_output=True, text=True, check=True)
    ours = wick.ok("symbolize", "--no-cache", *command).stdout
    assert ours == re.sub(r" \(discriminator \d+\)", "", theirs.stdout)


def test_pretty_printing_is_that_of_addr2line(wick, lib):
    address = hex(symbol(lib, "second"))
    theirs = subprocess.run(["addr2line", "-fpia", "-e", lib, address], capture_output=True,
                            text=True, check=True).stdout
    assert wick.ok("symbolize", "-fPia", "-e", lib, address).stdout == theirs


def test_addresses_may_count_from_a_section(wick, lib):
    headers = subprocess.run(["readelf", "-SW", lib], capture_output=True, text=True,
                             check=True).stdout
    text = int(re.search(r" \.text +PROGBITS +([0-9a-f]+)", headers)[1], 16)
    command = ["-fa", "-j", ".text", "-e", str(lib), hex(symbol(lib, "second") - text)]
    theirs = subprocess.run(["addr2line", *command], capture_output=True, text=True, check=True)
    assert wick.ok("symbolize", *command).stdout == theirs.stdout
    result = wick.run("symbolize", "-j.nope", "-e", lib, "0")
    assert (result.returncode, "has no section .nope" in result.stderr) == (1, True)


def test_inlined_calls_come_innermost_first(wick, lib):
    address = hex(symbol(lib, "outer"))
    text = wick.ok("symbolize", "-fisP", "-e", lib, address).stdout
    assert text == "inner at libone.so.c:3\n (inlined by) outer at libone.so.c:7\n"
    assert wick.ok("symbolize", "-fs", "-e", lib, address).stdout == "inner\nlibone.so.c:3\n"


def test_json_tells_all_that_is_known(wick, lib):
    start = symbol(lib, "outer")
    answer, = answers(wick, "-e", lib, hex(start))
    assert chain(answer) == INLINED
    assert [frame["inlined"] for frame in answer["frames"]] == [True, False]
    assert answer["frames"][0]["column"] > 0
    assert answer["quality"] == "full"
    assert answer["module"] == str(lib)
    assert re.fullmatch("[0-9a-f]{40}", answer["build_id"])
    assert answer["signature"].startswith("int inner(")
    assert answer["compilation_unit"].endswith("libone.so.c")
    row = answer["row"]
    assert int(row["start"], 16) <= start < int(row["end"], 16)
    assert {"is_stmt", "prologue_end", "epilogue_begin"} < set(row)


def test_input_is_answered_while_it_comes(wick, lib, background):
    process = subprocess.Popen([str(WICK), "symbolize", "-fs", "-e", str(lib)], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        for _ in range(2):
            process.stdin.write(f"  {symbol(lib, 'second'):x}\r\n\n")
            process.stdin.flush()
            assert process.stdout.readline() == "second\n"
            assert process.stdout.readline() == "libone.so.c:10\n"
    finally:
        process.stdin.close()
        process.wait(10)
        process.stdout.close()


def test_a_million_lines_take_bounded_memory(wick, lib):
    place = symbol(lib, "outer")
    text = "".join(f"{place + i % 16:x}\n{0x10000000 + i:x}\n" for i in range(500000))
    done = wick.ok("symbolize", "-v", "-e", lib, input=text)
    assert done.stdout.count("\n") == 1000000
    assert float(re.search(r"([\d.]+) MB", done.stderr)[1]) < 20


def test_what_is_no_address_is_told_and_the_rest_is_answered(wick, lib):
    good = hex(symbol(lib, "second"))
    done = wick.run("symbolize", "-fs", "-e", lib, input=f"xyz\n{good}\n\x1b[2J\n" + "f" * 17)
    assert done.returncode == 1
    assert done.stdout == "??\n??:0\nsecond\nlibone.so.c:10\n" + "??\n??:0\n" * 2
    assert done.stderr.splitlines() == ["wick: line 1: xyz is not an address",
                                        "wick: line 3: \\x1b[2J is not an address",
                                        f"wick: line 4: {'f' * 17} is not an address"]


def test_stripped_damaged_and_foreign_addresses_are_told_apart(wick, tmp_path, lib):
    vaddr = symbol(lib, "second")
    damaged = tmp_path / "damaged.so"
    subprocess.run(["objcopy", "--strip-debug", lib], check=True)
    data = bytearray(lib.read_bytes())
    sections = int.from_bytes(data[40:48], "little")
    for i in range(int.from_bytes(data[60:62], "little")):
        head = sections + 64 * i
        if int.from_bytes(data[head + 4:head + 8], "little") in (2, 11):  # symbol tables
            names = sections + 64 * int.from_bytes(data[head + 40:head + 44], "little")
            data[names + 24:names + 32] = (1 << 40).to_bytes(8, "little") # out of the file
    subprocess.run(["strip", lib], check=True)
    subprocess.run(["objcopy", "--remove-section=.dynsym", lib], check=False,
                   stderr=subprocess.DEVNULL)
    inside, outside = answers(wick, "-e", lib, "0x10", "0x12345678")
    assert (inside["quality"], inside["frames"][0]["function"]) == ("stripped", "libone.so+0x10")
    assert outside["quality"] == "invalid"
    assert outside["frames"][0]["function"] == "<invalid address 0x12345678>"
    for broken in (bytes(data), bytes(data)[:sections]):
        damaged.write_bytes(broken)
        answer, = answers(wick, "-e", damaged, hex(vaddr))
        assert answer["quality"] == "corrupted"
        assert answer["frames"][0]["function"] == f"<corrupted>+{vaddr:#x} [damaged.so]"


@pytest.mark.parametrize("where", [".", ".debug"])
def test_a_linked_debug_file_is_found_by_its_checksum(wick, tmp_path, where):
    lib = library(tmp_path, "libone.so", "-Wl,--build-id=none")
    start = hex(symbol(lib, "outer"))
    debug = without_debug(lib)
    subprocess.run(["objcopy", f"--add-gnu-debuglink={debug}", lib], check=True)
    (tmp_path / where).mkdir(exist_ok=True)
    if where != ".":
        debug = debug.rename(tmp_path / where / debug.name)
    assert chain(answers(wick, "-e", lib, start)[0]) == INLINED
    good = zlib.crc32(debug.read_bytes())
    debug.write_bytes(debug.read_bytes() + b"\0")
    assert zlib.crc32(debug.read_bytes()) != good
    assert answers(wick, "-e", lib, start)[0]["frames"][0]["file"] is None


def test_a_debug_file_of_another_build_is_refused(wick, tmp_path):
    lib = library(tmp_path, "libone.so", "-Wl,--build-id=0x0123456789abcdef")
    start = hex(symbol(lib, "outer"))
    (tmp_path / "other").mkdir()
    other = library(tmp_path / "other", "libone.so", "-Wl,--build-id=0x0123456789abcdee")
    right = without_debug(lib)
    wrong = without_debug(other)
    for directory in (tmp_path / "right", tmp_path / "wrong"):
        (directory / ".build-id/01").mkdir(parents=True)
    shutil.move(right, tmp_path / "right/.build-id/01/23456789abcdef.debug")
    shutil.move(wrong, tmp_path / "wrong/.build-id/01/23456789abcdef.debug")
    refused, = answers(wick, "--symbol-path", tmp_path / "wrong", "-e", lib, start)
    assert refused["frames"][0]["file"] is None
    found, = answers(wick, "--symbol-path", tmp_path / "wrong", "--symbol-path",
                     tmp_path / "right", "-e", lib, start)
    assert chain(found) == INLINED


@pytest.fixture
def server(tmp_path):
    """A debuginfod-find that runs the given script, and the environment to use it."""
    def make(script):
        (tmp_path / "bin").mkdir()
        tool = tmp_path / "bin/debuginfod-find"
        tool.write_text(f"#!/bin/sh\necho \"$@\" >> {tmp_path}/asked\n{script}\n")
        tool.chmod(0o755)
        return {**os.environ, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}",
                "DEBUGINFOD_URLS": "http://127.0.0.1:1"}

    return make


def stripped_library(folder):
    lib = library(folder, "libone.so", "-Wl,--build-id=0x0123456789abcdef")
    start = hex(symbol(lib, "outer"))
    return lib, start, without_debug(lib)


def test_a_server_is_asked_only_when_told(wick, tmp_path, server):
    lib, start, debug = stripped_library(tmp_path)
    debug.rename(tmp_path / "elsewhere")
    env = server(f"echo {tmp_path}/elsewhere")
    assert answers(wick, "-e", lib, start, env=env)[0]["frames"][0]["file"] is None
    assert not (tmp_path / "asked").exists()
    found, = answers(wick, "--debuginfod", "-e", lib, start, env=env)
    assert chain(found) == INLINED
    assert (tmp_path / "asked").read_text() == "debuginfo 0123456789abcdef\n"


def test_a_server_that_lies_is_not_believed(wick, tmp_path, server):
    lib, start, _ = stripped_library(tmp_path)
    (tmp_path / "other").mkdir()
    other = library(tmp_path / "other", "libone.so")
    env = server(f"echo {other}")
    found, = answers(wick, "--debuginfod", "-e", lib, start, env=env)
    assert found["frames"][0]["file"] is None


@pytest.mark.parametrize("script, complaint", [
    ("exec sleep 60", "wick: debuginfod took too long; wick does not ask it again\n"),
    ("exit 1", "")])
def test_a_server_that_fails_costs_no_more_than_its_time(wick, tmp_path, server, script, complaint):
    lib, start, debug = stripped_library(tmp_path)
    debug.unlink()
    done = wick.ok("symbolize", "--no-cache", "--debuginfod", "--debuginfod-limit", "300ms", "-fe",
                   lib, start, env=server(script), timeout=10)
    assert done.stdout == "outer\n??:0\n"
    assert complaint in done.stderr


@pytest.fixture
def host(tmp_path, background):
    """Starts a program that loads libraries; returns it and where their outer() is."""
    program = compile_c(tmp_path, "host", source=MAIN)

    def start(*libraries):
        process = background([str(program), *map(str, libraries)])
        return process, [int(process.stdout.readline(), 16) for _ in libraries]

    return start


def test_addresses_of_a_process_are_moved_back(wick, lib, host):
    for _ in range(2):  # at another place each time
        process, (address,) = host(lib)
        answer, = answers(wick, "-p", process.pid, hex(address))
        assert chain(answer) == INLINED
        assert int(answer["vaddr"], 16) == symbol(lib, "outer") != address


def test_two_copies_of_a_library_are_told_apart(wick, tmp_path, lib, host):
    copy = tmp_path / "copy.so"
    shutil.copy(lib, copy)
    process, places = host(lib, copy)
    assert places[0] != places[1]
    found = answers(wick, "-p", process.pid, *map(hex, places))
    assert [answer["module"] for answer in found] == [str(lib), str(copy)]
    assert [chain(answer) for answer in found] == [INLINED, INLINED]


@pytest.mark.root
def test_a_library_replaced_while_mapped_is_the_mapped_one(wick, tmp_path, lib, host):
    process, (address,) = host(lib)
    (tmp_path / "new").mkdir()
    new = library(tmp_path / "new", "libone.so", source="int unrelated;\n" * 3 + SOURCE)
    os.replace(new, lib)
    assert chain(answers(wick, "-p", process.pid, hex(address))[0]) == INLINED
    lib.unlink()
    assert chain(answers(wick, "-p", process.pid, hex(address))[0]) == INLINED


def test_a_process_that_is_not_there_is_told(wick):
    done = wick.run("symbolize", "-p", "4194303", "0x10")
    assert done.returncode == 1
    assert "4194303" in done.stderr


@pytest.mark.parametrize("args", [[], ["-e", "x", "-p", "1"]])
def test_one_of_a_file_and_a_process_must_be_given(wick, args):
    assert wick.run("symbolize", *args, "0x10").returncode == 2


def test_names_with_control_bytes_do_nothing_to_a_terminal(wick, tmp_path):
    lib = library(tmp_path, "a.so", "-g0")
    place = hex(symbol(lib, "second"))
    subprocess.run(["objcopy", "--redefine-sym", "second=\x1b[2J", lib], check=True)
    text = wick.ok("symbolize", "-f", "-e", lib, place).stdout
    assert text == "\\x1b[2J\n??:0\n"
    assert answers(wick, "-e", lib, place)[0]["frames"][0]["function"] == "\x1b[2J"


def kept(cache):
    return sorted((cache / "wick/symbols").glob("*.symbols"))


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def symbolize_all(wick, lib, cache, *options):
    start = symbol(lib, "outer")
    lines = "".join(f"{start + i:x}\n" for i in range(0, 4096))
    return wick.ok("symbolize", "-fi", "-v", *options, "-e", lib, input=lines,
                   env={**os.environ, "XDG_CACHE_HOME": str(cache)})


@pytest.fixture
def large(tmp_path):
    functions = "".join(f"int f{i}(volatile int *at) {{ return inner(at) + {i}; }}\n"
                        for i in range(400))
    return library(tmp_path, "liblarge.so", source=SOURCE + functions)


def test_a_second_look_is_answered_from_disk(wick, large, cache):
    first = symbolize_all(wick, large, cache)
    second = symbolize_all(wick, large, cache)
    assert second.stdout == first.stdout
    assert re.search(r"0\.0 % from disk", first.stderr)
    assert float(re.search(r"([\d.]+) % from disk", second.stderr)[1]) > 90
    assert len(kept(cache)) == 1
    assert (cache / "wick/symbols").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("damage", ["cut", "flip", "foreign", "empty"])
def test_a_damaged_cache_is_ignored_and_written_anew(wick, large, cache, damage):
    first = symbolize_all(wick, large, cache)
    path, = kept(cache)
    whole = path.read_bytes()
    path.write_bytes({"cut": whole[:-9], "flip": whole[:500] + b"\xff\xff\xff" + whole[503:],
                      "foreign": b"#!/bin/sh\n" * 50, "empty": b""}[damage])
    again = symbolize_all(wick, large, cache)
    assert again.stdout == first.stdout
    assert path.read_bytes() == whole


def test_the_cache_can_be_left_alone(wick, large, cache):
    symbolize_all(wick, large, cache, "--no-cache")
    assert not kept(cache)


def test_a_forged_build_id_renames_no_function_of_another_file(wick, large, tmp_path, cache):
    forged = tmp_path / "libforged.so"
    forged.write_bytes(large.read_bytes().replace(b"outer", b"other"))
    os.utime(forged, ns=(large.stat().st_atime_ns, large.stat().st_mtime_ns))
    assert large.stat().st_size == forged.stat().st_size  # build id, headers, size and time are the same
    lines = "".join(f"{symbol(large, 'outer') + i:x}\n" for i in range(512))
    looks = [wick.ok("symbolize", "-fi", "-e", lib, input=lines, env={**os.environ, "XDG_CACHE_HOME": str(cache)}).stdout
             for lib in (forged, large, forged)]
    assert "outer" in looks[1] and "other" not in looks[1]
    assert "other" in looks[0] and "outer" not in looks[0]
    assert looks[2] == looks[0]
    assert len(kept(cache)) == 2

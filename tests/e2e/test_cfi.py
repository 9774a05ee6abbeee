# SPDX-License-Identifier: BSD-2-Clause
"""Compares unwind tables with the output of readelf for the same files, row by row.

A short run checks a sample of libraries, a long one every ELF file under /usr/lib,
and those of the other CPU if a cross compiler has installed them.
"""
import bisect
import os
import pathlib
import re
import subprocess

import pytest

LONG = bool(os.environ.get("WICK_LONG"))
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("WICK_BUILD") or ROOT / "build")
DUMP = BUILD / "tests/tools/cfi_dump"
FOLDERS = ("/usr/lib", "/usr/x86_64-linux-gnu/lib", "/usr/aarch64-linux-gnu/lib")
ALWAYS = ("libc.so", "libpython3", "libLLVM-14", "libstdc++", "libcrypto", "libm.so", "libgcc_s")
SAMPLE = 24  # besides those

X86_REGISTERS = {name: number for number, name in enumerate(
    "rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 ra".split())}
CIE = re.compile(r"^([0-9a-f]+) [0-9a-f]+ [0-9a-f]+ CIE \"(.*?)\" cf=\S+ df=\S+ ra=(\d+)")
FDE = re.compile(r"^[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ FDE cie=([0-9a-f]+) pc=([0-9a-f]+)\.\.([0-9a-f]+)")
ROW = re.compile(r"^([0-9a-f]{16}) (.*)")


class Function:
    """An FDE as readelf shows it: rows are (pc, CFA, RA, FP)."""

    def __init__(self, start, end, cie, weak):
        self.start, self.end, self.cie, self.weak = start, end, cie, weak
        self.rows = []


class Cie(Function):
    def __init__(self, letters, return_column):
        super().__init__(0, 0, None, False)
        self.signal = "S" in letters
        self.return_column = return_column


def read_columns(line, names, frame_pointer):
    # "r1 (rdx)" is one cell: the register that another one is in.
    cells = dict(zip(names, re.sub(r" \(\w+\)", "", line).split()))
    return cells.get("CFA"), cells.get("ra", "u"), cells.get(frame_pointer, "u")


def read_frames(path, frame_pointer):
    """The functions of a file according to readelf, .eh_frame before .debug_frame."""
    process = subprocess.Popen(["readelf", "--debug-dump=frames-interp", path], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    cies, functions, current, names, weak = {}, [], None, [], False
    for line in process.stdout:
        row = ROW.match(line)
        if row and current is not None:
            current.rows.append((int(row[1], 16),
                                 *read_columns(row[2], names, frame_pointer)))
        elif line.startswith("   LOC"):
            names = line.split()[1:]
        elif (match := FDE.match(line)):
            current = Function(int(match[2], 16), int(match[3], 16), cies.get(match[1]), weak)
            functions.append(current)
        elif (match := CIE.match(line)):
            current = cies[match[1]] = Cie(match[2], int(match[3]))
        elif line.startswith("Contents of"):
            weak, cies = ".debug_frame" in line, {}
    process.wait()
    return functions


def code_ranges(path):
    listed = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True, check=False)
    ranges = []
    for line in listed.stdout.splitlines():
        words = line.split()
        if words[:1] == ["LOAD"] and "E" in "".join(words[6:-1]):
            ranges.append((int(words[2], 16), int(words[2], 16) + int(words[5], 16)))
    return ranges


def settle(functions, ranges):
    """What remains of functions that overlap or are not code, by the documented rules of the table compiler."""
    kept = []
    for function in sorted(functions, key=lambda one: one.start):
        if function.start == function.end or function.cie is None:
            continue
        if not any(low <= function.start and function.end <= high for low, high in ranges):
            continue
        last = kept[-1] if kept else None
        if last and function.start == last.start:
            continue
        if last and function.start < last.end:
            if function.weak and not last.weak:
                continue
            last.end = function.start
        kept.append(function)
    return kept


def rows_of(function):
    if not function.rows:
        _, cfa, ra, fp = function.cie.rows[-1]
        return [(function.start, cfa, ra, fp)]
    rows = {}
    for pc, cfa, ra, fp in function.rows:
        if pc < function.end:
            rows[pc] = (pc, cfa, ra, fp)
    return list(rows.values())


class Machine:
    def __init__(self, path):
        header = subprocess.run(["readelf", "-h", path], capture_output=True, text=True,
                                check=False).stdout
        self.known = True
        if "AArch64" in header:
            self.fp, self.sp, self.unset_ra, self.return_column = "x29", "sp", ("lr", "root"), 30
        elif "X86-64" in header:
            self.fp, self.sp, self.unset_ra, self.return_column = "rbp", "rsp", ("root",), 16
        else:
            self.known = False

    @staticmethod
    def register(name):
        return X86_REGISTERS.get(name) if name in X86_REGISTERS else int(name.lstrip("xr"))

    def cfa(self, text):
        """Our notation for a CFA of readelf; None if we may write anything."""
        if text == "exp":
            return None
        name, sign, offset = re.match(r"(\w+)([+-])(\d+)$", text).groups()
        base = {self.sp: "s", self.fp: "f"}.get(name) or f"r{self.register(name)}"
        return f"{base}{sign}{offset}"

    def ra(self, text, return_column):
        # The return address may stay in another register: strlen of glibc for aarch64 keeps it in x15.
        if text == "u" and return_column != self.return_column:
            return (f"r{return_column}",)
        if text == "u":  # readelf shows what is undefined and what was never named alike
            return self.unset_ra
        if text == "s":
            return ("lr",)
        if text in ("exp", "vexp"):
            return None
        if re.match(r"c[+-]", text):
            return (text,)
        return (f"r{self.register(text)}", "lr" if text in ("x30", "ra") else "")

    @staticmethod
    def frame_pointer(text):
        if text in ("u", "s"):
            return ("same", "?")
        if re.match(r"c[+-]", text):
            return (text,)
        return None


def agrees(machine, function, row, ours):
    """True, False, or None if no rule of ours can express what the file says."""
    _, cfa, ra, fp = row
    our_cfa, our_ra, our_fp = ours
    if function.cie.signal:
        return our_cfa == "signal"
    if our_ra == "root":
        return ra == "u"
    wanted_cfa, wanted_ra, wanted_fp = machine.cfa(cfa), machine.ra(ra, function.cie.return_column), machine.frame_pointer(fp)
    if our_cfa == "-":
        return None if wanted_cfa is None or wanted_ra is None else False
    if wanted_cfa is None and our_cfa[0] not in "p*sf":
        return False
    return ((wanted_cfa is None or our_cfa == wanted_cfa)
            and (wanted_ra is None or our_ra in wanted_ra)
            and (wanted_fp is None or our_fp in wanted_fp))


def compare(path):
    """(rows compared, differences, rows that cannot be expressed) of a file."""
    machine = Machine(path)
    if not machine.known:
        return 0, [], 0
    dumped = subprocess.run([DUMP, path], capture_output=True, text=True, check=False)
    if dumped.returncode != 0:
        return 0, [dumped.stderr.strip()], 0
    table = [line.split() for line in dumped.stdout.splitlines()[1:]]
    pcs = [int(words[0], 16) for words in table]
    compared, differences, unsaid, known_pcs = 0, [], 0, set()
    functions = settle(read_frames(path, machine.fp), code_ranges(path))
    for function in functions:
        known_pcs.add(function.end)
        for row in rows_of(function):
            known_pcs.add(row[0])
            place = bisect.bisect_right(pcs, row[0]) - 1
            ours = table[place][1:] if place >= 0 else ["-", "c+0", "same"]
            verdict = agrees(machine, function, row, ours)
            compared += 1
            unsaid += verdict is None
            if verdict is False:
                differences.append(f"{path} {row[0]:x}: readelf {row[1:]}, we {ours}")
    differences += [f"{path} {pc:x}: a row of ours that readelf has not"
                    for pc in pcs if pc not in known_pcs]
    return compared, differences, unsaid


def files_below(folder):
    """All files; links to folders are not followed, since some lead back up."""
    for parent, _, names in os.walk(folder):
        yield from (os.path.join(parent, name) for name in names)


def elf_files(folders=FOLDERS):
    found = {}
    for path in (path for folder in folders for path in files_below(folder)):
        if ".so" not in path and not os.access(path, os.X_OK):
            continue
        real = os.path.realpath(path)
        if real in found or not os.path.isfile(real):
            continue
        with open(real, "rb") as file:
            head = file.read(18)
        # A program or a library: other objects have no addresses yet.
        found[real] = head[:4] == b"\x7fELF" and head[16:18] in (b"\2\0", b"\3\0")
    return sorted(path for path, is_elf in found.items() if is_elf)


def chosen_files():
    files = elf_files()
    if LONG:
        return files
    always = [path for path in files
              if path.startswith(("/usr/lib/aarch64-", "/usr/lib/x86_64-", "/usr/x86_64-linux-gnu"))
              and os.path.basename(path).startswith(ALWAYS)]
    rest = [path for path in files if path not in always and os.path.getsize(path) < 2 << 20]
    return always + rest[::max(1, len(rest) // SAMPLE)][:SAMPLE]


def test_a_folder_that_holds_itself_is_looked_at_once(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner/libthis.so").write_bytes(b"\x7fELF" + bytes(12) + b"\3\0")
    (tmp_path / "inner/again").symlink_to("..")
    (tmp_path / "linked.so").symlink_to("inner/libthis.so")
    assert elf_files([tmp_path]) == [str(tmp_path / "inner/libthis.so")]


@pytest.mark.skipif(not DUMP.exists(), reason="cfi_dump is not built (meson and ninja build it)")
def test_tables_agree_with_readelf():
    total, differences, unsaid, files = 0, [], 0, chosen_files()
    for path in files:
        compared, different, without = compare(path)
        total += compared
        unsaid += without
        differences += different
    print(f"{len(files)} files, {total} rows, {len(differences)} differ, {unsaid} cannot be said")
    assert not differences, "\n".join(differences[:20])
    assert total > 10000
    assert unsaid <= total * 0.001

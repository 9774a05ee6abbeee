# SPDX-License-Identifier: BSD-2-Clause
"""Names for the machine code in stacks: the tracer knows file and address, the file has the names."""
import bisect
import functools
import mmap
import os
import struct

from ._extension import _tracer, unrecorded
from ._held import hold


class NativeFrame:
    """A frame of machine code: its address, file, offset in it, and function where the file names it."""
    __slots__ = ("address", "filename", "offset", "function")
    __module__ = "wick.tracemalloc"

    def __init__(self, address, filename, offset, function):
        self.address = address
        self.filename = filename
        self.offset = offset
        self.function = function

    def plain(self):
        """The arguments from which it can be created again."""
        return self.address, self.filename, self.offset, self.function

    def __reduce__(self):
        return NativeFrame, self.plain()

    def __eq__(self, other):
        return self.plain() == other.plain() if isinstance(other, NativeFrame) else NotImplemented

    def __hash__(self):
        return hash(self.plain())

    def __str__(self):
        return f"{self.function or hex(self.offset)} ({os.path.basename(self.filename)})"

    def __repr__(self):
        return f"<NativeFrame {self}>"


# The symbol tables of an ELF file

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_TABLES = (2, 11)  # SHT_SYMTAB, SHT_DYNSYM
_FUNCTIONS = (2, 10)  # STT_FUNC, STT_GNU_IFUNC


def _sections(data):
    header = _HEADER.unpack_from(data)
    if header[0][:6] != b"\x7fELF\x02\x01":
        raise ValueError("not an ELF file of 64 bits")
    place, size, count = header[6], header[11], header[12]
    return [_SECTION.unpack_from(data, place + i * size) for i in range(count)]


def _read_functions(data):
    """{address: (end, name)}; names of static functions are in the table that strip removes."""
    sections, found = _sections(data), {}
    for section in sections:
        if section[1] not in _TABLES:
            continue
        start, size = section[4], section[5]
        names = sections[section[6]]
        texts = bytes(data[names[4]:names[4] + names[5]])
        for name, info, _, place, value, length in _SYMBOL.iter_unpack(data[start:start + size - size % 24]):
            if info & 15 in _FUNCTIONS and place and value:
                found.setdefault(value, (value + max(length, 1), texts[name:texts.find(b"\0", name)]))
    return found


@functools.lru_cache(256)
def _functions(path):
    """(sorted addresses, {address: (end, name)}); empty if it is not a file."""
    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            found = _read_functions(data)
    except (OSError, ValueError, IndexError, struct.error):
        found = {}
    return sorted(found), found


def _function_at(path, offset):
    starts, found = _functions(path)
    index = bisect.bisect_right(starts, offset) - 1
    if index < 0 or offset >= found[starts[index]][0]:
        return None
    return found[starts[index]][1].decode("utf-8", "replace")


@functools.lru_cache(65536)
def _frame(address, path, offset):
    if path is None:
        return NativeFrame(address, "<unknown>", address, None)
    # A return address may be the first byte of the next function.
    return NativeFrame(address, path, offset, _function_at(path, offset - 1))


@unrecorded
def resolve(stack):
    """The frames of machine code of a stack, innermost first."""
    known = hold().native
    if stack not in known:
        places = _tracer.stack_native_places(stack)
        known[stack] = tuple(_frame(address, *place)
                             for address, place in zip(_tracer.stack_native(stack), places))
    return known[stack]


# The interpreter, the C library and ourselves: they allocate for the module that calls them.
_SERVANTS = ("python", "libpython", "libc.so", "libc-", "ld-linux", "libwick", "_tracer", "libpthread",
             "libstdc++", "wick")


def extension_of(stack):
    """The extension module or library that requested the memory, or None: the innermost one."""
    known = hold().extensions
    if stack not in known:
        known[stack] = extension_among(path for path, _ in _tracer.stack_native_places(stack))
    return known[stack]


def extension_among(paths):
    """The same for the files of machine code, innermost first."""
    for path in paths:
        name = os.path.basename(path or "<")
        if not name.startswith((*_SERVANTS, "<")):
            return name.split(".", 1)[0]
    return None

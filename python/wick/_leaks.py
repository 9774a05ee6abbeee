# SPDX-License-Identifier: BSD-2-Clause
"""Leaks of a recorded heap."""
from __future__ import annotations

from typing import Iterable, List, NamedTuple, Sequence, Tuple, Union

from . import _binding
from ._profile import Frame, Path, Profile, _Frames, _Texts

CLASSES = ("definite", "indirect", "probable", "possible", "reachable", "growth", "unscanned")


class LeakStack(NamedTuple):
    """A stack that allocated blocks of a leak."""

    frames: Tuple[Frame, ...]  # root first
    bytes: int
    blocks: int


class Amount(NamedTuple):
    """Bytes in a number of blocks."""

    bytes: int
    blocks: int


class Leak(NamedTuple):
    """Blocks of one class that one place in the program allocated."""

    kind: str  # one of CLASSES
    confidence: float  # 0 … 1, that it is a leak
    bytes: int
    blocks: int
    indirect_bytes: int  # reachable only from them
    indirect_blocks: int
    function: str  # that allocated
    file: str
    line: int
    module: str
    age: float  # of the oldest block, in seconds
    method: str  # how it was found
    evidence: str
    advice: str
    stacks: Tuple[LeakStack, ...]  # largest first


class Leaks(Sequence):
    """The leaks of a recording, the most certain first: a sequence of Leak.

    scanned     False: nothing looked for pointers to the blocks, so the classes are unknown
    lost_bytes  bytes of definite and probable leaks, and of what only they point to
    amounts     bytes and blocks by class name, also for what was suppressed or left out
    """

    def __init__(self, leaks: List[Leak], info: _binding.LeaksInfo) -> None:
        self._leaks = leaks
        self.title: str = _binding.text(info.title)
        self.duration: float = info.duration_ns / 1e9
        self.scanned = bool(info.scanned)
        self.lost_bytes: int = info.lost_bytes
        self.growing: int = info.growing
        self.double_frees: int = info.double_frees
        self.foreign_frees: int = info.foreign_frees
        self.amounts = {name: Amount(getattr(info, name).bytes, getattr(info, name).blocks)
                        for name in (*CLASSES, "suppressed", "left_out")}

    def __len__(self) -> int:
        return len(self._leaks)

    def __getitem__(self, i):  # type: ignore[no-untyped-def, override]
        return self._leaks[i]

    def __repr__(self) -> str:
        return f"<wick.Leaks of {self.title}: {len(self)} leaks, {self.lost_bytes} bytes lost>"


def _read_stacks(handle: int, i: int, count: int, frames: _Frames) -> Tuple[LeakStack, ...]:
    row = _binding.LeakStack()
    found = []
    for k in range(count):
        if _binding.function("wick_leaks_stack")(handle, i, k, row) < 0:
            break
        found.append(LeakStack(frames.at(row.frames, row.frame_count), row.bytes, row.blocks))
    return tuple(found)


def _read_leak(row: _binding.Leak, stacks: Tuple[LeakStack, ...]) -> Leak:
    text = _binding.text
    return Leak(text(row.class_name), row.confidence, row.bytes, row.blocks, row.indirect_bytes,
                row.indirect_blocks, text(row.function), text(row.file), row.line, text(row.module),
                row.age_ns / 1e9, text(row.method), text(row.evidence), text(row.advice), stacks)


def detect_memory_leaks(source: Union[Profile, Path], *, min_confidence: float = 0, min_age: float = 0,
                        suppressions: Iterable[Path] = (), all: bool = False) -> Leaks:  # pylint: disable=redefined-builtin
    """Finds the leaks in a recording of the heap (wick heap --leaks), as wick leaks shows them.

    source          the file, or a profile that was loaded from it
    min_confidence  0 … 1: leave out less certain leaks
    min_age         in seconds: leave out places whose oldest block is younger
    suppressions    files with rules for leaks to leave out
    all             also indirect and reachable blocks
    """
    path = source.path if isinstance(source, Profile) else source
    options = _binding.LeakOptions(min_confidence=min_confidence, min_age_ns=round(min_age * 1e9),
                                   suppressions=_binding.path_list(suppressions), all=all)
    handle = _binding.create("wick_detect_leaks", _binding.path(path), options)
    try:
        info = _binding.LeaksInfo()
        _binding.call("wick_leaks_describe", handle, info)
        row = _binding.Leak()
        frames = _Frames(_Texts())
        leaks = []
        for i in range(_binding.function("wick_leaks_count")(handle)):
            _binding.function("wick_leaks_get")(handle, i, row)
            leaks.append(_read_leak(row, _read_stacks(handle, i, row.stack_count, frames)))
        return Leaks(leaks, info)
    finally:
        _binding.function("wick_leaks_free")(handle)

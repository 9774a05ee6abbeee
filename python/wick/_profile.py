# SPDX-License-Identifier: BSD-2-Clause
"""Profiles: load them, look at them, draw them, write them in other formats."""
from __future__ import annotations

import ctypes
import datetime
import html
import os
import struct
import weakref
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple, Union

from . import _binding
from ._errors import WickError, WickValueError, failure

if TYPE_CHECKING:
    import pandas

Path = Union[str, bytes, "os.PathLike[str]"]

COLORS = ("category", "module", "hash", "heat", "cvd", "contrast", "language")
_FLAME_FORMATS = {".svg": "wick_flame_svg", ".html": "wick_flame_html", ".htm": "wick_flame_html",
                  ".png": "wick_flame_png"}
# Formats with a line for each sample are made from the file: a profile has only sums.
_SAMPLE_FORMATS = ("firefox", "perfetto", "samples")
_FRAME = struct.Struct("@PPPQII")
_LABEL = struct.Struct("@PP")
_CELL_HEIGHT_PX = 600
_CELL_FUNCTIONS = 5


class Value(NamedTuple):
    """A kind of number that each stack has, such as cpu in nanoseconds."""

    name: str
    unit: str


class Frame(NamedTuple):
    """A function call of a stack."""

    function: str
    file: str  # "" when unknown
    line: int  # 0 when unknown
    module: str  # path of the program or library, "[kernel]", "" when unknown
    address: int  # in the module
    inlined: bool  # into the frame before it


class Stack(NamedTuple):
    """A call stack of a thread, and what was measured there."""

    frames: Tuple[Frame, ...]  # root first
    values: Tuple[int, ...]  # in the order of Profile.values
    pid: int
    tid: int
    thread: str
    process: str
    state: str  # "sleeping" …; "" when unknown
    labels: Dict[str, str]


class Function(NamedTuple):
    """A function, and what was measured in it."""

    name: str
    file: str
    module: str
    self_value: int  # in the function itself
    total_value: int  # with the functions it called


class _Texts(dict):
    """Texts by their address. Those of a profile stay where they are as long as it lives."""

    def __missing__(self, address: Optional[int]) -> str:
        found = self[address] = _binding.text(ctypes.string_at(address)) if address else ""
        return found


class _Frames(dict):
    """Frames by their bytes: most stacks share most frames."""

    def __init__(self, texts: _Texts) -> None:
        super().__init__()
        self._texts = texts

    def __missing__(self, key: Tuple[int, int, int, int, int, int]) -> Frame:
        function, file, module, address, line, inlined = key
        found = self[key] = Frame(self._texts[function], self._texts[file], line, self._texts[module], address,
                                  bool(inlined))
        return found

    def at(self, address: Optional[int], count: int) -> Tuple[Frame, ...]:
        """The frames of an array of struct wick_profile_frame."""
        if not count:
            return ()
        data = ctypes.string_at(address or 0, count * _FRAME.size)
        return tuple(self[key] for key in _FRAME.iter_unpack(data))


def load_options(event: Optional[str] = None, start: float = 0, end: Optional[float] = None,
                 only: Optional[str] = None, ignore: Optional[str] = None, kernel: bool = True,
                 symbol_paths: Iterable[Path] = ()) -> _binding.LoadOptions:
    """struct wick_load_options; times are in seconds."""
    if start < 0 or (end is not None and end <= start):
        raise WickValueError(f"start {start} s is not before end {end} s" if start >= 0 else
                             f"start {start} s is negative",
                             "both are seconds since the recording began; end=None means its end")
    return _binding.LoadOptions(
        event=_binding.optional(event), from_ns=round(start * 1e9), to_ns=0 if end is None else round(end * 1e9),
        only=_binding.optional(only), ignore=_binding.optional(ignore), no_kernel=not kernel,
        symbol_paths=_binding.path_list(symbol_paths))


def _flame_options(title: Optional[str] = None, value: Optional[str] = None, colors: str = "category",
                   width: int = 0, icicle: bool = False, inverted: bool = False,
                   by_thread: bool = False) -> _binding.FlameOptions:
    if colors not in COLORS:
        raise WickValueError(f"unknown colour scheme {colors!r}", f"use one of: {', '.join(COLORS)}")
    return _binding.FlameOptions(title=_binding.optional(title), value=_binding.optional(value),
                                 colors=COLORS.index(colors), width_px=width, icicle=icicle, inverted=inverted,
                                 by_thread=by_thread)


class Profile:
    """Where a program spent its time, or its memory: stacks with names and numbers.

    load_profile(), profile_process(), profile_function() and profile() make one. A profile does not change,
    and any number of threads may read it. Its attributes:

    path        the file it was loaded from
    title       what was profiled
    start       when the recording began, a datetime; None when unknown
    duration    how long it lasted, in seconds
    period      nominal time between samples, in seconds; 0 without one
    samples     number of samples in the profile
    lost        samples known to be missing from the file
    unreadable  samples in damaged parts of the file
    truncated   samples whose stacks were cut before their root
    unnamed     samples whose innermost function has no name
    incomplete  True if the file has no end mark: it was cut off, or is still being written
    values      what was measured, a tuple of Value
    main_value  the Value that functions, flame graphs and tables show by default
    """

    def __init__(self, path: Path, _keeps: Any = None, **options: Any) -> None:
        """Loads a file: see load_profile()."""
        self.path = os.fsdecode(path)
        self._keeps = _keeps  # such as a temporary file
        self._options = load_options(**options)
        self._handle = _binding.create("wick_load", _binding.path(path), self._options)
        weakref.finalize(self, _binding.function("wick_profile_free"), self._handle)
        self._texts = _Texts()
        self._describe()

    def _describe(self) -> None:
        info = _binding.ProfileInfo()
        _binding.call("wick_profile_describe", self._handle, info)
        self.title: str = _binding.text(info.title)
        self._start_ns: int = info.start_realtime_ns
        self.start = datetime.datetime.fromtimestamp(info.start_realtime_ns / 1e9).astimezone() \
            if info.start_realtime_ns else None
        self.duration: float = info.duration_ns / 1e9
        self.period: float = info.period_ns / 1e9
        self.samples: int = info.samples
        self.lost: int = info.lost
        self.unreadable: int = info.unreadable
        self.truncated: int = info.truncated
        self.unnamed: int = info.unsymbolised
        self.incomplete = bool(info.incomplete)
        self.values = tuple(
            Value(_binding.text(_binding.function("wick_profile_value_name")(self._handle, i)),
                  _binding.text(_binding.function("wick_profile_value_unit")(self._handle, i)))
            for i in range(info.value_count))
        self.main_value = self.values[info.main_value]

    def _value(self, name: Optional[str]) -> int:
        """The number of a value."""
        if name is None:
            return self.values.index(self.main_value)
        for i, value in enumerate(self.values):
            if value.name == name:
                return i
        raise WickValueError(f"the profile has no value {name!r}",
                             f"use one of: {', '.join(value.name for value in self.values)}")

    def functions(self, value: Optional[str] = None) -> List[Function]:
        """The functions, the one with the largest value of its own first.

        value is the name of one of the profile's values; None means the main one.
        """
        handle = _binding.create("wick_functions_new", self._handle, self._value(value))
        try:
            row = _binding.ProfileFunction()
            get = _binding.function("wick_functions_get")
            found = []
            for i in range(_binding.function("wick_functions_count")(handle)):
                get(handle, i, row)
                found.append(Function(_binding.text(row.name), _binding.text(row.file), _binding.text(row.module),
                                      row.self_value, row.total_value))
            return found
        finally:
            _binding.function("wick_functions_free")(handle)

    def stacks(self) -> Iterator[Stack]:
        """The stacks one by one. Each comes once for every thread, state and set of labels it had."""
        frames = _Frames(self._texts)
        texts = self._texts
        for row in self._rows():
            yield Stack(frames.at(row.frames, row.frame_count), tuple(row.values[:row.value_count]), row.pid, row.tid,
                        texts[row.thread], texts[row.process], texts[row.state], self._labels_of(row))

    def _rows(self) -> Iterator[_binding.ProfileStack]:
        """The stacks as libwick gives them; each row is valid until the next."""
        handle = _binding.create("wick_stacks_new", self._handle)
        try:
            row = _binding.ProfileStack()
            step = _binding.function("wick_stacks_next")
            code = step(handle, row)
            while code > 0:
                yield row
                code = step(handle, row)
            if code < 0:
                raise failure(code, "cannot read the stacks of the profile")
        finally:
            _binding.function("wick_stacks_free")(handle)

    def _labels_of(self, row: _binding.ProfileStack) -> Dict[str, str]:
        if not row.label_count:
            return {}
        data = ctypes.string_at(row.labels, row.label_count * _LABEL.size)
        return {self._texts[key]: self._texts[value] for key, value in _LABEL.iter_unpack(data)}

    @property
    def totals(self) -> Dict[str, int]:
        """The sum of each value over all stacks, by its name."""
        sums = [0] * len(self.values)
        for row in self._rows():
            for i in range(row.value_count):
                sums[i] += row.values[i]
        return {value.name: number for value, number in zip(self.values, sums)}

    @property
    def labels(self) -> Dict[str, Dict[str, int]]:
        """The sum of the main value for each label and each of its values, set by programs or by the recorder."""
        main = self._value(None)
        found: Dict[str, Dict[str, int]] = {}
        for row in self._rows():
            for key, label in self._labels_of(row).items():
                sums = found.setdefault(key, {})
                sums[label] = sums.get(label, 0) + row.values[main]
        return found

    def to_pandas(self, what: str = "functions") -> "pandas.DataFrame":
        """A pandas.DataFrame of the "functions", or of the "stacks" with a column for each value.

        Stacks have their functions joined with ";" in the column stack, root first, and the innermost one in
        the column function.
        """
        if what not in ("functions", "stacks"):
            raise WickValueError(f"no table of {what!r}", 'use "functions" or "stacks"')
        try:
            import pandas  # pylint: disable=import-outside-toplevel
        except ImportError as why:
            raise ImportError(f"to_pandas() needs pandas, which cannot be imported ({why}); "
                              "run: python3 -m pip install pandas") from why
        if what == "functions":
            return pandas.DataFrame(self.functions(), columns=list(Function._fields))
        return pandas.DataFrame([self._table_row(stack) for stack in self.stacks()],
                                columns=["stack", "function", "file", "line", "module", "pid", "tid", "thread",
                                         "process", "state", "labels", *(value.name for value in self.values)])

    @staticmethod
    def _table_row(stack: Stack) -> Tuple[Any, ...]:
        leaf = stack.frames[-1] if stack.frames else Frame("", "", 0, "", 0, False)
        return (";".join(frame.function for frame in stack.frames), leaf.function, leaf.file, leaf.line, leaf.module,
                stack.pid, stack.tid, stack.thread, stack.process, stack.state, stack.labels, *stack.values)

    def flame_graph(self, output: Path, **options: Any) -> str:
        """Draws a flame graph: see generate_flame_graph(). Returns the path of the file."""
        name = os.fsdecode(output)
        function = _FLAME_FORMATS.get(os.path.splitext(name)[1].lower())
        if not function:
            raise WickValueError(f"{name}: a flame graph is .svg, .html or .png",
                                 "change the ending of the name; for other formats, use Profile.export()")
        _binding.call(function, self._handle, _flame_options(**options), _binding.path(output))
        return name

    def export(self, format: str, output: Optional[Path] = None) -> Union[str, bytes]:  # pylint: disable=redefined-builtin
        """Writes the profile in another format: pprof, folded, speedscope, json, …: see wick list formats.

        Returns the path of the file, or the text if there is no output: bytes for binary formats. Formats that
        list single samples (firefox, perfetto, samples) need an output, and read the file again.
        """
        if format in _SAMPLE_FORMATS:
            if output is None:
                raise WickValueError(f"format {format} needs a file", "name one: profile.export(format, output)")
            _binding.call("wick_export_recording", _binding.path(self.path), self._options, format.encode(),
                          _binding.path(output))
            return os.fsdecode(output)
        if output is not None:
            _binding.call("wick_export", self._handle, format.encode(), _binding.path(output))
            return os.fsdecode(output)
        data = _binding.create_text("wick_export_text", self._handle, format.encode())
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return data

    def __repr__(self) -> str:
        return f"<wick.Profile of {self.title or self.path}: {self._summary()}>"

    def _summary(self) -> str:
        words = f"{self.samples} samples in {self.duration:.3g} s"
        if self.lost or self.unreadable:
            words += f", {self.lost + self.unreadable} lost"
        return words

    def _repr_html_(self) -> str:
        """What a Jupyter notebook shows: the hottest functions, and the page with the flame graph.

        The page is in a frame of its own that may run its script and do nothing else.
        """
        try:
            page = _binding.create_text("wick_flame_html_text", self._handle, None).decode("utf-8", "replace")
        except WickError as error:
            return f"<pre>{html.escape(repr(self))}\n{html.escape(str(error))}</pre>"
        functions = [row for row in self.functions()[:_CELL_FUNCTIONS] if row.self_value > 0]
        whole = self.totals[self.main_value.name] or 1
        rows = "".join(
            f"<tr><td style='text-align:right'>{100 * row.self_value / whole:.1f} %</td>"
            f"<td style='text-align:left'><code>{html.escape(row.name)}</code></td></tr>" for row in functions)
        return (f"<div><b>{html.escape(self.title or self.path)}</b> {html.escape(self._summary())}"
                f"<table><thead><tr><th>{html.escape(self.main_value.name)}</th>"
                f"<th style='text-align:left'>function</th></tr></thead><tbody>{rows}</tbody></table>"
                f"<iframe sandbox='allow-scripts' style='width:100%;height:{_CELL_HEIGHT_PX}px;border:1px solid #ccc' "
                f"title='flame graph' srcdoc=\"{html.escape(page)}\"></iframe></div>")


def load_profile(path: Path, *, event: Optional[str] = None, start: float = 0, end: Optional[float] = None,
                 only: Optional[str] = None, ignore: Optional[str] = None, kernel: bool = True,
                 symbol_paths: Iterable[Path] = ()) -> Profile:
    """Loads a recording, or any file that wick import accepts, such as perf.data, pprof or folded stacks.

    event         load this event instead of the main one
    start, end    only this range, in seconds since the recording began
    only, ignore  regular expressions: keep or drop stacks with a function that matches
    kernel        False leaves out kernel functions
    symbol_paths  folders in which to look for debug files first
    """
    return Profile(path, event=event, start=start, end=end, only=only, ignore=ignore, kernel=kernel,
                   symbol_paths=symbol_paths)


def as_profile(source: Union[Profile, Path]) -> Profile:
    return source if isinstance(source, Profile) else Profile(source)


def generate_flame_graph(source: Union[Profile, Path], output: Path, *, title: Optional[str] = None,
                         value: Optional[str] = None, colors: str = "category", width: int = 0,
                         icicle: bool = False, inverted: bool = False, by_thread: bool = False) -> str:
    """Draws the flame graph of a profile or a file. Returns the path of the picture.

    The ending of output chooses the format: .svg and .png are pictures; .html is a page with the graph, a table,
    callers and callees, source lines and a timeline.

    title      heading; None: what was profiled
    value      name of the value that widths show; None: the main one
    colors     what colours mean: category, module, hash, heat, cvd, contrast or language
    width      of the picture in pixels, 200 to 100000; 0: 1200
    icicle     put the root at the top
    inverted   start with the leaves and grow towards their callers
    by_thread  a tower for each thread
    """
    return as_profile(source).flame_graph(output, title=title, value=value, colors=colors, width=width,
                                          icicle=icicle, inverted=inverted, by_thread=by_thread)


def export_folded_stacks(source: Union[Profile, Path], output: Optional[Path] = None) -> str:
    """Writes one line for each stack, "process;main;parse 42", or returns the lines if there is no output."""
    return as_profile(source).export("folded", output)  # type: ignore[return-value]

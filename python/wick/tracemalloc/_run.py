# SPDX-License-Identifier: BSD-2-Clause
"""python3 -m wick.tracemalloc: runs a program and reports the memory that it holds at its end.

The program sees what it would see under python3 itself: its arguments, import path, exit status,
streams and tracebacks.
"""
import atexit
import io
import os
import pkgutil
import runpy
import signal
import subprocess
import sys
import types
from importlib.machinery import SourceFileLoader

from . import _frames, _pickles, _preload

USAGE = """\
usage: python3 -m wick.tracemalloc [OPTION...] SCRIPT|- [ARGUMENT...]
       python3 -m wick.tracemalloc [OPTION...] -m MODULE [ARGUMENT...]
       python3 -m wick.tracemalloc [OPTION...] -c CODE [ARGUMENT...]
       python3 -m wick.tracemalloc install | uninstall

Runs a Python program, and prints to standard error which lines hold memory when it ends.

  -n FRAMES       frames to keep of each stack (default 1)
  --sample BYTES  trace only some blocks: mean bytes between two of them, or a probability
                  below 1
  --native        record memory and frames of C code too
  -o FILE         write the live blocks to FILE instead: .wick .pprof .pb.gz .speedscope.json
                  .perfetto .json .html; any other name: a file for Snapshot.load()
  -h, --help      this text

install replaces the standard tracemalloc with this module, for this interpreter:
PYTHONTRACEMALLOC=N, -X tracemalloc=N and WICK_TRACEMALLOC=N then start it. uninstall undoes that.
"""
LINES = 10
# Set in the restarted interpreter, so that it does not restart again.
RESTARTED = "WICK_TRACEMALLOC_NATIVE"


class UsageError(Exception):
    pass


class NotRun(Exception):
    """There is no such program. The text is what python3 would say, the status what it would return."""

    def __init__(self, text, status=1):
        super().__init__(text)
        self.status = status


class Options:
    frames = 1
    sampling = None
    native = False
    output = None
    module = None
    code = None
    words = ()


def _value(name, words):
    if not words:
        raise UsageError(f"{name} needs a value")
    return words.pop(0)


def _as_number(name, text, kind):
    try:
        return kind(text)
    except ValueError:
        raise UsageError(f"{name}: {text!r} is not a number") from None


# Options with a value; those of one letter may have it in the same word.
_VALUES = ("-n", "-o", "-m", "-c", "--sample")


def _split(word):
    """(option, value in the same word or None)"""
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        return name, value if equals else None
    return word[:2], word[2:] or None


def _take_option(options, words):
    """Reads one option with its value. Returns whether it was the last one."""
    word = words.pop(0)
    name, value = _split(word)
    if name in _VALUES:
        value = _value(name, words) if value is None else value
    elif name not in ("-h", "--help", "--native"):
        raise UsageError(f"unknown option {word}")
    elif value is not None:
        raise UsageError(f"{name} takes no value")
    if name in ("-h", "--help"):
        print(USAGE, end="")
        sys.exit(0)
    elif name == "-n":
        options.frames = _as_number(name, value, int)
    elif name == "--sample":
        options.sampling = _as_number(name, value, float)
    elif name == "--native":
        options.native = True
    elif name == "-o":
        options.output = value
    else:
        setattr(options, "module" if name == "-m" else "code", value)
    return name in ("-m", "-c")


def parse(arguments):
    options, words = Options(), list(arguments)
    while words and words[0].startswith("-") and words[0] != "-":
        if words[0] == "--":
            words.pop(0)
            break
        if _take_option(options, words):
            break
    options.words = words
    if not words and options.module is None and options.code is None:
        raise UsageError("there is no program to run")
    return options


# Running the program

def _program_module(**names):
    """A fresh module __main__."""
    module = types.ModuleType("__main__")
    if sys.version_info < (3, 14):
        names["__annotations__"] = {}
    vars(module).update(__builtins__=__builtins__, __spec__=None, **names)
    sys.modules["__main__"] = module
    return vars(module)


def _run_code(options):
    sys.argv[:] = ["-c", *options.words]
    sys.path[0] = ""
    exec(compile(options.code, "<string>", "exec", dont_inherit=True), _program_module())


def _run_standard_input(options):
    sys.argv[:] = options.words
    sys.path[0] = ""
    source = sys.stdin.buffer.read() if sys.stdin is not None else b""
    exec(compile(source, "<stdin>", "exec", dont_inherit=True), _program_module(__file__="<stdin>", __cached__=None))


def _run_module(options):
    sys.argv[:] = ["-m", *options.words]
    sys.path[0] = os.getcwd()
    runpy._get_module_details(options.module, NotRun)  # an ImportError may also be one of the module
    runpy.run_module(options.module, run_name="__main__", alter_sys=True)


def _check_archive(script):
    """A folder or zip file must have a __main__."""
    importer = pkgutil.get_importer(script)
    find = getattr(importer, "find_spec", None) or getattr(importer, "find_module", None)  # of zip files up to 3.9
    if find is not None and find("__main__") is None:
        raise NotRun(f"can't find '__main__' module in {os.path.abspath(script)!r}")


def _source(path):
    try:
        with io.open_code(path) as file:
            return file.read()
    except OSError as error:
        raise NotRun(f"can't open file {path!r}: [Errno {error.errno}] {error.strerror}", 2) from None


def _run_script(options):
    script = options.words[0]
    sys.argv[:] = options.words
    path = os.path.abspath(script)
    if os.path.isdir(script) or script.endswith((".pyc", ".zip", ".pyz")) and os.path.exists(script):
        _check_archive(script)
        del sys.path[0]  # runpy puts the folder or archive there
        runpy.run_path(script, run_name="__main__")
        return
    source = _source(path)
    if not sys.flags.isolated and not getattr(sys.flags, "safe_path", False):
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    exec(compile(source, path, "exec", dont_inherit=True),
         _program_module(__file__=path, __cached__=None, __loader__=SourceFileLoader("__main__", path)))


def _way(options):
    if options.code is not None:
        return _run_code
    if options.module is not None:
        return _run_module
    return _run_standard_input if options.words[0] == "-" else _run_script


def _own_frames_left_out(traceback):
    ours = os.path.dirname(__file__) + os.sep
    while traceback is not None and (traceback.tb_frame.f_code.co_filename.startswith(ours)
                                     or "runpy" in traceback.tb_frame.f_code.co_filename):
        traceback = traceback.tb_next
    return traceback


def _run(options):
    """Runs the program; returns its exit status as python3 would give it."""
    try:
        _way(options)(options)
    except (SystemExit, NotRun):
        raise
    except BaseException as error:
        traceback = _own_frames_left_out(error.__traceback__)
        sys.excepthook(type(error), error.with_traceback(traceback), traceback)
        if isinstance(error, KeyboardInterrupt):
            # python3 ends by the signal, so that shells stop too; its handlers run before.
            atexit._run_exitfuncs()
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
        return 1
    return 0


# The report

class Report:
    """Reports at the end what is held, on the standard error that the program started with."""

    def __init__(self, options, tracemalloc):
        self.tracemalloc = tracemalloc
        self.stream = self._stream()
        self.name = options.output
        # The program may go to another folder.
        self.path = None if self.name is None else os.path.abspath(self.name)

    @staticmethod
    def _stream():
        try:
            status = os.fstat(2)
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def say(self, text):
        """A program may have closed standard error, or opened something else as number 2."""
        try:
            if sys.stderr is not None:
                sys.stderr.flush()
        except (OSError, ValueError):
            pass
        if self.stream is None or self._stream() != self.stream:
            return
        try:
            os.write(2, f"{text}\n".encode(errors="backslashreplace"))
        except OSError:
            pass

    def write(self):
        if not self.tracemalloc.is_tracing():
            return  # the program stopped it: it has its own use for the results
        if self.path is None:
            self.say("\n".join(self.lines()))
            return
        try:
            if _pickles.format_of(self.path):
                self.tracemalloc.dump(self.path)
            else:
                self.tracemalloc.take_snapshot().dump(self.path)
            self.say(f"wick: wrote {self.name}")
        except (OSError, ImportError, ValueError) as error:
            text = str(getattr(error, "strerror", None) or error)
            begin = f"cannot write {self.path}: "  # libwick says so itself
            self.say(f"wick: cannot write {self.name}: {text[len(begin):] if text.startswith(begin) else text}")

    def lines(self):
        current, peak = map(_plain_size, self.tracemalloc.get_traced_memory())
        own = self.tracemalloc.Filter(False, os.path.join(os.path.dirname(__file__), "*"))
        statistics = self.tracemalloc.take_snapshot().filter_traces([own]).statistics("lineno")
        yield f"wick: {current} held at the end, {peak} at the peak"
        for one in statistics[:LINES]:
            yield f"  {one}"
        if len(statistics) > LINES:
            yield f"  and {len(statistics) - LINES} more lines; -o FILE keeps all"


def _plain_size(size):
    return _frames._format_size(size, False)


# Native memory needs the preload library before the first allocation: the interpreter restarts.

def _restart_with_preload(arguments):
    library, folder = _preload.without_separators(_preload.find())
    before = os.environ.get("LD_PRELOAD")
    environment = {**os.environ, RESTARTED: folder or "1",
                   "LD_PRELOAD": f"{library}:{before}" if before else library}
    flags = getattr(sys, "orig_argv", None)
    if flags:
        words = [sys.executable, *flags[1:]]
    else:
        words = [sys.executable, *subprocess._args_from_interpreter_flags(), "-m", "wick.tracemalloc",
                 *arguments]
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, words, environment)


def _install(word):
    from . import _install as place
    if word == "uninstall":
        place.uninstall(persist=True)
        return 0
    try:
        print(place.install(persist=True))
    except OSError as error:
        print(f"wick: cannot write {error.filename}: {error.strerror}\n"
              "      run it in a virtual environment, or as a user who may write there", file=sys.stderr)
        return 1
    return 0


def main(arguments):
    if arguments in (["install"], ["uninstall"]):
        return _install(arguments[0])
    try:
        options = parse(arguments)
    except UsageError as error:
        print(f"wick: {error}\n      for help: python3 -m wick.tracemalloc --help", file=sys.stderr)
        return 2
    folder = os.path.dirname(os.path.abspath(options.output or ""))
    if not os.path.isdir(folder):  # better now than after the program has run for hours
        print(f"wick: cannot write {options.output}: there is no folder {folder}", file=sys.stderr)
        return 1
    import wick.tracemalloc as tracemalloc
    try:
        if options.native:
            restarted = os.environ.pop(RESTARTED, None)
            if not restarted:
                _restart_with_preload(arguments)
            atexit.register(_preload.forget, restarted)
        tracemalloc.start(options.frames, sampling=options.sampling, native=options.native)
    except (ValueError, OverflowError) as error:
        print(f"wick: {error}", file=sys.stderr)
        return 2
    except (RuntimeError, OSError) as error:
        print(f"wick: {error}", file=sys.stderr)
        return 1
    report = Report(options, tracemalloc)
    # Callbacks run in reverse order, those of the program first; threads have ended before.
    atexit.register(report.write)
    try:
        return _run(options)
    except NotRun as error:
        atexit.unregister(report.write)
        print(f"{sys.executable}: {error}", file=sys.stderr)
        return error.status

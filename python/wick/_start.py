# SPDX-License-Identifier: BSD-2-Clause
"""Runs when the interpreter starts, if wick.tracemalloc.install(persist=True) was called.

PYTHONTRACEMALLOC=N and -X tracemalloc=N have started the standard module by now; ours takes its
place. WICK_TRACEMALLOC=N[,sample=BYTES][,native] starts ours alone. "import tracemalloc" gets ours from
now on, but nothing is imported until it is needed: every program of this interpreter runs this.
"""
import os
import sys

NAME = "tracemalloc"
VARIABLE = "WICK_TRACEMALLOC"


class Finder:
    """Finds wick.tracemalloc under the name of the standard module."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != NAME:
            return None
        try:
            import wick.tracemalloc
        except ImportError:
            return None  # the standard module it is
        from importlib.machinery import ModuleSpec
        return ModuleSpec(NAME, Loader(wick.tracemalloc), origin=wick.tracemalloc.__file__)


class Loader:
    """Hands out a module that is loaded already."""

    def __init__(self, module):
        self.module = module
        self.spec = module.__spec__

    def create_module(self, spec):
        return self.module

    def exec_module(self, module):
        module.__spec__ = self.spec

    def get_code(self, name):
        """For python3 -m tracemalloc."""
        return compile("import sys\nfrom wick.tracemalloc._run import main\nsys.exit(main(sys.argv[1:]))\n",
                       self.module.__file__, "exec")


def parse(text):
    """The arguments of start() in a value of WICK_TRACEMALLOC."""
    first, *others = text.split(",")
    arguments = {"nframe": int(first)}
    for word in others:
        name, _, value = word.partition("=")
        if name == "sample":
            arguments["sampling"] = float(value)
        elif word == "native":
            arguments["native"] = True
        else:
            raise ValueError(f"unknown word {word!r}")
    return arguments


def wanted():
    """How to start, or None. -E and -I hide the environment, as they do for PYTHONTRACEMALLOC."""
    text = "" if sys.flags.ignore_environment else os.environ.get(VARIABLE, "")
    if text and text != "0":
        return parse(text)
    import _tracemalloc
    if _tracemalloc.is_tracing():
        return {"nframe": _tracemalloc.get_traceback_limit()}
    return None


def main():
    sys.meta_path.insert(0, Finder)
    try:
        arguments = wanted()
        if arguments is None:
            return
        import wick.tracemalloc
        import _tracemalloc
        _tracemalloc.stop()
        wick.tracemalloc.start(**arguments)
    except (ImportError, RuntimeError) as error:
        print(f"wick: {error}", file=sys.stderr)
    except (ValueError, OverflowError) as error:
        print(f"wick: {VARIABLE}={os.environ.get(VARIABLE)}: {error}\n"
              f"      use {VARIABLE}=FRAMES[,sample=BYTES][,native]", file=sys.stderr)


main()

# SPDX-License-Identifier: BSD-2-Clause
"""What is known of a stack besides files and lines: functions, frames of C code, and the module.

The tracer knows it of its own stacks (LiveStack); files keep it (KeptStack). Tuples begin with the innermost frame.
"""
import os
import sys

from . import _native
from ._extension import _tracer
from ._held import hold


class LiveStack:
    """A stack of the tracer. Names are looked up when somebody asks; until then, it is held."""
    __slots__ = ("number", "held")
    module = None  # named when results are computed: its file may be imported later

    def __init__(self, number):
        self.number = number
        self.held = hold()

    @property
    def functions(self):
        return _tracer.stack_names(self.number)

    @property
    def native(self):
        return _native.resolve(self.number)

    @property
    def extension(self):
        return _native.extension_of(self.number)

    def __reduce__(self):
        return KeptStack, (self.functions, self.native)


class KeptStack:
    """A stack read from a file. It can be pickled."""
    __slots__ = ("functions", "native", "module")

    def __init__(self, functions=(), native=(), module=None):
        self.functions = functions
        self.native = native
        self.module = module

    @property
    def extension(self):
        return _native.extension_among(frame.filename for frame in self.native)

    def __reduce__(self):
        return KeptStack, (self.functions, self.native, self.module)

    def plain(self):
        """Tuples and strings, which every Python can load."""
        return self.functions, tuple(frame.plain() for frame in self.native), self.module

    @classmethod
    def of_plain(cls, parts):
        functions, native, module = parts
        return cls(functions, tuple(_native.NativeFrame(*frame) for frame in native), module)


class OneFrame:
    """One frame of a stack, as statistics by line have it. Frames of C code belong to whole stacks."""
    __slots__ = ("stack", "index")
    native = ()

    def __init__(self, stack, index):
        self.stack = stack
        self.index = index

    @property
    def functions(self):
        return self.stack.functions[self.index:self.index + 1]

    def __reduce__(self):
        return KeptStack, (self.functions,)


# Names of modules

def modules_by_file():
    """{source file: name of the module} of the running program"""
    found = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str):
            found.setdefault(os.path.abspath(file), name)
    return found


def module_of_file(filename, modules):
    if filename.startswith("<frozen "):
        return filename[len("<frozen "):-1]
    return filename if filename.startswith("<") else modules.get(os.path.abspath(filename), filename)


def module_of_stack(stack, frames, modules):
    """The extension below the Python frames where frames of C code are known, or the Python module."""
    if stack is None:
        return module_of_file(frames[0][0], modules)
    return stack.module or stack.extension or module_of_file(frames[0][0], modules)

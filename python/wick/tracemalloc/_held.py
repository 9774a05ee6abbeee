# SPDX-License-Identifier: BSD-2-Clause
"""What is known about stacks and sites by their ids.

stop() and clear_traces() drop all stacks, and their ids are used again, unless somebody has the object
that hold() returns. Code that keeps ids must keep it too.
"""
from ._extension import _tracer


class Memo(dict):
    """What a function returned for a key."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def __missing__(self, key):
        value = self[key] = self.function(key)
        return value


def hold():
    """An object with sites, stacks, native (frames of machine code), extensions and answers, by id."""
    held = _tracer.hold()
    if not hasattr(held, "answers"):
        held.sites = Memo(_tracer.site)
        held.stacks = Memo(_tracer.stack)
        held.native = {}
        held.extensions = {}
        held.answers = {}  # of filters: {(filter, stack): bool}
    return held

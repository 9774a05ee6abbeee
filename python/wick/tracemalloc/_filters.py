# SPDX-License-Identifier: BSD-2-Clause
"""Filters of Snapshot.filter_traces."""
import fnmatch
import os.path


def _normalize_filename(filename):
    """The name of the source file, as the file system compares names."""
    name = os.path.normcase(filename)
    return name[:-1] if name.endswith(".pyc") else name


class BaseFilter:
    """What all filters have: inclusive says whether matching traces are kept or left out."""
    __module__ = "wick.tracemalloc"

    def __init__(self, inclusive):
        self.inclusive = inclusive

    def _match(self, trace):
        raise NotImplementedError


class Filter(BaseFilter):
    """
    Filter on traces of memory blocks by file name (fnmatch pattern), line and domain.

    all_frames=True looks at every frame of a traceback, otherwise at the most recent one.
    """
    __module__ = "wick.tracemalloc"

    def __init__(self, inclusive, filename_pattern, lineno=None, all_frames=False, domain=None):
        super().__init__(inclusive)
        self._filename_pattern = _normalize_filename(filename_pattern)
        self.lineno = lineno
        self.all_frames = all_frames
        self.domain = domain

    @property
    def filename_pattern(self):
        return self._filename_pattern

    def _match_frame_impl(self, filename, lineno):
        if not fnmatch.fnmatch(_normalize_filename(filename), self._filename_pattern):
            return False
        return self.lineno is None or self.lineno == lineno

    def _match_frame(self, filename, lineno):
        return self._match_frame_impl(filename, lineno) ^ (not self.inclusive)

    def _match_traceback(self, traceback):
        frames = traceback if self.all_frames else (traceback[0],)
        found = any(self._match_frame_impl(filename, lineno) for filename, lineno in frames)
        return found ^ (not self.inclusive)

    def _match(self, trace):
        found = self._match_traceback(trace[2])
        if self.domain is None:
            return found
        if self.inclusive:
            return found and trace[0] == self.domain
        return found or trace[0] != self.domain


class DomainFilter(BaseFilter):
    """Filter on traces of memory blocks by domain."""
    __module__ = "wick.tracemalloc"

    def __init__(self, inclusive, domain):
        super().__init__(inclusive)
        self._domain = domain

    @property
    def domain(self):
        return self._domain

    def _match(self, trace):
        return (trace[0] == self._domain) ^ (not self.inclusive)


def split(filters):
    """(inclusive filters, exclusive filters)"""
    kept = ([], [])
    for one in filters:
        kept[0 if one.inclusive else 1].append(one)
    return kept


def accepts(sides, trace):
    """Whether a trace passes: one inclusive filter at least (if there are any), all exclusive ones."""
    include, exclude = sides
    if include and not any(one._match(trace) for one in include):
        return False
    return all(one._match(trace) for one in exclude)


def ignore_size(filters):
    """Whether all blocks of one stack and domain get the same answer. A subclass may look at sizes."""
    return all(type(one)._match in (Filter._match, DomainFilter._match) for one in filters)

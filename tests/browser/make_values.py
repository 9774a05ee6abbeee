# SPDX-License-Identifier: BSD-2-Clause
"""Writes a profile with several value types to a file, for values.mjs:

    make_values.py FILE.pb

1,000 cycles and 1,500 instructions in total; walk is slow, add is fast.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import pprof  # pylint: disable=wrong-import-position

writer = pprof.Writer((("samples", "count"), ("cycles", "count"), ("instructions", "count"),
                       ("alloc_space", "bytes")), default="cycles")
writer.stack(("main", "work", "walk"), (60, 600, 300, 4096))
writer.stack(("main", "work", "add"), (30, 300, 1100, 0))
writer.stack(("main", "load", "read"), (10, 100, 100, 61440))
pathlib.Path(sys.argv[1]).write_bytes(writer.data())

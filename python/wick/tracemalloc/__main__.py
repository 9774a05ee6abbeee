# SPDX-License-Identifier: BSD-2-Clause
"""python3 -m wick.tracemalloc"""
import sys

from ._run import main

sys.exit(main(sys.argv[1:]))

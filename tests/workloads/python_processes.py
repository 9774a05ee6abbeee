# SPDX-License-Identifier: BSD-2-Clause
"""Works in the processes of a pool, for the seconds given as the second argument; the first is how they start."""
import multiprocessing
import sys

import python_work


def main():
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        pool.map(python_work.outer, [float(sys.argv[2])] * 4, chunksize=2)


if __name__ == "__main__":
    main()

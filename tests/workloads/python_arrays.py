# SPDX-License-Identifier: BSD-2-Clause
"""Python calls an extension that calls Python that calls the extension: python_arrays.py SECONDS"""
import sys
import time

import arrays


def element(i):
    return arrays.add(2000) + i


def mapped():
    return arrays.apply(element, 8)


def nested():
    return arrays.apply(lambda i: arrays.apply(element, 2), 3)


def plain():
    return arrays.add(20000)


def scene(function, seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        function()


for one in (mapped, nested, plain):
    scene(one, float(sys.argv[1]))

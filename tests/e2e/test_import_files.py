# SPDX-License-Identifier: BSD-2-Clause
"""Files of other profilers that were made here, record by record: what is taken, told, refused."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "fuzz"))
import make_perf_data as perf  # noqa: E402

COUNTS_LOST = 1 << 4  # PERF_FORMAT_LOST
LOST, LOST_SAMPLES = 2, 13
BY_FILTER = 1 << 15


def losing_attr(counts):
    attr = bytearray(perf.attr(perf.BASE))
    attr[32] |= COUNTS_LOST if counts else 0  # its read_format
    return bytes(attr)


def losing_records(at_end, misc=0):
    """7 losses when a ring was full; at_end tells of more, without a time, as perf writes it."""
    return (perf.sample(50, 5) + perf.record(LOST, perf.u64(5, 7) + perf.trailer(60, 5)) +
            perf.sample(70, 5) +
            perf.record(LOST_SAMPLES, perf.u64(at_end) + perf.trailer(0, 5), misc))


@pytest.mark.parametrize("counts, at_end, misc, lost", [
    (True, 7, 0, 7),  # the same ones
    (True, 9, 0, 9),  # and two after the last LOST
    (True, 0, 0, 7),
    (False, 2, 0, 9),  # others, of the hardware
    (True, 50, BY_FILTER, 7),  # nobody wanted these
])
def test_losses_that_perf_tells_twice_count_once(wick, tmp_path, counts, at_end, misc, lost):
    path = tmp_path / "perf.data"
    path.write_bytes(perf.file([losing_attr(counts)], losing_records(at_end, misc)))
    info = wick.json("info", "--format", "json", path)
    assert (info["samples"], info["lost"]) == (2, lost)

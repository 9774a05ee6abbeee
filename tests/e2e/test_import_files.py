# SPDX-License-Identifier: BSD-2-Clause
"""Files of other profilers that were made here, record by record: what is taken, told, refused."""
import pathlib
import sys

import pprof
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


WHOLE = perf.file([perf.attr(perf.BASE)], perf.sample(50, 5) + perf.sample(60, 5))
PIPE = perf.pipe([perf.attr(perf.BASE)], perf.sample(50, 5) + perf.sample(60, 5))
AUX = perf.record(71, perf.u64(16, 0, 0) + perf.u32(0, 0, 0, 0))
PACKED = perf.pipe([perf.attr(perf.BASE)],
                   perf.compressed(perf.sample(50, 5) + perf.sample(60, 5)[:-4]))


@pytest.mark.parametrize("data, samples, words", [
    (WHOLE[:-1], 2, "what follows its records is cut off"),
    (WHOLE[:WHOLE.index(perf.sample(60, 5))], 1, "in the middle of a record"),
    (WHOLE[:WHOLE.index(perf.sample(60, 5)) + 9], 1, "in the middle of a record"),
    (perf.file([perf.attr(perf.BASE)], perf.sample(50, 5), cut=True), 1, "perf did not come"),
    (PIPE[:-1], 1, "in the middle of a record"),
    (PIPE + AUX + bytes(15), 2, "in the middle of a record"),
    (PACKED, 1, "in the middle of a record"),
], ids=("end", "between records", "in a record", "killed", "pipe", "trace", "compressed"))
def test_a_cut_perf_data_is_called_incomplete_and_loses_nothing(wick, tmp_path, data, samples, words):
    path = tmp_path / "perf.data"
    path.write_bytes(data)
    info = wick.json("info", "--format", "json", path)
    assert (info["samples"], info["lost"], info["complete"]) == (samples, 0, False)
    assert words in wick.ok("info", path).stdout
    wick.ok("import", path, "-o", tmp_path / "x.wick")
    assert not wick.json("info", "--format", "json", tmp_path / "x.wick")["complete"]
    shown = wick.ok("report", path)
    assert "the recording is incomplete" in shown.stdout + shown.stderr
    assert "lost" not in shown.stdout + shown.stderr


@pytest.mark.parametrize("data", [WHOLE, PIPE, PIPE + AUX + bytes(16)],
                         ids=("file", "pipe", "trace"))
def test_a_whole_perf_data_is_called_complete(wick, tmp_path, data):
    path = tmp_path / "perf.data"
    path.write_bytes(data)
    assert wick.json("info", "--format", "json", path)["complete"]


def test_a_difference_of_pprof_is_refused_with_a_remedy(wick, tmp_path):
    profile = pprof.Writer([("objects", "count"), ("space", "bytes")])
    profile.stack(["main", "grew"], [1, 100])
    profile.stack(["main", "fell"], [2, -30])
    path = tmp_path / "diff.pb"
    path.write_bytes(profile.data())
    done = wick.run("report", path)
    assert done.returncode == 1
    assert "a sample has -30 space" in done.stderr
    assert "wick diff BEFORE AFTER" in done.stderr

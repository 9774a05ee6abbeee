# SPDX-License-Identifier: BSD-2-Clause
"""What the tests expect of wick's output: names of JSON keys, words, tolerances.

A change of format only has to change this file.
"""
import re

# Exit statuses
DONE, FAILED, USAGE, NOT_EXECUTABLE, NOT_FOUND = 0, 1, 2, 126, 127

# Shares of a workload come out within this many points.
SHARE_TOLERANCE = 3.0
# Samples taken against CPU time x rate. The figure to reach is 1 % on a quiet machine
# (make bench measures it); a shared CI machine gets three.
COUNT_TOLERANCE = 0.03

# What stands where a function or module is not known
UNKNOWN = "[unknown]"
INVALID = "<invalid address "


# wick report --format json: {"by", "rows": [{"name", "module", "self", "total",
# "self_percent", "total_percent", "self_samples", "samples"}], "more"}

ROW_KEYS = {"name", "module", "self", "total", "self_percent", "total_percent", "samples"}
# "NAME/TID": the row of a thread
THREAD = re.compile(r"^(?P<comm>.*)/(?P<tid>\d+)$", re.S)


def rows(report):
    return report["rows"]


def functions(report):
    """{name: row} of a report; rows of one name are added up."""
    found = {}
    for row in rows(report):
        if row["name"] in found:
            old = found[row["name"]]
            row = {**row, **{key: old[key] + row[key] for key in
                             ("self_percent", "total_percent", "samples")}}
        found[row["name"]] = row
    return found


def self_percent(report, name):
    return functions(report).get(name, {}).get("self_percent", 0.0)


def total_percent(report, name):
    return functions(report).get(name, {}).get("total_percent", 0.0)


def module_of(report, name):
    return functions(report)[name]["module"]


def thread_rows(report):
    """[(comm, tid, percent)] of a report --by thread."""
    found = []
    for row in rows(report):
        match = THREAD.match(row["name"])
        assert match, f"no name of a thread: {row['name']}"
        found.append((match["comm"], int(match["tid"]), row["total_percent"]))
    return found


def threads(report):
    """{thread name: percent} of a report --by thread."""
    shares = {}
    for comm, _, percent in thread_rows(report):
        shares[comm] = shares.get(comm, 0.0) + percent
    return shares


def thread_ids(report):
    return {tid for _, tid, _ in thread_rows(report)}


def modules(report):
    """{module: percent} of a report --by module."""
    return {row["name"]: row["self_percent"] for row in rows(report)}


# wick info --format json

def start_ns(info):
    """Monotonic time of the beginning, from which --from and --to count."""
    return info["start_ns"]


def is_near(value, expected, slack, less=0, more=0):
    """Whether a value is as expected, allowing for time that no program had."""
    return -slack - less <= value - expected <= slack + more


def sample_count(info):
    return info["samples"]


def expected_count(info):
    return info["expected"]


def lost_count(info):
    return info["lost"]


def module_paths(info):
    return [module["path"] for module in info["modules"]]


def is_truncated(info):
    """Whether the end of the file is missing."""
    return not info["complete"]


# Words that a message must contain, in lower case: the thing and the reason, or the remedy.
MESSAGES = {
    "no_such_pid": ("no such process",),
    "other_user": ("not permitted", "root"),
    "not_found": ("not found",),
    "not_executable": ("permission denied",),
    "unwritable": ("cannot", "permission denied"),
    "no_folder": ("no such file or directory",),
    "disk_full": ("no space left",),
    "not_a_recording": ("not a",),
    "truncated": ("truncated", "cut", "incomplete", "unfinished", "lost"),
    "rate": ("10", "10000"),
}

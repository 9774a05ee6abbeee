# SPDX-License-Identifier: BSD-2-Clause
"""What the tests expect of wick's output: names of JSON keys, words, tolerances.

Everything that a change of format would touch is here and nowhere else.
"""

# Exit statuses
DONE, FAILED, USAGE, NOT_EXECUTABLE, NOT_FOUND = 0, 1, 2, 126, 127

# Shares of a workload come out within this many points.
SHARE_TOLERANCE = 3.0
# Samples taken against CPU time x rate. The figure to reach is 1 % on a quiet machine
# (make bench measures it); a shared CI machine gets three.
COUNT_TOLERANCE = 0.03

# What stands where a function or module is not known
UNKNOWN = "[unknown]"


# wick report --format json

def functions(report):
    """{name: row} of a report; rows of one name are added up."""
    rows = {}
    for row in report["functions"]:
        if row["name"] in rows:
            old = rows[row["name"]]
            row = {**row, **{key: old[key] + row[key] for key in
                             ("self_percent", "total_percent", "samples") if key in row}}
        rows[row["name"]] = row
    return rows


def self_percent(report, name):
    return functions(report).get(name, {}).get("self_percent", 0.0)


def total_percent(report, name):
    return functions(report).get(name, {}).get("total_percent", 0.0)


def module_of(report, name):
    return functions(report)[name]["module"]


def threads(report):
    """{thread name: percent} of a report --by thread."""
    shares = {}
    for row in report["threads"]:
        percent = row.get("self_percent", row.get("percent"))
        shares[row["comm"]] = shares.get(row["comm"], 0.0) + percent
    return shares


def thread_ids(report):
    return {row["tid"] for row in report["threads"]}


def process_ids(report):
    return {row["pid"] for row in report["threads"]}


def modules(report):
    """{module: percent} of a report --by module."""
    return {row["name"]: row["self_percent"] for row in report["modules"]}


# wick info --format json

def start_ns(info):
    """Monotonic time of the beginning: what --from and --to count from."""
    return info["start_ns"]


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
    return bool(info["truncated"])


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

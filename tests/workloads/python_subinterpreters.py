# SPDX-License-Identifier: BSD-2-Clause
"""Works in the main interpreter and in another one, for the seconds given as the second argument. The first says
whether the other one runs in a thread of its own ("thread") or is called by the main thread ("called")."""
import sys
import threading

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

FOLDER, SECONDS = sys.path[0], float(sys.argv[2])
WORK = f"""
import sys
sys.path.insert(0, {FOLDER!r})
import python_work

def beside():
    python_work.outer({SECONDS})

beside()
"""


def start():
    other = interpreters.create()
    run = getattr(interpreters, "run_string", None) or interpreters.exec
    run(other, WORK)


def main():
    import python_work  # pylint: disable=import-outside-toplevel
    python_work.outer(SECONDS)


if sys.argv[1] == "called":
    start()
else:
    thread = threading.Thread(target=start)
    thread.start()
    main()
    thread.join()

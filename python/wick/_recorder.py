# SPDX-License-Identifier: BSD-2-Clause
"""The recorder: a process of its own that samples another one with libwick.

As a process of its own, it does not appear in the profile, it may stop the target for a moment, and it can complete
the file after the target has ended. _record.py starts it and talks to it over a socket:

    recorder  {"pid": 1234}            it is there
    target    g                        begin: the target now allows it to look
    recorder  8 bytes on another pipe  sampling has started; written by libwick
    target    any byte, or the end     stop
    recorder  {"code": 0, "text": "", "remedy": ""}
"""
import ctypes
import json
import os
import signal

_PR_SET_NAME = 15


def _detach():
    """Becomes nobody's child: a target that waits for all its children must not wait for us."""
    if os.fork():
        os._exit(0)
    # Ctrl-C and the end of a terminal concern the target; we stop when it asks us to, or ends.
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_PR_SET_NAME, b"wick-recorder", 0, 0, 0)


def _send(control, answer):
    try:
        os.write(control, json.dumps(answer).encode() + b"\n")
    except OSError:
        pass  # the target has ended: the file is all that counts


def _record(request):
    from wick import _binding  # pylint: disable=import-outside-toplevel
    options = _binding.RecordOptions(
        duration_ns=request["duration_ns"], frequency_hz=request["frequency"], mode=request["mode"],
        engine=_binding.optional(request["engine"]), recording=os.fsencode(request["output"]),
        stop_fd=ctypes.pointer(ctypes.c_int(request["control"])),
        started_fd=ctypes.pointer(ctypes.c_int(request["started"])), no_children=not request["children"])
    _binding.call("wick_profile_process", request["pid"], options, None)


def main(words):
    """Runs with the request of _record.py."""
    request = json.loads(words)
    control = request["control"]
    _detach()
    os.environ["WICK_LIBRARY"] = request["library"]
    _send(control, {"pid": os.getpid()})
    if os.read(control, 1) != b"g":
        return
    answer = {"code": 0, "text": "", "remedy": ""}
    try:
        _record(request)
    except Exception as error:  # pylint: disable=broad-exception-caught
        answer = {"code": getattr(error, "code", 0) or 5,
                  "text": getattr(error, "text", "") or f"{type(error).__name__}: {error}",
                  "remedy": getattr(error, "remedy", "")}
    _send(control, answer)

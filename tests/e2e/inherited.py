# SPDX-License-Identifier: BSD-2-Clause
"""Resets what a program inherits from its parent, for programs that tests start."""
import signal


def restore_signals():
    """Programs that are started from now on have the default actions of signals.

    A shell starts background jobs with SIGINT and SIGQUIT ignored, nohup with SIGHUP ignored, and programs
    that a test starts would inherit that. This process still survives SIGHUP and SIGQUIT if it did before.
    """
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_IGN:
            handler = signal.default_int_handler if number == signal.SIGINT else lambda *_: None
            signal.signal(number, handler)

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_SAMPLING_TICK_HANDLER_H
#define WICK_PRELOAD_SAMPLING_TICK_HANDLER_H

/* tick_handler: writes the stack of the thread into its ring at a tick. */

#include <signal.h>
#include <stdbool.h>

/* Handles a tick. False: the signal is not ours. */
bool tick_handler_tick(const siginfo_t *info, void *context);

/* Whether a signal is one of our ticks, possibly of a thread that is gone. */
bool tick_handler_is_own_timer(const siginfo_t *info);

/*
 * Handles a fault. Does not return if it happened in our own code while a stack was taken: that
 * stack is then dropped. False for all others.
 */
bool tick_handler_fault(void *context);

#endif

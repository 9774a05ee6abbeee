/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_SAMPLING_TICK_HANDLER_H
#define WICK_PRELOAD_SAMPLING_TICK_HANDLER_H

/* tick_handler: what happens at a tick: the stack of the thread goes into its ring. */

#include <signal.h>
#include <stdbool.h>

/* A tick. False when the signal is none of ours. */
bool tick_handler_tick(const siginfo_t *info, void *context);

/* Whether a signal is a tick of ours, though maybe of a thread that is gone. */
bool tick_handler_is_own_timer(const siginfo_t *info);

/*
 * A fault. Does not return when it happened in our own code while a stack was taken:
 * that stack is then given up. False for all others.
 */
bool tick_handler_fault(void *context);

#endif

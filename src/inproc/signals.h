/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_INPROC_SIGNALS_H
#define WICK_INPROC_SIGNALS_H

/*
 * signals: shares signals with the program.
 *
 * Ticks come by SIGPROF, or by a real-time signal when the program wants SIGPROF
 * for itself, has it blocked or ignored when it begins. Faults are looked at
 * before the program sees them: those of our own code are not its business. The
 * program may ask for and set its own actions as ever; the kernel has ours, with
 * the flags and the mask of the program's, and what is not ours is passed on.
 */

#include <signal.h>
#include <stdbool.h>

/* Takes the signals. False when none can be had. */
bool signals_set_up(void);

/* The signal of ticks, 0 without. */
int signals_tick(void);

/* The set without the signal of ticks, which may be in copy; NULL stays NULL. */
const sigset_t *signals_without_tick(const sigset_t *set, sigset_t *copy);

#endif

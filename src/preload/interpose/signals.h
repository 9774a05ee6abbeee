/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_INTERPOSE_SIGNALS_H
#define WICK_PRELOAD_INTERPOSE_SIGNALS_H

/*
 * signals: shares signals with the program.
 *
 * Ticks come by SIGPROF, or by a real-time signal when the program wants SIGPROF
 * for itself: has it blocked or ignored when it begins, handles, names or awaits it. Faults are
 * looked at before the program sees them: those of our own code are not its business. The program
 * may ask for and set its own actions as ever; the kernel has ours, with the flags and the mask of
 * the program's, and what is not ours is passed on.
 */

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Takes the signals. False when none can be had. */
bool signals_set_up(void);

/* The signal of ticks, 0 without. */
int signals_tick(void);

/* The set without the signal of ticks, which may be in copy; NULL stays NULL. */
const sigset_t *signals_without_tick(const sigset_t *set, sigset_t *copy);

/* Whether a set has the signal of ticks, and is not as good as all signals. */
bool signals_names_tick(const sigset_t *set);

/* Leaves the signal of ticks to the program, if there is another one. */
void signals_make_way(void);

/*
 * Blocks a signal in what a handler returns to, when the program believes that it is
 * blocked there. False when it does not.
 */
bool signals_hold(int number, ucontext_t *context);

/* Blocks what the program believes blocked. Returns what to unblock again: without_ticks_end(). */
uint64_t signals_block_believed(void);

/*
 * Whether this is a child of vfork: it has our memory, but signals of its own, and what it
 * says of them is for the kernel alone, or its parent would have it too.
 */
bool signals_is_other_process(void);

/* Whether a signal is one of our ticks. */
bool signals_is_tick(const siginfo_t *info);

#endif

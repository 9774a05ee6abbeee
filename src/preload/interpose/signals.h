/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_INTERPOSE_SIGNALS_H
#define WICK_PRELOAD_INTERPOSE_SIGNALS_H

/*
 * signals: shares signals with the program.
 *
 * Ticks use SIGPROF, or a real-time signal if the program uses SIGPROF itself: if SIGPROF is
 * blocked or ignored at the start, or the program handles, names or awaits it. We see faults before
 * the program does and handle those of our own code. The program can query and set its own actions
 * as usual; the kernel has ours, with the flags and mask of the program's, and signals that are not
 * ours are passed on.
 */

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Installs our handlers. False: no signal is available. */
bool signals_set_up(void);

/* The signal of ticks; 0: none. */
int signals_tick(void);

/* The set without the signal of ticks, possibly stored in copy; NULL stays NULL. */
const sigset_t *signals_without_tick(const sigset_t *set, sigset_t *copy);

/* Whether a set names the signal of ticks, and not practically all signals. */
bool signals_names_tick(const sigset_t *set);

/* Leaves the signal of ticks to the program, if another is available. */
void signals_make_way(void);

/*
 * Blocks a signal in the context that a handler returns to, if the program has it blocked there.
 * False if not.
 */
bool signals_hold(int number, ucontext_t *context);

/* Blocks what the program has blocked. Returns what to unblock again: without_ticks_end(). */
uint64_t signals_block_believed(void);

/*
 * Whether this is a child of vfork: it shares our memory, but has its own signals, so its changes
 * must go only to the kernel, or they would affect its parent.
 */
bool signals_is_other_process(void);

/* Whether a signal is one of our ticks. */
bool signals_is_tick(const siginfo_t *info);

#endif

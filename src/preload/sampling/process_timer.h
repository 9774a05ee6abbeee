/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_SAMPLING_PROCESS_TIMER_H
#define WICK_PRELOAD_SAMPLING_PROCESS_TIMER_H

/*
 * process_timer: the fallback for threads without a kernel timer: the single timer for the CPU time
 * of all threads (ITIMER_PROF). It ticks in the running thread, no faster than the kernel tick, and
 * only with SIGPROF. If the program uses it, we do not.
 *
 * It survives exec, where nothing would handle its signal: exec.c suspends it.
 */

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Starts it. False if the program uses it or SIGPROF, or if the kernel refuses. */
bool process_timer_start(void);

/* Stop it; suspend it; and resume it after that. */
void process_timer_stop(void);
bool process_timer_rest(void);
void process_timer_wake(bool rested);

/* Call in a child of fork, which does not inherit timers. */
void process_timer_forget(void);

/* Whether a signal is a tick of this timer, possibly a late one. Async-signal-safe. */
bool process_timer_is_tick(const siginfo_t *info);

/* The CPU time of all threads between two ticks. */
uint64_t process_timer_period_ns(void);

/* Call at a tick: sets the next one by the current period. */
void process_timer_ticked(void);

#endif

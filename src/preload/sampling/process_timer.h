/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_SAMPLING_PROCESS_TIMER_H
#define WICK_PRELOAD_SAMPLING_PROCESS_TIMER_H

/*
 * process_timer: the last resort for threads that the kernel has no timer for: the one
 * timer of the CPU time of all of them (ITIMER_PROF). Its tick comes to the thread that
 * runs, no oftener than the kernel ticks, by SIGPROF and no other signal. A program that
 * uses it itself has it for itself.
 *
 * It outlives exec, where nobody would be left to take its signal: exec.c lets it rest.
 */

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Lets it tick. False when the program uses it, or SIGPROF, or the kernel refuses. */
bool process_timer_start(void);

/* Ends its ticks; the same for a while, and what goes on after that. */
void process_timer_stop(void);
bool process_timer_rest(void);
void process_timer_wake(bool rested);

/* In a child of fork, which has none of its parent's timers. */
void process_timer_forget(void);

/* Whether a signal is a tick of it, though maybe a late one. Safe in handlers. */
bool process_timer_is_tick(const siginfo_t *info);

/* The CPU time of all threads between two ticks. */
uint64_t process_timer_period_ns(void);

/* A tick came: the next is as far away as is wanted by now. */
void process_timer_ticked(void);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_SAMPLING_THREAD_TIMER_H
#define WICK_PRELOAD_SAMPLING_THREAD_TIMER_H

/*
 * thread_timer: the ticks of a thread.
 *
 * A timer of the thread's CPU time ticks no faster than the kernel does (250 times
 * a second is usual). For more, the clock ticks while the thread runs: a tick of
 * CPU time starts it, some ticks of it during which the thread hardly ran stop it,
 * so threads that sleep are left alone. Each sample weighs what the thread's own
 * CPU clock says: no tick that is missing or late makes the sums wrong.
 *
 * The first tick comes by the clock, at a random moment of the first period, and its
 * sample weighs a whole one. So threads that live for less than a period have their
 * share as well: few of them are met, and those stand for the others.
 */

#include <stdbool.h>
#include <stdint.h>

struct preload_thread;

/* Which timer a tick is of; what the signal carries besides the thread. */
#define TIMER_OF_CLOCK 1u

struct thread_timer_tick {
	bool of_clock;   /* not of CPU time */
	bool overrun;    /* others would have come since */
	uint64_t now_ns; /* of the clock; 0: not looked at yet */
};

/* Starts the ticks of a thread. Any thread may do that for any other. */
bool thread_timer_start(struct preload_thread *thread);
void thread_timer_stop(struct preload_thread *thread);

/*
 * The timer of the process ticks for a thread. As with timers of their own the first one
 * weighs a whole period: few short threads are met, and those stand for the others.
 */
void thread_timer_meet(struct preload_thread *thread);

/* While nothing is sampled: few ticks, to see whether that goes on. And the end of that. */
void thread_timer_slow(struct preload_thread *thread, uint64_t period_ns);
void thread_timer_resume(struct preload_thread *thread);

/*
 * A tick came. Returns whether it is one to sample at: one of the clock while the thread
 * slept, or was kept from its CPU, is not. What the time weighs goes to the next.
 */
bool thread_timer_ticked(struct preload_thread *thread, struct thread_timer_tick tick,
			 uint64_t cpu_ns);

/* The distance of ticks that is wanted now. */
uint64_t thread_timer_period_ns(void);

#endif

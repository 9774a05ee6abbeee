/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_SAMPLING_THREAD_TIMER_H
#define WICK_PRELOAD_SAMPLING_THREAD_TIMER_H

/*
 * thread_timer: the ticks of a thread.
 *
 * A timer of the thread's CPU time ticks no faster than the kernel (usually 250 times a second).
 * For higher rates a wall-clock timer ticks while the thread runs: a tick of CPU time starts it,
 * and some of its ticks during which the thread hardly ran stop it, so sleeping threads are not
 * disturbed. The weight of a sample comes from the thread's own CPU clock: missing or late ticks do
 * not falsify the sums.
 *
 * The first tick comes from the wall clock, at a random time in the first period, and its sample
 * has the weight of a whole period. So threads that live for less than a period get their share as
 * well: few of them are sampled, and these represent the others.
 */

#include <stdbool.h>
#include <stdint.h>

struct preload_thread;

/* Which timer ticked; sent with the signal, besides the thread. */
#define TIMER_OF_CLOCK 1u

struct thread_timer_tick {
	bool of_clock;   /* of the wall clock, not of CPU time */
	bool overrun;    /* more ticks have been due since */
	uint64_t now_ns; /* wall clock */
};

/* Starts the ticks of a thread. Any thread may do that for another. */
bool thread_timer_start(struct preload_thread *thread);
void thread_timer_stop(struct preload_thread *thread);

/*
 * Call when the process timer ticks for a thread. As with a timer of its own, the first tick has
 * the weight of a whole period: few short threads are sampled, and these represent the others.
 */
void thread_timer_meet(struct preload_thread *thread);

/*
 * While nothing is sampled, ticks only check whether that has changed, and are fewer. The second
 * function ends that; it gets the wall clock and the CPU time of the thread.
 */
void thread_timer_slow(struct preload_thread *thread, uint64_t period_ns);
void thread_timer_resume(struct preload_thread *thread, uint64_t now_ns, uint64_t cpu_ns);

/*
 * Call at a tick. Returns whether to take a sample: not at a tick of the wall clock while the
 * thread slept or waited for a CPU. The weight then goes to the next sample.
 */
bool thread_timer_ticked(struct preload_thread *thread, struct thread_timer_tick tick,
			 uint64_t cpu_ns);

/* The current period of ticks. */
uint64_t thread_timer_period_ns(void);

#endif

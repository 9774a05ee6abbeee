/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_THREAD_H
#define WICK_PRELOAD_THREAD_H

/* thread: the life of threads: their slots, stacks and ticks. */

#include <stdint.h>

#include "unwind/frame.h"

struct preload_thread;

/* Takes a slot for a thread to be started; NULL: none left. */
struct preload_thread *thread_take(void);

/* Returns a slot that was never used. */
void thread_return(struct preload_thread *thread);

/* The running thread starts to use its slot: ticks begin. */
void thread_begin(struct preload_thread *thread, struct unwind_stack stack);

/* The running thread ends, or is no longer recorded. */
void thread_end(struct preload_thread *thread);

/* Begins for the main thread of the program. */
void thread_begin_main(void);

/*
 * Begins for the only thread of a child, on the stack of the thread that called fork, with its
 * labels and parts.
 */
void thread_begin_forked(const struct preload_thread *forked);

/* Sets up the notification of thread ends. Call once, before any begins. */
void thread_set_up(void);

/* After a fork: only this thread is left, and it has no slot yet. */
void thread_forget_all(void);

/* Stops the ticks of all threads. */
void thread_stop_all(void);

/* Switches the ticks of all threads to another signal. */
void thread_rearm_all(void);

/* Finds a thread by id; NULL: it has no slot. Async-signal-safe. */
struct preload_thread *thread_find(uint32_t tid);

#endif

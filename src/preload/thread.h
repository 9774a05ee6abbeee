/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_THREAD_H
#define WICK_PRELOAD_THREAD_H

/* thread: threads from birth to death: their slots, stacks and ticks. */

#include <stdint.h>

#include "unwind/frame.h"

struct preload_thread;

/* A slot for a thread that is to come; NULL when there is none. */
struct preload_thread *thread_take(void);

/* Gives a slot back that was never used. */
void thread_return(struct preload_thread *thread);

/* The thread that runs now has it: ticks begin. */
void thread_begin(struct preload_thread *thread, struct unwind_stack stack);

/* The thread that runs now ends, or has no more to do with us. */
void thread_end(struct preload_thread *thread);

/* Begins for the thread that the program started with. */
void thread_begin_main(void);

/*
 * Begins for the one thread of a child, on the stack of the thread that called fork, with
 * its labels and in its parts.
 */
void thread_begin_forked(const struct preload_thread *forked);

/* Makes threads say good-bye. To be called once, before any begins. */
void thread_set_up(void);

/* After a fork: the only thread that is left is this one, and has nothing yet. */
void thread_forget_all(void);

/* No more ticks of any thread. */
void thread_stop_all(void);

/* Ticks of all threads by another signal from now on. */
void thread_rearm_all(void);

/* The thread of an id, NULL when it has no slot. Safe in handlers. */
struct preload_thread *thread_find(uint32_t tid);

#endif

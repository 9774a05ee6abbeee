/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_INPROC_STACK_H
#define WICK_INPROC_STACK_H

/* stack: walks the stack of the thread that runs, for whoever wants it in a record. */

#include <stdint.h>

struct inproc_thread;
struct ring_sample;
struct unwind_frame;
struct unwind_trace;

/*
 * Walks from frame on into trace->pcs, which has room for INPROC_DEPTH. Returns how it
 * ended, as the flags of a record have it.
 */
uint16_t stack_walk(struct inproc_thread *thread, const struct unwind_frame *frame,
		    struct unwind_trace *trace);

/* Puts the stack from frame on into thread->pcs; its count and how it ended into sample. */
void stack_take(struct inproc_thread *thread, const struct unwind_frame *frame,
		struct ring_sample *sample);

#endif

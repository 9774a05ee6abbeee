/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_STACK_H
#define WICK_PRELOAD_STACK_H

/* stack: walks the stack of the thread that runs, for whoever wants it in a record. */

#include <stdbool.h>
#include <stdint.h>

struct preload_thread;
struct ring_sample;
struct unwind_frame;
struct unwind_trace;

/*
 * Walks from frame on into trace->pcs, as far as trace->capacity goes. Returns how it ended,
 * as the flags of a record have it.
 */
uint16_t stack_walk(struct preload_thread *thread, const struct unwind_frame *frame,
		    struct unwind_trace *trace);

/* Whether stacks can be walked by rules, now: not where modules have just come or gone. */
bool stack_has_rules(void);

/* How many frames are wanted of a stack: PRELOAD_DEPTH at most. */
uint32_t stack_depth(void);

/* Where our own code lies, as the linker tells. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _etext[] __attribute__((visibility("hidden")));

static inline bool stack_is_own(uint64_t pc)
{
	return pc >= (uint64_t)(uintptr_t)__ehdr_start && pc < (uint64_t)(uintptr_t)_etext;
}

/* Puts the stack from frame on into thread->pcs; its count and how it ended into sample. */
void stack_take(struct preload_thread *thread, const struct unwind_frame *frame,
		struct ring_sample *sample);

#endif

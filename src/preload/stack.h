/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_STACK_H
#define WICK_PRELOAD_STACK_H

/* stack: walks the stack of the running thread. */

#include <stdbool.h>
#include <stdint.h>

struct preload_thread;
struct ring_sample;
struct unwind_frame;
struct unwind_trace;

/*
 * Walks from frame into trace->pcs, up to trace->capacity. Returns how the walk ended, as flags of
 * a record.
 */
uint16_t stack_walk(struct preload_thread *thread, const struct unwind_frame *frame,
		    struct unwind_trace *trace);

/*
 * Whether stacks can be walked with unwind rules now: not while modules have just been loaded or
 * unloaded.
 */
bool stack_has_rules(void);

/* The number of frames to record: at most PRELOAD_DEPTH. */
uint32_t stack_depth(void);

/* The bounds of our own code, from the linker. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _etext[] __attribute__((visibility("hidden")));

static inline bool stack_is_own(uint64_t pc)
{
	return pc >= (uint64_t)(uintptr_t)__ehdr_start && pc < (uint64_t)(uintptr_t)_etext;
}

/* Puts the stack from frame into thread->pcs, and its count and end into sample. */
void stack_take(struct preload_thread *thread, const struct unwind_frame *frame,
		struct ring_sample *sample);

#endif

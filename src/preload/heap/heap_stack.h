/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_HEAP_HEAP_STACK_H
#define WICK_PRELOAD_HEAP_HEAP_STACK_H

/* heap_stack: the numbers of stacks. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/heap/heap.h"
#include "preload/heap/heap_memory.h"
#include "preload/heap/known_stacks.h"
#include "preload/runtime.h"

/* What known stacks are based on: the modules, and whether Python's calls belong to stacks. */
static inline uint64_t heap_stack_generation(void)
{
	uint64_t generation =
		atomic_load_explicit(&preload.process->maps_changed, memory_order_relaxed);
	bool python = atomic_load_explicit(&preload.process->python[0], memory_order_relaxed) != 0;

	return generation | (uint64_t)python << 32;
}

bool heap_stack_number_slowly(struct preload_thread *thread, const struct heap_site *site,
			      uint32_t *ret);
bool heap_stack_walk(struct preload_thread *thread, const struct heap_site *site, uint32_t *ret);

/*
 * Gets the number of the stack of a call. False if it is new and there was no space to write it, or
 * no way to walk it.
 */
HEAP_INLINE bool heap_stack_number(struct preload_thread *thread, const struct heap_site *site,
				   uint32_t *ret)
{
	struct heap_memory *memory = thread->heap;

	const struct session_process *process = preload.process;
	uint64_t modules = atomic_load_explicit(&process->maps_changed, memory_order_relaxed);
	uint64_t python = atomic_load_explicit(&process->python[0], memory_order_relaxed);

	if (__builtin_expect((memory->generation ^ modules) | python | thread->python_state, 0)) {
		const struct heap_site copy = *site; /* lets the other be in registers */

		return heap_stack_number_slowly(thread, &copy, ret);
	}
	/* This reads only active frames of the thread: it cannot fault. */
	if (__builtin_expect(!heap_shape_find(memory, site, 0, ret), 0)) {
		const struct heap_site copy = *site;

		return heap_stack_walk(thread, &copy, ret);
	}
	return true;
}

/*
 * The same, and returns its frames, with which any thread can write the stack again:
 * heap_stack_again().
 */
bool heap_stack_keep(struct preload_thread *thread, const struct heap_site *site,
		     struct heap_frames *ret_frames, uint32_t *ret);
bool heap_stack_again(struct preload_thread *thread, const struct heap_frames *frames,
		      uint32_t *ret);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BLOCK_TRACE_MEMORY_H
#define WICK_BLOCK_TRACE_MEMORY_H

/*
 * memory: where the tables of a tracer live. It comes from the kernel, because a tracer runs inside
 * the allocator that it watches.
 *
 * Threads: the counters may be changed by several threads; an array belongs to its owner's lock.
 */

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct trace_memory {
	_Atomic uint64_t bytes; /* what is mapped now */
	/* For tests: the request with this number fails, counted from 1; 0: none. */
	_Atomic uint64_t fails_at;
	_Atomic uint64_t requests;
};

/* Returns zeroed pages or NULL. */
void *trace_memory_map(struct trace_memory *memory, size_t bytes);
void trace_memory_unmap(struct trace_memory *memory, void *start, size_t bytes);

/* An array that may move when it grows. All zero: empty. */
struct trace_array {
	void *items;
	size_t capacity; /* items */
	size_t item_bytes;
};

/* Makes room for `count` items in all. Returns 0 or -ENOMEM; the array is then as before. */
int trace_array_reserve(struct trace_memory *memory, struct trace_array *array, size_t count);
void trace_array_free(struct trace_memory *memory, struct trace_array *array);

#endif

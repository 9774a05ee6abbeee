/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BLOCK_TRACE_MEMORY_H
#define WICK_BLOCK_TRACE_MEMORY_H

/*
 * memory: memory for the tables of a tracer. It is allocated with mmap(), because a tracer runs
 * inside the allocator that it traces.
 *
 * Threads: several threads may change the counters; for an array, the owner has to lock.
 */

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct trace_memory {
	_Atomic uint64_t bytes; /* mapped now */
	/* For tests: makes the request with this number fail, counted from 1; 0: none. */
	_Atomic uint64_t fails_at;
	_Atomic uint64_t requests;
};

/* Returns zeroed pages or NULL. */
void *trace_memory_map(struct trace_memory *memory, size_t bytes);
void trace_memory_unmap(struct trace_memory *memory, void *start, size_t bytes);

/* An array that may move when it grows. A zeroed struct is an empty array. */
struct trace_array {
	void *items;
	size_t capacity; /* items */
	size_t item_bytes;
};

/* Makes room for `count` items in total. Returns 0, or -ENOMEM without changing the array. */
int trace_array_reserve(struct trace_memory *memory, struct trace_array *array, size_t count);
/* Frees all but the first pages, and what the array held there stays. */
void trace_array_shrink(struct trace_memory *memory, struct trace_array *array);
void trace_array_free(struct trace_memory *memory, struct trace_array *array);

#endif

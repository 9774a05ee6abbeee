/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_THREAD_MEMORY_H
#define WICK_PRELOAD_THREAD_MEMORY_H

/*
 * thread_memory: memory for the state of each thread. The first threads have separate mappings;
 * those of further threads are shared, because the kernel limits the mappings of a process
 * (65,530), which the program needs for its stacks.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "wire/session.h"

#define THREAD_ROOM_ALONE 64u
#define THREAD_ROOM_TOGETHER 64u

struct thread_memory {
	uint64_t bytes; /* per thread */
	bool wiped;     /* zeroed in children */
	_Atomic(void *) parts[THREAD_ROOM_ALONE + SESSION_SLOTS / THREAD_ROOM_TOGETHER];
};

/* The memory for a thread, the same each time. NULL: out of memory. */
void *thread_memory_get(struct thread_memory *room, uint32_t index);

#endif

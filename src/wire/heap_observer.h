/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_WIRE_HEAP_OBSERVER_H
#define WICK_WIRE_HEAP_OBSERVER_H

/*
 * heap_observer: lets another library in the process see what the program allocates, through the
 * preload library. wick's Python module uses it.
 *
 * The functions are called in the thread that allocates, with or without a session, and not for
 * calls that an allocator makes itself. They must preserve errno and be ready for any thread at any
 * time, also for a short time after the observer was removed.
 */

#include <stddef.h>
#include <stdint.h>

#define HEAP_OBSERVER_VERSION 1u

struct heap_observer {
	uint32_t bytes; /* size of this struct */
	uint32_t version;
	void (*allocated)(void *block, size_t size, uint64_t caller); /* its return address */
	void (*freeing)(void *block); /* before it is released; not NULL */
	void (*moving)(void *block);  /* before realloc(): followed by allocated() or stayed() */
	void (*stayed)(void *block);  /* realloc() failed */
};

/*
 * The preload library exports this function: look it up by name. Keeps `observer`; NULL removes
 * it. Returns 0, -EINVAL for another version, or -EBUSY if there is another observer.
 */
int wick_observe_heap(const struct heap_observer *observer);

#define HEAP_OBSERVER_FUNCTION "wick_observe_heap"

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_HEAP_HEAP_NESTED_H
#define WICK_PRELOAD_HEAP_HEAP_NESTED_H

/*
 * heap_nested: whether a call of the allocator that seems to be within another one is. What a
 * jump has left behind on the stack may stay there for long, below a frame that writes nothing
 * to it, as one with a large array:
 *
 *	within			left
 *
 *	program			program
 *	our malloc()		a large frame of the program, with a left call in it
 *	the allocator		...
 *	our malloc(), again	our malloc()
 *
 * So the stack is walked: if the frame that lies where the first call had its own is none of our
 * functions, that call is over. A walk that may have gone wrong tells nothing: then the call
 * counts as going on. Calls that are within, as those of operator new, are looked at once for
 * each distance: whoever is at that distance again is in the same call of ours, which was noted
 * anew.
 */

#include <stdbool.h>
#include <stdint.h>

#include "preload/heap/heap.h"

/* Of a call that is not known to be within: when it is found to be, it is from then on. */
bool heap_nested_look(struct preload_thread *thread, const struct heap_site *site,
		      struct preload_nested *known);

/* Whether the call that this one seems to be within is over. */
static inline bool heap_was_left(struct preload_thread *thread, const struct heap_site *site)
{
	uint64_t distance = thread->inside - site->frame;
	uint64_t hash = (site->pc ^ distance) * 0x9e3779b97f4a7c15ull;
	struct preload_nested *known = thread->nested[hash >> 32 & (PRELOAD_NESTED - 1)];

	for (uint32_t i = 0; i < PRELOAD_NESTED_WAYS; i++)
		if (known[i].pc == site->pc && known[i].distance == distance)
			return false;
	return heap_nested_look(thread, site, known);
}

#endif

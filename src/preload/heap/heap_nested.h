/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_HEAP_HEAP_NESTED_H
#define WICK_PRELOAD_HEAP_HEAP_NESTED_H

/*
 * heap_nested: whether an allocator call that seems to be inside another one really is. What a
 * longjmp leaves on the stack may stay there for long, below a frame that does not overwrite it,
 * such as one with a large array:
 *
 *	really inside		seems to be inside
 *
 *	program			program
 *	our malloc()		a large frame, with the remains of a call of our malloc()
 *	the allocator		...
 *	our malloc(), again	our malloc()
 *
 * So the stack is walked: if the frame at the position of the first call is not one of our
 * functions, that call is over. If the walk may have failed, the call counts as active. Calls that
 * are really inside, such as those of operator new, are checked once for each distance: a later
 * call at the same distance is inside the same kind of outer call, which was noted again.
 */

#include <stdbool.h>
#include <stdint.h>

#include "preload/heap/heap.h"

/* Checks a call that is not known to be inside another; the result is remembered if it is. */
bool heap_nested_look(struct preload_thread *thread, const struct heap_site *site,
		      struct preload_nested *known);

/* Whether the apparent outer call is over. */
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

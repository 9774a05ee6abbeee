/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/clock_skew.h"

#include <string.h>

#include "model/heap_event.h"

void heap_clock_skew_add(struct heap_clock_skew *skew, const struct heap_half *half)
{
	if (skew->count == HEAP_HALVES) {
		skew->count--;
		memmove(skew->halves, skew->halves + 1, skew->count * sizeof(*skew->halves));
	}
	skew->halves[skew->count++] = *half;
}

bool heap_clock_skew_take(struct heap_clock_skew *skew, const struct heap_half *half,
			  struct heap_half *ret)
{
	bool found = false;
	size_t kept = 0;

	for (size_t i = 0; i < skew->count; i++) {
		struct heap_half at = skew->halves[i];

		if (at.time_ns + HEAP_CLOCK_SKEW_NS < half->time_ns)
			continue;
		if (!found && at.address == half->address && at.space == half->space &&
		    at.thread != half->thread) {
			found = true;
			*ret = at;
			continue;
		}
		skew->halves[kept++] = at;
	}
	skew->count = kept;
	return found;
}

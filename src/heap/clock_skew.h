/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_CLOCK_SKEW_H
#define WICK_HEAP_CLOCK_SKEW_H

/*
 * clock_skew: halves of pairs that may have come in the wrong order: the clocks of two CPUs differ
 * by up to HEAP_CLOCK_SKEW_NS. Few wait at a time, and never for long.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_half {
	uint64_t address;
	uint64_t time_ns;
	uint32_t space;  /* of heap_live */
	uint32_t thread; /* whose event it was: the other half is another one's */
	uint32_t share;  /* of the block, where there is one */
	bool counted;    /* as unknown */
};

#define HEAP_HALVES 64u

/* All zero is an empty one. */
struct heap_clock_skew {
	struct heap_half halves[HEAP_HALVES]; /* the oldest first */
	size_t count;
};

/* Keeps one in mind; the oldest is forgotten when there are too many. */
void heap_clock_skew_add(struct heap_clock_skew *skew, const struct heap_half *half);

/*
 * Finds the other half of one: same place, another thread, not too long ago. It is not kept any
 * longer then, nor are those that are too old.
 */
bool heap_clock_skew_take(struct heap_clock_skew *skew, const struct heap_half *half,
			  struct heap_half *ret);

#endif

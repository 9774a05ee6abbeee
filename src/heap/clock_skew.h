/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_CLOCK_SKEW_H
#define WICK_HEAP_CLOCK_SKEW_H

/*
 * clock_skew: an allocation and its free may arrive in the wrong order, because the clocks of two
 * CPUs differ by up to HEAP_CLOCK_SKEW_NS. This keeps halves until their other half arrives; few
 * wait at a time, and never for long.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_half {
	uint64_t address;
	uint64_t time_ns;
	uint32_t space;  /* of heap_live */
	uint32_t thread; /* thread of the event: the other half is from another thread */
	uint32_t share;  /* of the block, if any */
	bool counted;    /* was counted as unknown */
};

#define HEAP_HALVES 64u

/* All zero is empty. */
struct heap_clock_skew {
	struct heap_half halves[HEAP_HALVES]; /* oldest first */
	size_t count;
};

/* Adds a half; drops the oldest if there are too many. */
void heap_clock_skew_add(struct heap_clock_skew *skew, const struct heap_half *half);

/*
 * Finds the other half: same address, another thread, recent enough. Removes it, and all that are
 * too old.
 */
bool heap_clock_skew_take(struct heap_clock_skew *skew, const struct heap_half *half,
			  struct heap_half *ret);

#endif

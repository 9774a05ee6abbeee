/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_TIMELINE_LEVEL_H
#define WICK_HEAP_TIMELINE_LEVEL_H

/*
 * level: what is live in one part of the heap, and what was live there at the peak of the whole
 * heap.
 *
 * While a program grows there are millions of new peaks, so levels are not updated at each: peaks
 * are only numbered. The first change of a level after a peak saves its old value, which is its
 * value at the peak.
 */

#include <stdint.h>

#include "heap/sample_weight.h"

struct heap_level {
	struct heap_sum live;
	struct heap_sum noted; /* live at the peak with number `peak` */
	uint64_t peak;
};

/* Adds to what is live, or subtracts; peak is the number of the last peak. */
static inline void heap_level_change(struct heap_level *level, uint64_t peak,
				     struct heap_sum change)
{
	if (level->peak != peak) {
		level->peak = peak;
		level->noted = level->live;
	}
	level->live.bytes += change.bytes;
	level->live.blocks += change.blocks;
}

static inline struct heap_sum heap_level_at_peak(const struct heap_level *level, uint64_t peak)
{
	return level->peak == peak ? level->noted : level->live;
}

#endif

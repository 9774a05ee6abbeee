/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_TIMELINE_LEVEL_H
#define WICK_HEAP_TIMELINE_LEVEL_H

/*
 * level: what is live of something, and what was at the peak of all of it together.
 *
 * Peaks come by the million while a program grows, so nobody is told of them: they are only
 * numbered. Whoever changes a level for the first time after a peak notes what it was: that is
 * what it was at the peak.
 */

#include <stdint.h>

#include "heap/weight.h"

struct heap_level {
	struct heap_sum live;
	struct heap_sum noted; /* live at the peak of that number */
	uint64_t peak;
};

/* Adds to what is live, or takes away; peak is the number of the last one. */
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

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_TICK_CLOCK_H
#define WICK_ENGINE_SIGNAL_TICK_CLOCK_H

/* tick_clock: converts ticks of the CPU's counter to CLOCK_MONOTONIC, from pairs of both. */

#include <stdint.h>

struct tick_pair {
	uint64_t ticks;
	uint64_t ns;
};

struct tick_clock {
	struct tick_pair first; /* for the rate, which the longest interval gives best */
	struct tick_pair last;
	double ns_per_tick; /* from both pairs; 0: not known yet */
};

/* Reads both clocks now. */
void tick_clock_pair(struct tick_clock *clock);

/* The time of ticks, relative to the last pair. */
static inline uint64_t tick_clock_ns(const struct tick_clock *clock, uint64_t ticks)
{
	int64_t away = (int64_t)(ticks - clock->last.ticks);
	double ns_per_tick = clock->ns_per_tick > 0 ? clock->ns_per_tick : 1.0;

	return clock->last.ns + (uint64_t)(int64_t)((double)away * ns_per_tick);
}

#endif

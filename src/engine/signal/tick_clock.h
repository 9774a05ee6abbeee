/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_TICK_CLOCK_H
#define WICK_ENGINE_SIGNAL_TICK_CLOCK_H

/* tick_clock: from ticks of the CPU's counter to CLOCK_MONOTONIC, by pairs of both. */

#include <stdint.h>

struct tick_pair {
	uint64_t ticks;
	uint64_t ns;
};

struct tick_clock {
	struct tick_pair first; /* for the rate, which the longest stretch tells best */
	struct tick_pair last;
	double ns_per_tick; /* of both; 0: not yet */
};

/* Notes what both say now. */
void tick_clock_pair(struct tick_clock *clock);

/* When it was, by the pair that is nearest in time. */
static inline uint64_t tick_clock_ns(const struct tick_clock *clock, uint64_t ticks)
{
	int64_t away = (int64_t)(ticks - clock->last.ticks);
	double ns_per_tick = clock->ns_per_tick > 0 ? clock->ns_per_tick : 1.0;

	return clock->last.ns + (uint64_t)(int64_t)((double)away * ns_per_tick);
}

#endif

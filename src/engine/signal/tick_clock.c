/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/signal/tick_clock.h"

#include "base/clock.h"
#include "safe/ticks.h"

#define TRIES 5

/* Reads both clocks at once: takes the fastest of several tries. */
static struct tick_pair read_pair(void)
{
	struct tick_pair best = {0};
	uint64_t best_width = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = safe_ticks();
		uint64_t ns = clock_monotonic_ns();
		uint64_t width = safe_ticks() - before;

		if (width < best_width) {
			best = (struct tick_pair){before + width / 2, ns};
			best_width = width;
		}
	}
	return best;
}

void tick_clock_pair(struct tick_clock *clock)
{
	clock->last = read_pair();
	if (clock->first.ns == 0)
		clock->first = clock->last;
	if (clock->last.ticks != clock->first.ticks)
		clock->ns_per_tick = (double)(clock->last.ns - clock->first.ns) /
				     (double)(clock->last.ticks - clock->first.ticks);
}

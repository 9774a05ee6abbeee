/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/interruption_cost.h"

#include <stdlib.h>

#define LIMIT_NS (20 * NS_PER_MS)

/*
 * A round of clock reads takes tens of nanoseconds; a longer gap is an interruption, and one above
 * the upper limit was caused by something else.
 */
#define HOLE_MIN_NS 400u
#define HOLE_MAX_NS (50 * NS_PER_US)

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

size_t interruption_cost_measure(uint64_t holes_ns[HOLES_WANTED])
{
	uint64_t start_ns = clock_monotonic_ns();
	uint64_t last_ns = start_ns;
	size_t count = 0;

	while (count < HOLES_WANTED && last_ns - start_ns < LIMIT_NS) {
		uint64_t now_ns = clock_monotonic_ns();
		uint64_t hole_ns = now_ns - last_ns;

		if (hole_ns > HOLE_MIN_NS && hole_ns < HOLE_MAX_NS)
			holes_ns[count++] = hole_ns;
		last_ns = now_ns;
	}
	return count;
}

uint64_t interruption_cost_median_ns(uint64_t *holes_ns, size_t count)
{
	if (count < HOLES_WANTED / 4)
		return 0;
	qsort(holes_ns, count, sizeof(*holes_ns), compare);
	return holes_ns[count / 2];
}

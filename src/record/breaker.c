/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/breaker.h"

#include <stddef.h>

#define OPENS_AFTER 2u
#define CLOSES_AFTER 5u
#define CLEARLY_BELOW 0.85 /* of the limit */
/* The same for a slow breaker: 80 % with a limit of 90 %. */
#define SLOW_CLOSES_AFTER 60u
#define SLOW_BELOW (8.0 / 9)

void breaker_init(struct breaker *breaker, double limit)
{
	*breaker = (struct breaker){.limit = limit};
}

void breaker_init_slow(struct breaker *breaker, double limit)
{
	*breaker = (struct breaker){.limit = limit, .slow = true};
}

/* Of how many periods in a row the state changes, and when one counts. */
static uint32_t patience(const struct breaker *breaker)
{
	if (breaker->slow)
		return breaker->open ? SLOW_CLOSES_AFTER : 1;
	return breaker->open ? CLOSES_AFTER : OPENS_AFTER;
}

static bool is_against(const struct breaker *breaker)
{
	if (breaker->slow && breaker->periods < BREAKER_MEAN_MAX)
		return false;
	if (!breaker->open)
		return breaker->busy > breaker->limit;
	return breaker->busy < breaker->limit * (breaker->slow ? SLOW_BELOW : CLEARLY_BELOW);
}

/* The mean of the last periods. */
static double mean_of(struct breaker *breaker, uint64_t busy_ns, uint64_t total_ns)
{
	size_t at = breaker->periods++ % BREAKER_MEAN_MAX;

	breaker->busy_ns[at] = busy_ns;
	breaker->total_ns[at] = total_ns;
	busy_ns = total_ns = 0;
	for (size_t i = 0; i < BREAKER_MEAN_MAX; i++) {
		busy_ns += breaker->busy_ns[i];
		total_ns += breaker->total_ns[i];
	}
	return (double)busy_ns / (double)total_ns;
}

bool breaker_look(struct breaker *breaker, uint64_t busy_ns, uint64_t total_ns)
{
	uint64_t busy = busy_ns - breaker->last_busy_ns;
	uint64_t total = total_ns - breaker->last_total_ns;
	bool first = breaker->last_total_ns == 0;

	breaker->last_busy_ns = busy_ns;
	breaker->last_total_ns = total_ns;
	if (breaker->limit <= 0 || first || total == 0)
		return false;
	breaker->busy =
		breaker->slow ? mean_of(breaker, busy, total) : (double)busy / (double)total;
	breaker->against = is_against(breaker) ? breaker->against + 1 : 0;
	if (breaker->against < patience(breaker))
		return false;
	breaker->open = !breaker->open;
	breaker->against = 0;
	return true;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/breaker.h"

#define OPENS_AFTER 2u
#define CLOSES_AFTER 5u
#define CLEARLY_BELOW 0.85 /* of the limit */

void breaker_init(struct breaker *breaker, double limit)
{
	*breaker = (struct breaker){.limit = limit};
}

bool breaker_look(struct breaker *breaker, uint64_t busy_ns, uint64_t total_ns)
{
	uint64_t busy = busy_ns - breaker->last_busy_ns;
	uint64_t total = total_ns - breaker->last_total_ns;
	bool first = breaker->last_total_ns == 0;
	bool against;

	breaker->last_busy_ns = busy_ns;
	breaker->last_total_ns = total_ns;
	if (breaker->limit <= 0 || first || total == 0)
		return false;
	breaker->busy = (double)busy / (double)total;
	against = breaker->open ? breaker->busy < breaker->limit * CLEARLY_BELOW
				: breaker->busy > breaker->limit;
	breaker->against = against ? breaker->against + 1 : 0;
	if (breaker->against < (breaker->open ? CLOSES_AFTER : OPENS_AFTER))
		return false;
	breaker->open = !breaker->open;
	breaker->against = 0;
	return true;
}

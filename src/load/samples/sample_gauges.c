/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/samples/sample_gauges.h"

#include <errno.h>

void sample_gauges_fini(struct sample_gauges *gauges)
{
	vec_fini(&gauges->items);
}

int sample_gauges_add(struct sample_gauges *gauges, const struct sample_gauge *told)
{
	struct sample_gauge *gauge;
	size_t i = 0;

	while (i < gauges->items.count && (gauges->items.items[i].event != told->event ||
					   gauges->items.items[i].process != told->process))
		i++;
	if (i == gauges->items.count) {
		struct sample_gauge first = *told;

		first.lowest = first.highest = told->last;
		if (vec_push(&gauges->items, first) < 0)
			return -ENOMEM;
	}
	gauge = &gauges->items.items[i];
	gauge->times++;
	gauge->sum += (double)told->last;
	if (told->last < gauge->lowest)
		gauge->lowest = told->last;
	if (told->last > gauge->highest)
		gauge->highest = told->last;
	if (told->last_ns >= gauge->last_ns) {
		gauge->last = told->last;
		gauge->last_ns = told->last_ns;
	}
	return 0;
}

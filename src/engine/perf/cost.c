/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/cost.h"

#include <linux/perf_event.h>

uint64_t perf_sample_cost_ns(const struct perf_event_attr *attr)
{
	(void)attr;
	return 0;
}

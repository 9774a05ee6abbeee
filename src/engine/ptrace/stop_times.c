/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ptrace/stop_times.h"

#include "base/clock.h"

void stop_times_add(struct stop_times *times, uint64_t ns)
{
	uint64_t us = ns / NS_PER_US;

	times->count++;
	if (ns > times->longest_ns)
		times->longest_ns = ns;
	if (us < STOP_TIMES_US)
		times->by_us[us]++;
}

uint64_t stop_times_quantile_ns(const struct stop_times *times, double share)
{
	double wanted = share * (double)times->count;
	uint64_t seen = 0;

	for (uint64_t us = 0; us < STOP_TIMES_US; us++) {
		seen += times->by_us[us];
		if (seen > 0 && (double)seen >= wanted)
			return (us + 1) * NS_PER_US < times->longest_ns ? (us + 1) * NS_PER_US
									: times->longest_ns;
	}
	return times->longest_ns;
}

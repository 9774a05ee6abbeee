/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PTRACE_STOP_TIMES_H
#define WICK_ENGINE_PTRACE_STOP_TIMES_H

/*
 * stop_times: how long threads were stopped, as a histogram in microseconds. Stops beyond its range
 * share one bucket; the longest is kept.
 */

#include <stdint.h>

#define STOP_TIMES_US 16384

struct stop_times {
	uint64_t count;
	uint64_t longest_ns;
	uint32_t by_us[STOP_TIMES_US];
};

void stop_times_add(struct stop_times *times, uint64_t ns);

/*
 * The time that this share (0…1) of the stops did not exceed, to the microsecond; 0 without stops.
 */
uint64_t stop_times_quantile_ns(const struct stop_times *times, double share);

#endif

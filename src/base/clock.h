/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_CLOCK_H
#define WICK_BASE_CLOCK_H

/* clock: the clocks that wick reads. All times are uint64_t nanoseconds. */

#include <stdint.h>
#include <time.h>

#define NS_PER_SEC 1000000000ull
#define NS_PER_MS 1000000ull
#define NS_PER_US 1000ull

static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec now = {0};

	(void)clock_gettime(id, &now); /* fails only for an unknown clock */
	return (uint64_t)now.tv_sec * NS_PER_SEC + (uint64_t)now.tv_nsec;
}

static inline uint64_t clock_monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static inline uint64_t clock_realtime_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

#endif

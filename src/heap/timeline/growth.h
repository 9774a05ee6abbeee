/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_TIMELINE_GROWTH_H
#define WICK_HEAP_TIMELINE_GROWTH_H

/*
 * growth: whether what a site holds grows without bound, or levels off as a cache does.
 *
 * A stretch of time is cut into windows, and of each the least that was held counts: what comes
 * and goes does not show in it. It grows when
 *
 *	later windows hold more than earlier ones more often than chance allows,
 *	that is so in both halves, by several rises, and not by one step,
 *	it has not been still for much longer than ever before, and
 *	a curve that levels off does not describe it better than a line.
 *
 * The stretch is all of the time since the first block; where that does not grow and nothing was
 * given back, the second half of it.
 */

#include <stddef.h>
#include <stdint.h>

struct heap_groups;
struct heap_report;

enum growth_kind {
	GROWTH_NONE,      /* nothing to tell */
	GROWTH_LEVELLED,  /* it grew, and no longer does */
	GROWTH_SLOWS,     /* it still grows, ever less */
	GROWTH_UNBOUNDED, /* no end can be seen */
};

struct growth {
	enum growth_kind kind;
	double confidence;       /* 0 … 1, that it has no bound; of the others 0 */
	double bytes_per_second; /* in the stretch from from_ns to to_ns */
	uint64_t from_ns;
	uint64_t to_ns;
	/* Its rate changed suddenly then; 0: it did not. */
	uint64_t change_ns;
	double before_bytes_per_second;
	double after_bytes_per_second;
};

/* From this on a site is named. */
#define GROWTH_SURE 0.5

/* What was watched for less time is not, however steadily it grows. */
#define GROWTH_SHORTEST_NS UINT64_C(8000000000)

/* What was held at the end of each of count steps; the first begins at 0. */
struct growth growth_judge(const double *live_bytes, size_t count, uint64_t step_ns);

/* Of each group of sites (groups->count of them). 0 or -ENOMEM. */
int growth_find(const struct heap_report *report, const struct heap_groups *groups,
		struct growth *ret);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_TIMELINE_GROWTH_H
#define WICK_HEAP_TIMELINE_GROWTH_H

/*
 * growth: whether the memory of a site grows without bound, or levels off like a cache.
 *
 * A period is divided into windows, and the minimum of each window counts, which hides short-lived
 * blocks. The site grows if
 *
 *	later windows hold more than earlier ones more often than chance allows,
 *	this holds in both halves, by several rises, and not by one step,
 *	it has not been constant for much longer than ever before, and
 *	a curve that levels off does not fit better than a line.
 *
 * The period is the time since the first block; if that shows no growth and nothing was freed, its
 * second half.
 */

#include <stddef.h>
#include <stdint.h>

struct heap_groups;
struct heap_report;

enum growth_kind {
	GROWTH_NONE,      /* no growth */
	GROWTH_LEVELLED,  /* it grew, and stopped */
	GROWTH_SLOWS,     /* it still grows, but more and more slowly */
	GROWTH_UNBOUNDED, /* no end in sight */
};

struct growth {
	enum growth_kind kind;
	double confidence;       /* 0 … 1, that it is unbounded; 0 for other kinds */
	double bytes_per_second; /* from from_ns to to_ns */
	uint64_t from_ns;
	uint64_t to_ns;
	/* When its rate changed suddenly; 0: never. */
	uint64_t change_ns;
	double before_bytes_per_second;
	double after_bytes_per_second;
};

/* Confidence at which a site is reported. */
#define GROWTH_SURE 0.5

/* Shorter recordings report no growth, however steady it is. */
#define GROWTH_SHORTEST_NS UINT64_C(8000000000)

/* Judges the bytes held at the end of each of count steps; the first begins at 0. */
struct growth growth_judge(const double *live_bytes, size_t count, uint64_t step_ns);

/* Judges each group of sites (groups->count of them). 0 or -ENOMEM. */
int growth_find(const struct heap_report *report, const struct heap_groups *groups,
		struct growth *ret);

#endif

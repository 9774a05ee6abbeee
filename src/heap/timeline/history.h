/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_TIMELINE_HISTORY_H
#define WICK_HEAP_TIMELINE_HISTORY_H

/*
 * history: what sites, or threads, held over time.
 *
 * At the end of each step of the timeline there is a row for each one that changed in it.
 * When there are too many rows, times get coarser: of two rows in one stretch of time the
 * later stays, with what was allocated and freed in both. So memory has a limit that does not
 * depend on how long a recording is or how much happens in it.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct heap_moment {
	uint64_t time_ns; /* the end of the step */
	uint32_t id;
	uint32_t zero;
	double live_bytes; /* then */
	double allocated_bytes;
	double freed_bytes;
};

struct heap_history {
	VEC(struct heap_moment) moments; /* those of one id are in order of time */
	VEC(uint32_t) changed;           /* ids that changed in this step */
	VEC(size_t) latest;              /* by id; only while times get coarser */
	uint64_t stretch_ns;             /* 0: as long as steps */
	size_t limit;                    /* of moments */
};

void heap_history_fini(struct heap_history *history);

/* Adds a row; step_ns is how long steps are. Rows of one id come in order of time. 0 or -ENOMEM. */
int heap_history_add(struct heap_history *history, const struct heap_moment *moment,
		     uint64_t step_ns);

/* What each of count ids held at a time. 0 where nothing is told. The caller has the array. */
void heap_history_at(const struct heap_history *history, uint64_t time_ns, double *live_bytes,
		     size_t count);

/* Least squares over a time of what an id held: it holds that until it is told anew. */
struct heap_trend {
	double bytes_per_second;
	double fit; /* R squared: 1 for a straight line, 0 for none */
};

/* Of several ids at once: trends[i] is that of ids[i]. 0 or -ENOMEM. */
int heap_history_trends(const struct heap_history *history, uint64_t begin_ns, uint64_t end_ns,
			const uint32_t *ids, size_t count, struct heap_trend *trends);

#endif

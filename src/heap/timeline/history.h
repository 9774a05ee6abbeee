/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_TIMELINE_HISTORY_H
#define WICK_HEAP_TIMELINE_HISTORY_H

/*
 * history: the memory of sites or threads over time.
 *
 * At the end of each timeline step, each site or thread that changed in it gets a row. When there
 * are too many rows, times get coarser: of two rows in one period the later stays, with the
 * allocations and frees of both. So memory is bounded, regardless of the duration and the number of
 * events.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct heap_moment {
	uint64_t time_ns; /* the end of the step */
	uint32_t id;
	uint32_t zero;
	double live_bytes; /* at that time */
	double allocated_bytes;
	double freed_bytes;
};

struct heap_history {
	VEC(struct heap_moment) moments; /* those of one id are in time order */
	VEC(uint32_t) changed;           /* ids that changed in this step */
	VEC(size_t) latest;              /* by id; only used while times get coarser */
	uint64_t stretch_ns;             /* 0: as long as a step */
	size_t limit;                    /* maximum number of moments */
};

void heap_history_fini(struct heap_history *history);

/*
 * Adds a row; step_ns is the length of a step. Rows of one id must come in time order. 0 or
 * -ENOMEM.
 */
int heap_history_add(struct heap_history *history, const struct heap_moment *moment,
		     uint64_t step_ns);

/* Fills the caller's array with what each of count ids held at a time; 0 where nothing is known. */
void heap_history_at(const struct heap_history *history, uint64_t time_ns, double *live_bytes,
		     size_t count);

/* A least-squares fit of what an id held over time; a value holds until the next row. */
struct heap_trend {
	double bytes_per_second;
	double fit; /* R squared: 1 for a straight line, 0 for none */
};

/* Computes several at once: trends[i] is that of ids[i]. 0 or -ENOMEM. */
int heap_history_trends(const struct heap_history *history, uint64_t begin_ns, uint64_t end_ns,
			const uint32_t *ids, size_t count, struct heap_trend *trends);

#endif

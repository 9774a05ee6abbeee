/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_TIMELINE_TIMELINE_H
#define WICK_HEAP_TIMELINE_TIMELINE_H

/*
 * timeline: what all threads together hold, allocate and free, step by step.
 *
 * The duration is known only at the end: when there are too many steps, they are merged in pairs.
 * Times are since the start of the analysis.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "heap/sample_weight.h"

#define HEAP_MAX_STEPS 4096u

struct heap_step {
	struct heap_sum live; /* at its end */
	double most_bytes;    /* highest live bytes in the step */
	double least_bytes;   /* lowest live bytes in the step */
	struct heap_sum allocated;
	struct heap_sum freed;
};

struct heap_timeline {
	VEC(struct heap_step) steps; /* completed steps */
	struct heap_step now;
	uint64_t step_ns;
	uint64_t end_ns; /* end of the current step */
};

void heap_timeline_init(struct heap_timeline *timeline, uint64_t step_ns);
void heap_timeline_fini(struct heap_timeline *timeline);

/* Ends the current step, and adds empty ones up to time_ns. 0 or -ENOMEM. */
int heap_timeline_advance(struct heap_timeline *timeline, uint64_t time_ns);

/* Whether time_ns is after the current step. */
static inline bool heap_timeline_is_over(const struct heap_timeline *timeline, uint64_t time_ns)
{
	return time_ns >= timeline->end_ns;
}

static inline void heap_timeline_add(struct heap_timeline *timeline, struct heap_sum live,
				     struct heap_sum block)
{
	struct heap_step *now = &timeline->now;

	now->allocated.bytes += block.bytes;
	now->allocated.blocks += block.blocks;
	now->live = live;
	if (live.bytes > now->most_bytes)
		now->most_bytes = live.bytes;
}

static inline void heap_timeline_remove(struct heap_timeline *timeline, struct heap_sum live,
					struct heap_sum block)
{
	struct heap_step *now = &timeline->now;

	now->freed.bytes += block.bytes;
	now->freed.blocks += block.blocks;
	now->live = live;
	if (live.bytes < now->least_bytes)
		now->least_bytes = live.bytes;
}

/* The rate per second in a step, smoothed over 2 * reach + 1 steps, nearer ones weighted more. */
double heap_steps_rate(const struct heap_step *steps, size_t count, uint64_t step_ns, size_t step,
		       size_t reach, double (*of)(const struct heap_step *step));

#endif

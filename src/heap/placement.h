/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_PLACEMENT_H
#define WICK_HEAP_PLACEMENT_H

/*
 * placement: what follows from where blocks are: the footprint and the map of a report. It costs
 * each event some nanoseconds, so it is made when somebody wants to see it.
 *
 * Readings of memory are told ahead of the events of their time; they wait here for those.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "heap/address_map.h"
#include "heap/report.h"

struct heap_block;
struct memory_reading;
struct waiting_reading;

/* Starts as zeros. */
struct heap_placement {
	VEC(struct waiting_reading) waiting;
	uint64_t next_ns; /* the first of them; UINT64_MAX: none */
};

/* Makes the map of the report. 0 or -ENOMEM. */
int heap_placement_init(struct heap_placement *placement, struct heap_report *report);
void heap_placement_fini(struct heap_placement *placement, struct heap_report *report);

/* A block that stands for so many has come, or with a negative number gone. 0 or -ENOMEM. */
int heap_placement_change(struct heap_report *report, const struct heap_block *block, double times);

/* Keeps a reading until its time. 0 or -ENOMEM. */
int heap_placement_read(struct heap_placement *placement, uint32_t process, uint64_t time_ns,
			const struct memory_reading *reading);

/* What there is to do as time goes on. 0 or -ENOMEM. */
int heap_placement_pass(struct heap_placement *placement, struct heap_report *report,
			uint64_t time_ns);

static inline int heap_placement_advance(struct heap_placement *placement,
					 struct heap_report *report, uint64_t time_ns)
{
	if (time_ns < placement->next_ns && !heap_map_is_over(report->map, time_ns))
		return 0;
	return heap_placement_pass(placement, report, time_ns);
}

/* There are no more events. 0 or -ENOMEM. */
int heap_placement_finish(struct heap_placement *placement, struct heap_report *report);

#endif

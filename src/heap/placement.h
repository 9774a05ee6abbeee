/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_PLACEMENT_H
#define WICK_HEAP_PLACEMENT_H

/*
 * placement: what depends on the addresses of blocks: the footprint and the map of a report. It
 * costs some nanoseconds per event, so it is made only on request.
 *
 * Memory readings arrive before the events of their time; they wait here until then.
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
	uint64_t next_ns; /* time of the first one; UINT64_MAX: none */
};

/* Makes the map of the report. 0 or -ENOMEM. */
int heap_placement_init(struct heap_placement *placement, struct heap_report *report);
void heap_placement_fini(struct heap_placement *placement, struct heap_report *report);

/*
 * Adds a block that represents this many blocks, or removes it if times is negative. 0 or -ENOMEM.
 */
int heap_placement_change(struct heap_report *report, const struct heap_block *block, double times);

/* Queues a reading until its time. 0 or -ENOMEM. */
int heap_placement_read(struct heap_placement *placement, uint32_t process, uint64_t time_ns,
			const struct memory_reading *reading);

/* Processes readings and columns up to time_ns. 0 or -ENOMEM. */
int heap_placement_pass(struct heap_placement *placement, struct heap_report *report,
			uint64_t time_ns);

static inline int heap_placement_advance(struct heap_placement *placement,
					 struct heap_report *report, uint64_t time_ns)
{
	if (time_ns < placement->next_ns && !heap_map_is_over(report->map, time_ns))
		return 0;
	return heap_placement_pass(placement, report, time_ns);
}

/* Call after the last event. 0 or -ENOMEM. */
int heap_placement_finish(struct heap_placement *placement, struct heap_report *report);

#endif

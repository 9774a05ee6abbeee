/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_SUMMED_BLOCKS_H
#define WICK_HEAP_SUMMED_BLOCKS_H

/* summed_blocks: blocks that were only summed by stack. When they were freed is unknown. */

#include <stdbool.h>
#include <stdint.h>

struct heap_event;
struct heap_report;

/* Whether the event is in the selection. If not, counts it as unwanted. */
bool heap_total_is_wanted(struct heap_report *report, const struct heap_event *event,
			  uint64_t from_ns);

/* Counts the blocks for their share. */
void heap_total_count(struct heap_report *report, const struct heap_event *event, uint32_t share,
		      uint64_t time_ns);

#endif

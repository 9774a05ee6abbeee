/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_TOTAL_H
#define WICK_HEAP_TOTAL_H

/* total: blocks that were only added up by their stacks. When they went nobody knows. */

#include <stdbool.h>
#include <stdint.h>

struct heap_event;
struct heap_report;

/* Whether it is of what is looked at. Counts it where it is not. */
bool heap_total_is_wanted(struct heap_report *report, const struct heap_event *event,
			  uint64_t from_ns);

/* Counts the blocks for the share that they belong to. */
void heap_total_count(struct heap_report *report, const struct heap_event *event, uint32_t share,
		      uint64_t time_ns);

#endif

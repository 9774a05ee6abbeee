/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_REPORT_H
#define WICK_HEAP_REPORT_H

/*
 * report: all that is known of a heap when its events have been looked at. Views read it.
 *
 * Times are since begin_ns. Sums are doubles, for of sampled blocks each stands for several;
 * without sampling they are whole numbers.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "heap/footprint.h"
#include "heap/misuse.h"
#include "heap/sites.h"
#include "heap/size_classes.h"
#include "heap/timeline/block_spans.h"
#include "heap/timeline/history.h"
#include "heap/timeline/timeline.h"
#include "heap/weight.h"
#include "model/heap_event.h"

struct heap_map;

struct heap_totals {
	struct heap_sum allocated;
	struct heap_sum freed;
	struct heap_sum live; /* at the end */
	struct heap_sum peak; /* when the most bytes were live, the first time */
	uint64_t peak_ns;
	uint64_t peak_number; /* of heap_level */
	/* Of sampled blocks; sqrt() of them are the standard errors of the sums above. */
	struct heap_sum allocated_variance;
	struct heap_sum live_variance;
	struct heap_sum peak_variance;
	double temporary_blocks;
	double foreign_blocks;    /* freed by a thread that did not allocate them */
	double moved_blocks;      /* by realloc; among the freed */
	double calls[HEAP_CALLS]; /* allocations by what was called */
	double slack_bytes;       /* of allocated blocks */
	struct heap_sum unwanted; /* allocated outside of what is looked at */
};

/* What to know before the numbers are trusted. */
struct heap_quality {
	uint64_t events;
	uint64_t unknown_frees; /* of blocks from before, or whose allocation is missing */
	uint64_t missed_frees;  /* a block was allocated where one was still live */
	/* An allocation and a free of two threads in the wrong order by the clocks of their CPUs.
	 */
	uint64_t swapped;
	uint64_t late;        /* events behind a moment when all were said to be there */
	uint64_t backward;    /* events earlier than those before them in their thread */
	uint64_t bad;         /* events that make no sense */
	uint64_t only_totals; /* blocks of which no more is known than whose they are */
};

/* What a thread did. */
struct heap_thread {
	struct heap_sum allocated;
	struct heap_sum freed; /* by it, whoever allocated */
	struct heap_sum live;  /* of what it allocated */
	double most_bytes;     /* the largest that live was */
	double foreign_blocks; /* of those it freed: allocated by others */
	double temporary_blocks;

	/* private, while events come */
	double told_allocated; /* up to the step before */
	double told_freed;
	uint32_t mark;
	uint32_t space;        /* of its process, see heap_live */
	uint64_t last_address; /* of its last allocation */
	bool known;
	bool wanted;
};

struct heap_report {
	uint64_t begin_ns; /* CLOCK_MONOTONIC */
	uint64_t end_ns;   /* the last event, since begin_ns */
	bool sampled;
	struct heap_totals totals;
	struct heap_quality quality;
	struct heap_sites sites;
	struct heap_misuses misuses;     /* where frees have stacks */
	struct heap_lifetimes lifetimes; /* of all freed blocks */
	struct heap_class classes[HEAP_CLASSES];
	struct heap_timeline timeline;
	VEC(struct heap_thread) threads; /* by thread of the recording; those without events: 0 */
	struct heap_history site_history;
	struct heap_history thread_history;
	struct heap_spans spans; /* with heap_config.slice_ns */
	/*
	 * Blocks of the program's own pools. They lie in blocks of the above, which say nothing of
	 * them. NULL: there are none; pools have no pools.
	 */
	const struct heap_report *pools;
	/* With heap_config.addresses: */
	struct heap_footprint footprint;
	struct heap_map *map; /* NULL: it was not asked for */
};

/* The process of a thread, by the recording's number. */
uint32_t heap_thread_process(const struct heap_thread *thread);

#endif

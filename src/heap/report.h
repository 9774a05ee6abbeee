/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_REPORT_H
#define WICK_HEAP_REPORT_H

/*
 * report: the result of analysing a heap's events, for views to read.
 *
 * Times are since begin_ns. Sums are doubles, because a sampled block represents several; without
 * sampling they are integers.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "heap/footprint.h"
#include "heap/misuse.h"
#include "heap/sample_weight.h"
#include "heap/sites.h"
#include "heap/size_classes.h"
#include "heap/timeline/block_spans.h"
#include "heap/timeline/history.h"
#include "heap/timeline/timeline.h"
#include "model/heap_event.h"

struct heap_map;

struct heap_totals {
	struct heap_sum allocated;
	struct heap_sum freed;
	struct heap_sum live; /* at the end */
	struct heap_sum peak; /* when most bytes were live, the first time */
	uint64_t peak_ns;
	uint64_t peak_number; /* of heap_level */
	/* For sampled blocks; their square roots are the standard errors of the sums above. */
	struct heap_sum allocated_variance;
	struct heap_sum live_variance;
	struct heap_sum peak_variance;
	double temporary_blocks;
	double foreign_blocks;    /* freed by a thread that did not allocate them */
	double moved_blocks;      /* by realloc; included in freed */
	double calls[HEAP_CALLS]; /* allocations by the function called */
	double slack_bytes;       /* of allocated blocks */
	struct heap_sum unwanted; /* allocated outside the selection */
};

/* How reliable the numbers are. */
struct heap_quality {
	uint64_t events;
	uint64_t unknown_frees; /* of blocks allocated before the recording, or whose allocation is
				   missing */
	uint64_t missed_frees;  /* a block was allocated at the address of a live one */
	/* Pairs of allocation and free in two threads that clock skew put in the wrong order. */
	uint64_t swapped;
	uint64_t late;        /* events that arrived after their time was declared complete */
	uint64_t backward;    /* events earlier than a previous one of their thread */
	uint64_t bad;         /* inconsistent events */
	uint64_t only_totals; /* blocks of which only the stack is known */
};

/* The allocations and frees of a thread. */
struct heap_thread {
	struct heap_sum allocated;
	struct heap_sum freed; /* by this thread, regardless of who allocated */
	struct heap_sum live;  /* of what it allocated */
	double most_bytes;     /* highest value of live */
	double foreign_blocks; /* part of freed that other threads allocated */
	double temporary_blocks;

	/* private, during the analysis */
	double told_allocated; /* up to the previous step */
	double told_freed;
	uint32_t mark;
	uint32_t space;        /* first space of its process, see heap_live */
	uint64_t last_address; /* of its last allocation */
	bool known;
	bool wanted;
};

struct heap_report {
	uint64_t begin_ns; /* CLOCK_MONOTONIC */
	uint64_t end_ns;   /* time of the last event, since begin_ns */
	bool sampled;
	struct heap_totals totals;
	struct heap_quality quality;
	struct heap_sites sites;
	struct heap_misuses misuses;     /* if frees have stacks */
	struct heap_lifetimes lifetimes; /* of all freed blocks */
	struct heap_class classes[HEAP_CLASSES];
	struct heap_timeline timeline;
	VEC(struct heap_thread) threads; /* by thread of the recording; zeros without events */
	struct heap_history site_history;
	struct heap_history thread_history;
	struct heap_spans spans; /* with heap_config.slice_ns */
	/*
	 * Blocks of the program's own pools. They are inside the blocks counted above and not part
	 * of those numbers. NULL: none; pools have no pools.
	 */
	const struct heap_report *pools;
	/* With heap_config.addresses: */
	struct heap_footprint footprint;
	struct heap_map *map; /* NULL: not requested */
};

/* The process of a thread, as numbered in the recording. */
uint32_t heap_thread_process(const struct heap_thread *thread);

#endif

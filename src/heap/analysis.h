/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_ANALYSIS_H
#define WICK_HEAP_ANALYSIS_H

/*
 * analysis: from the events of a heap to what there is to tell of it, in one pass.
 *
 *	heap_analysis_batch() for batches of threads as they come
 *	heap_analysis_until() when all before a moment are there
 *	heap_analysis_finish() at the end
 *
 * Memory follows the live blocks, the unique stacks and what lies between two calls of
 * heap_analysis_until(). Stacks are numbers here: nothing is known of functions.
 */

#include <stdbool.h>
#include <stdint.h>

struct dictionary;
struct heap_analysis;
struct heap_batch;
struct heap_live;
struct heap_report;
struct memory_reading;

#define HEAP_STEP_NS 100000000u
/* Where what happened is looked for in runs of any length: steps become longer with them. */
#define HEAP_FINE_STEP_NS 1000000u
#define HEAP_STEP_MAX_NS (UINT64_C(3600) * 1000000000u)

struct heap_config {
	const struct dictionary *dictionary; /* borrowed: the threads of batches are in it */
	uint64_t step_ns;                    /* of the timeline; 0: HEAP_STEP_NS */
	/*
	 * CLOCK_MONOTONIC. Blocks that were allocated before from_ns do not count, and nothing
	 * from to_ns on does. begin_ns is when the timeline begins; 0: with the first event.
	 */
	uint64_t begin_ns;
	uint64_t from_ns;
	uint64_t to_ns;    /* 0: no end */
	uint64_t slice_ns; /* of heap_report.spans, at first; 0: they are not kept */
	bool addresses;    /* also what comes of them: the footprint and the map */
	/* Optional: whether blocks that a thread allocates count. Asked once for each. */
	bool (*wants)(void *self, uint32_t thread);
	void *self;
};

/* The caller releases *ret with heap_analysis_free(). 0 or -ENOMEM. */
int heap_analysis_new(const struct heap_config *config, struct heap_analysis **ret);
void heap_analysis_free(struct heap_analysis *analysis); /* NULL is fine */

/* Each returns 0 or -ENOMEM. */
int heap_analysis_batch(struct heap_analysis *analysis, const struct heap_batch *batch);
int heap_analysis_until(struct heap_analysis *analysis, uint64_t time_ns);
int heap_analysis_finish(struct heap_analysis *analysis);

/*
 * What memory a process had, a number of the dictionary: to be told before heap_analysis_until()
 * passes its time. Nothing comes of it without heap_config.addresses. 0 or -ENOMEM.
 */
int heap_analysis_memory(struct heap_analysis *analysis, uint32_t process,
			 const struct memory_reading *reading);

/* Makes the slices of spans at least as long; once it is finished. 0 or -ENOMEM. */
int heap_analysis_lengthen_slices(struct heap_analysis *analysis, uint64_t slice_ns);

/* The blocks that are there, by process (HEAP_SPACES for each). */
const struct heap_live *heap_analysis_live(const struct heap_analysis *analysis);

/* What is known by now; of use once it is finished. */
const struct heap_report *heap_analysis_report(const struct heap_analysis *analysis);

#endif

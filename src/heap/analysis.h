/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_ANALYSIS_H
#define WICK_HEAP_ANALYSIS_H

/*
 * analysis: turns the events of a heap into a report, in one pass.
 *
 *	heap_analysis_batch() for batches of threads as they arrive
 *	heap_analysis_until() when all events before a time have arrived
 *	heap_analysis_finish() at the end
 *
 * Memory is proportional to the live blocks, the unique stacks and the events between two calls of
 * heap_analysis_until(). Stacks are only numbers here: the analysis does not know their functions.
 */

#include <stdbool.h>
#include <stdint.h>

struct dictionary;
struct heap_analysis;
struct heap_batch;
struct heap_block;
struct heap_live;
struct heap_report;
struct memory_reading;

#define HEAP_STEP_NS 100000000u
/* Used for findings in runs of any length: steps grow with the run. */
#define HEAP_FINE_STEP_NS 1000000u
#define HEAP_STEP_MAX_NS (UINT64_C(3600) * 1000000000u)

struct heap_config {
	const struct dictionary *dictionary; /* borrowed: has the threads of batches */
	uint64_t step_ns;                    /* of the timeline; 0: HEAP_STEP_NS */
	/*
	 * CLOCK_MONOTONIC. Blocks allocated before from_ns do not count, nor does anything at or
	 * after to_ns. The timeline begins at begin_ns; 0: at the first event.
	 */
	uint64_t begin_ns;
	uint64_t from_ns;
	uint64_t to_ns;    /* 0: no end */
	uint64_t slice_ns; /* initial slice of heap_report.spans; 0: no spans */
	bool addresses;    /* also make the footprint and the map */
	/* Optional: whether blocks that a thread allocates count. Called once for each thread. */
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
 * Adds a memory reading of a process (a number of the dictionary). Call it before
 * heap_analysis_until() passes its time. Ignored without heap_config.addresses. 0 or -ENOMEM.
 */
int heap_analysis_memory(struct heap_analysis *analysis, uint32_t process,
			 const struct memory_reading *reading);

/*
 * Makes the slices of spans at least this long; call it after the analysis has finished. 0 or
 * -ENOMEM.
 */
int heap_analysis_lengthen_slices(struct heap_analysis *analysis, uint64_t slice_ns);

/* The live blocks, by process (HEAP_SPACES for each). */
const struct heap_live *heap_analysis_live(const struct heap_analysis *analysis);

/* How many blocks a block of heap_analysis_live() represents: 1 without sampling. */
double heap_analysis_weight(struct heap_analysis *analysis, const struct heap_block *block);

/* The report; complete after the analysis has finished. */
const struct heap_report *heap_analysis_report(const struct heap_analysis *analysis);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_HEAP_PROFILE_H
#define WICK_HEAP_HEAP_PROFILE_H

/* heap_profile: the analysis of a heap, and the profile with the names of its stacks. */

#include <stdint.h>

#include "heap/leak/leak_scans.h"

struct heap_analysis;
struct profile;

/* As in struct heap_misuse. */
struct heap_misuse_stacks {
	uint32_t stack;
	uint32_t freed;
	uint32_t allocated;
};

struct heap_profile {
	struct profile *profile;
	struct heap_analysis *analysis; /* heap_analysis_report() returns its result */
	uint32_t *stacks;               /* by site: stack of the profile; ID_NONE: filtered out */
	uint32_t *pool_stacks;          /* the same for the sites of pools */
	/* By group of heap_report.misuses: stacks of the profile, ID_NONE where missing. */
	struct heap_misuse_stacks *misuses;
	/*
	 * What leak scans found in the selected processes and time range. Stacks and threads are
	 * those of the profile; ID_NONE: unknown. Groups whose stack or thread is filtered out are
	 * missing.
	 */
	struct leak_scans leaks;
	uint32_t *threads; /* by thread of the report: thread of the profile; ID_NONE: no blocks */
};

void heap_profile_fini(struct heap_profile *heap);

#endif

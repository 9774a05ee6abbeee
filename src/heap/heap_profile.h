/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_HEAP_PROFILE_H
#define WICK_HEAP_HEAP_PROFILE_H

/* heap_profile: what is known of a heap, and the names of its stacks. */

#include <stdint.h>

#include "heap/leak/leak_scans.h"

struct heap_analysis;
struct profile;

/* As of struct heap_misuse. */
struct heap_misuse_stacks {
	uint32_t stack;
	uint32_t freed;
	uint32_t allocated;
};

struct heap_profile {
	struct profile *profile;
	struct heap_analysis *analysis; /* heap_analysis_report() tells what it found */
	uint32_t *stacks;               /* by site: of the profile; ID_NONE: filtered out */
	uint32_t *pool_stacks;          /* the same of the sites of pools */
	/* By group of heap_report.misuses: of the profile, ID_NONE for those that it has not. */
	struct heap_misuse_stacks *misuses;
	/*
	 * What leak scans found in the processes and in the time that are looked at. Stacks and
	 * threads are those of the profile; ID_NONE: not known. Groups of stacks and threads that
	 * are filtered out are not there.
	 */
	struct leak_scans leaks;
	uint32_t *threads; /* by thread of the report: of the profile; ID_NONE: it has no blocks */
};

void heap_profile_fini(struct heap_profile *heap);

#endif

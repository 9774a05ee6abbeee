/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_VALUES_H
#define WICK_HEAP_VALUES_H

/* values: the value types of a heap profile. Those that pprof knows have its names. */

#include <stdint.h>

#include "model/profile.h"

struct heap_report;
struct heap_share;

enum heap_value {
	HEAP_ALLOC_SPACE,
	HEAP_ALLOC_OBJECTS,
	HEAP_PEAK_SPACE, /* live at the peak */
	HEAP_PEAK_OBJECTS,
	HEAP_INUSE_SPACE, /* live at the end */
	HEAP_INUSE_OBJECTS,
	HEAP_TEMPORARY_OBJECTS,
	/* Blocks of pools, which are inside other blocks: never add them to the values above. */
	HEAP_POOL_ALLOC_SPACE,
	HEAP_POOL_PEAK_SPACE, /* live at the peak of the pools */
	HEAP_POOL_INUSE_SPACE,
	HEAP_VALUES
};

_Static_assert(HEAP_VALUES <= PROFILE_MAX_VALUES, "a profile has room for them");

extern const struct value_type heap_value_types[HEAP_VALUES];

/* A name for all of them; as a single value it means the peak. */
#define HEAP_VALUE_ANY "heap"

/* The number of values of a heap: those of pools are last and exist only if there are pools. */
uint32_t heap_value_count(const struct heap_report *report);

/* Finds a value by name; ID_NONE: none. */
uint32_t heap_value_find(const char *name);

/* A sum as an integer. */
int64_t heap_whole(double value);

/*
 * The values of a share as integers, 0 for those it does not have; peak is the number of the last
 * peak. The second function is for shares of pools.
 */
void heap_share_values(const struct heap_share *share, uint64_t peak, int64_t *values);
void heap_pool_values(const struct heap_share *share, uint64_t peak, int64_t *values);

#endif

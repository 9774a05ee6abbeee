/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_VALUES_H
#define WICK_HEAP_VALUES_H

/*
 * values: what a heap's stacks have as value types of a profile. Those that pprof knows have
 * its names.
 */

#include <stdint.h>

#include "model/profile.h"

struct heap_report;
struct heap_share;

enum heap_value {
	HEAP_ALLOC_SPACE,
	HEAP_ALLOC_OBJECTS,
	HEAP_PEAK_SPACE, /* live when most was */
	HEAP_PEAK_OBJECTS,
	HEAP_INUSE_SPACE, /* live at the end */
	HEAP_INUSE_OBJECTS,
	HEAP_TEMPORARY_OBJECTS,
	/* Blocks of pools, which lie in others: never to be added to the above. */
	HEAP_POOL_ALLOC_SPACE,
	HEAP_POOL_PEAK_SPACE, /* live when most of them was */
	HEAP_POOL_INUSE_SPACE,
	HEAP_VALUES
};

_Static_assert(HEAP_VALUES <= PROFILE_MAX_VALUES, "a profile has room for them");

extern const struct value_type heap_value_types[HEAP_VALUES];

/* What stands for them all, where one is asked for by name: the peak is meant. */
#define HEAP_VALUE_ANY "heap"

/* How many of the values a heap has: those of pools are last, and there when they are. */
uint32_t heap_value_count(const struct heap_report *report);

/* The value of a name, ID_NONE when there is none. */
uint32_t heap_value_find(const char *name);

/* A sum as a whole number. */
int64_t heap_whole(double value);

/*
 * The values of a share, in whole numbers, those that it does not have 0; peak is the number of
 * the last peak. The second is of shares of pools.
 */
void heap_share_values(const struct heap_share *share, uint64_t peak, int64_t *values);
void heap_pool_values(const struct heap_share *share, uint64_t peak, int64_t *values);

#endif

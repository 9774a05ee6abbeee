/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_SIZE_CLASSES_H
#define WICK_HEAP_SIZE_CLASSES_H

/*
 * size_classes: blocks by size: four classes for each power of two, and one for each size below 8.
 */

#include <stdint.h>

#include "heap/timeline/level.h"

#define HEAP_CLASSES 188u /* sizes have 48 bits */

struct heap_class {
	struct heap_sum allocated;
	struct heap_level level;
	double temporary_blocks;
};

static inline uint32_t heap_class_of(uint64_t size)
{
	uint32_t log = 63u - (uint32_t)__builtin_clzll(size | 1);

	return log < 2 ? (uint32_t)size : (log - 1) * 4 + (uint32_t)(size >> (log - 2) & 3);
}

/* The smallest size of a class. */
static inline uint64_t heap_class_low(uint32_t number)
{
	return number < 4 ? number : (uint64_t)(4 + number % 4) << (number / 4 - 1);
}

#endif

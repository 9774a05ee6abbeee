/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/values.h"

#include <math.h>
#include <string.h>

#include "heap/report.h"

const struct value_type heap_value_types[HEAP_VALUES] = {
	[HEAP_ALLOC_SPACE] = {"alloc_space", "bytes"},
	[HEAP_ALLOC_OBJECTS] = {"alloc_objects", "count"},
	[HEAP_PEAK_SPACE] = {"peak_space", "bytes"},
	[HEAP_PEAK_OBJECTS] = {"peak_objects", "count"},
	[HEAP_INUSE_SPACE] = {"inuse_space", "bytes"},
	[HEAP_INUSE_OBJECTS] = {"inuse_objects", "count"},
	[HEAP_TEMPORARY_OBJECTS] = {"temporary_objects", "count"},
	[HEAP_POOL_ALLOC_SPACE] = {"pool_alloc_space", "bytes"},
	[HEAP_POOL_PEAK_SPACE] = {"pool_peak_space", "bytes"},
	[HEAP_POOL_INUSE_SPACE] = {"pool_inuse_space", "bytes"},
};

uint32_t heap_value_count(const struct heap_report *report)
{
	return report->pools ? HEAP_VALUES : HEAP_POOL_ALLOC_SPACE;
}

uint32_t heap_value_find(const char *name)
{
	if (strcmp(name, HEAP_VALUE_ANY) == 0)
		return HEAP_PEAK_SPACE;
	for (uint32_t i = 0; i < HEAP_VALUES; i++)
		if (strcmp(heap_value_types[i].name, name) == 0)
			return i;
	return ID_NONE;
}

/* Sums of estimates may be slightly below zero, and those of forged files may be infinite. */
int64_t heap_whole(double value)
{
	if (!(value > 0))
		return 0;
	return value < 0x1p62 ? (int64_t)llround(value) : INT64_C(1) << 62;
}

void heap_share_values(const struct heap_share *share, uint64_t peak, int64_t *values)
{
	struct heap_sum at_peak = heap_level_at_peak(&share->level, peak);

	memset(values, 0, HEAP_VALUES * sizeof(*values));
	values[HEAP_ALLOC_SPACE] = heap_whole(share->allocated.bytes);
	values[HEAP_ALLOC_OBJECTS] = heap_whole(share->allocated.blocks);
	values[HEAP_PEAK_SPACE] = heap_whole(at_peak.bytes);
	values[HEAP_PEAK_OBJECTS] = heap_whole(at_peak.blocks);
	values[HEAP_INUSE_SPACE] = heap_whole(share->level.live.bytes);
	values[HEAP_INUSE_OBJECTS] = heap_whole(share->level.live.blocks);
	values[HEAP_TEMPORARY_OBJECTS] = heap_whole(share->temporary_blocks);
}

void heap_pool_values(const struct heap_share *share, uint64_t peak, int64_t *values)
{
	memset(values, 0, HEAP_VALUES * sizeof(*values));
	values[HEAP_POOL_ALLOC_SPACE] = heap_whole(share->allocated.bytes);
	values[HEAP_POOL_PEAK_SPACE] = heap_whole(heap_level_at_peak(&share->level, peak).bytes);
	values[HEAP_POOL_INUSE_SPACE] = heap_whole(share->level.live.bytes);
}

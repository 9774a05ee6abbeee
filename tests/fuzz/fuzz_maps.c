/* SPDX-License-Identifier: BSD-2-Clause */

/* Feeds the parsers of /proc/PID/maps and /proc/PID/stat with whatever comes. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proc/maps.h"
#include "proc/process_info.h"
#include "proc/process_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is kept is sorted, disjoint, named, and found again. */
static void check_regions(const struct maps *maps)
{
	for (size_t i = 0; i < maps->count; i++) {
		const struct map_region *region = &maps->items[i];

		if (region->start >= region->end || strlen(region->path) > (1u << 16))
			abort();
		if (i > 0 && region->start < maps->items[i - 1].end)
			abort();
		if (maps_find(maps, region->start) != region ||
		    maps_find(maps, region->end - 1) != region)
			abort();
	}
}

/* The parts add up, and regions are in order. */
static void check_memory(const char *text, size_t size)
{
	static const char *const own[] = {"/a", NULL};
	static struct process_memory memory;
	uint64_t sum;

	process_memory_parse_smaps(text, size, own, &memory);
	sum = memory.split.heap_bytes + memory.split.stack_bytes + memory.split.file_bytes +
	      memory.split.own_bytes + memory.split.rest_bytes;
	for (size_t i = 0; i < memory.region_count; i++) {
		if (i > 0 && memory.regions[i].start <
				     memory.regions[i - 1].start + memory.regions[i - 1].size_bytes)
			abort();
		sum += memory.regions[i].resident_bytes;
	}
	if (sum != memory.resident_bytes)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct process_info info;
	const char *text = (const char *)data;

	for (unsigned int options = 0; options <= MAPS_EXECUTABLE_ONLY; options++) {
		struct maps maps = {0};

		if (maps_parse(&maps, text, size, options) < 0)
			abort();
		check_regions(&maps);
		maps_fini(&maps);
	}
	check_memory(text, size);
	(void)process_stat_parse(text, size, &info);
	return 0;
}

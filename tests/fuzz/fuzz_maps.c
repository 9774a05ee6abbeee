/* SPDX-License-Identifier: BSD-2-Clause */

/* Feeds the parsers of /proc/PID/maps and /proc/PID/stat with whatever comes. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proc/maps.h"
#include "proc/process_info.h"

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
	(void)process_stat_parse(text, size, &info);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/placement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heap/live_blocks.h"
#include "model/memory_reading.h"

#define PAGE_BYTES 4096u
#define HEAD_BYTES 16u

struct waiting_reading {
	uint32_t process;
	uint64_t time_ns;
	struct memory_reading reading;
	struct memory_region *regions; /* NULL: none */
};

int heap_placement_init(struct heap_placement *placement, struct heap_report *report)
{
	placement->next_ns = UINT64_MAX;
	report->map = heap_map_new(report->timeline.step_ns);
	return report->map ? 0 : -ENOMEM;
}

void heap_placement_fini(struct heap_placement *placement, struct heap_report *report)
{
	for (size_t i = 0; i < placement->waiting.count; i++)
		free(placement->waiting.items[i].regions);
	vec_fini(&placement->waiting);
	heap_footprint_fini(&report->footprint);
	free(report->map);
	report->map = NULL;
}

/*
 * Whether a block has its own mapping, which glibc makes for large blocks and unmaps when they are
 * freed: two words, then the block up to the end of a page.
 */
static bool is_mapped(uint64_t address, uint64_t size_bytes)
{
	return address % PAGE_BYTES == HEAD_BYTES && (HEAD_BYTES + size_bytes) % PAGE_BYTES == 0;
}

int heap_placement_change(struct heap_report *report, const struct heap_block *block, double times)
{
	uint32_t process = block->space / HEAP_SPACES;
	uint64_t size_bytes = (uint64_t)block->size + block->slack;
	struct heap_held *held;

	report->footprint.sampled = report->sampled;
	held = heap_footprint_held(&report->footprint, process);
	if (!held)
		return -ENOMEM;
	heap_map_add(report->map, process, block->address, size_bytes, times);
	if (block->space % HEAP_SPACES == HEAP_SPACE_MMAP) {
		held->mapped_bytes += times * (double)size_bytes;
		return 0;
	}
	held->block_bytes += times * (double)size_bytes;
	if (times < 0 && !is_mapped(block->address, size_bytes))
		return 0; /* the allocator keeps it */
	return heap_footprint_cover(&report->footprint, process, block->address, size_bytes,
				    times > 0);
}

int heap_placement_read(struct heap_placement *placement, uint32_t process, uint64_t time_ns,
			const struct memory_reading *reading)
{
	size_t bytes = reading->region_count * sizeof(*reading->regions);
	struct waiting_reading waiting = {.process = process, .time_ns = time_ns};

	waiting.reading = *reading;
	if (bytes > 0) {
		waiting.regions = malloc(bytes);
		if (!waiting.regions)
			return -ENOMEM;
		memcpy(waiting.regions, reading->regions, bytes);
	}
	waiting.reading.regions = waiting.regions;
	if (vec_push(&placement->waiting, waiting) < 0) {
		free(waiting.regions);
		return -ENOMEM;
	}
	if (time_ns < placement->next_ns)
		placement->next_ns = time_ns;
	return 0;
}

/* Takes the readings up to time_ns; they are sorted unless the file is damaged. */
static int take_readings(struct heap_placement *placement, struct heap_report *report,
			 uint64_t time_ns)
{
	size_t kept = 0;
	int r = 0;

	placement->next_ns = UINT64_MAX;
	for (size_t i = 0; i < placement->waiting.count; i++) {
		struct waiting_reading waiting = placement->waiting.items[i];

		if (waiting.time_ns > time_ns || r < 0) {
			if (waiting.time_ns < placement->next_ns)
				placement->next_ns = waiting.time_ns;
			placement->waiting.items[kept++] = waiting;
			continue;
		}
		r = heap_footprint_read(&report->footprint, waiting.process, waiting.time_ns,
					&waiting.reading);
		free(waiting.regions);
	}
	placement->waiting.count = kept;
	return r;
}

int heap_placement_pass(struct heap_placement *placement, struct heap_report *report,
			uint64_t time_ns)
{
	heap_map_advance(report->map, time_ns);
	return time_ns >= placement->next_ns ? take_readings(placement, report, time_ns) : 0;
}

int heap_placement_finish(struct heap_placement *placement, struct heap_report *report)
{
	heap_map_advance(report->map, report->end_ns);
	heap_map_finish(report->map);
	return take_readings(placement, report, UINT64_MAX);
}

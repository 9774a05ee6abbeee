/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/uprobe/prior_heap.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/scope.h"
#include "proc/maps.h"
#include "proc/process_info.h"

/* Bits of an entry of /proc/PID/pagemap: in memory, or swapped out. */
#define PAGE_IS_THERE (3ull << 62)
#define ENTRIES 4096u
/* A sanitizer's shadow has billions of pages: too many to check one by one. */
#define PAGES_MOST (16u << 20)

static bool may_hold_blocks(const struct map_region *region)
{
	if ((region->protection & (REGION_WRITE | REGION_SHARED)) != REGION_WRITE)
		return false;
	return region->kind == REGION_ANONYMOUS ||
	       (region->kind == REGION_SPECIAL && strncmp(region->path, "[stack", 6) != 0);
}

static uint64_t count_pages(int fd, uint64_t first, uint64_t end)
{
	uint64_t entries[ENTRIES];
	uint64_t pages = 0;

	while (first < end) {
		uint64_t want = end - first < ENTRIES ? end - first : ENTRIES;
		ssize_t n = pread(fd, entries, want * sizeof(*entries),
				  (off_t)(first * sizeof(*entries)));

		if (n < (ssize_t)sizeof(*entries))
			break;
		for (size_t i = 0; i < (size_t)n / sizeof(*entries); i++)
			pages += (entries[i] & PAGE_IS_THERE) != 0;
		first += (uint64_t)n / sizeof(*entries);
	}
	return pages;
}

/* How many pages there may be. */
static uint64_t count_addresses(const struct maps *maps, uint64_t page_bytes)
{
	uint64_t pages = 0;

	for (size_t i = 0; i < maps->count; i++)
		if (may_hold_blocks(&maps->items[i]))
			pages += (maps->items[i].end - maps->items[i].start) / page_bytes;
	return pages;
}

uint64_t prior_heap_bytes(pid_t pid)
{
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	struct maps maps = {0};
	uint64_t pages = 0;
	char path[64];
	SCOPED(fd) int fd = -1;

	process_path(path, sizeof(path), pid, "pagemap");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && maps_read(&maps, pid, 0, NULL) == 0 &&
	    count_addresses(&maps, page_bytes) <= PAGES_MOST)
		for (size_t i = 0; i < maps.count; i++)
			if (may_hold_blocks(&maps.items[i]))
				pages += count_pages(fd, maps.items[i].start / page_bytes,
						     maps.items[i].end / page_bytes);
	maps_fini(&maps);
	return pages * page_bytes;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/pagemap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "proc/process_info.h"

#define ENTRY_IS_THERE (1ull << 63 | 1ull << 62) /* present, or swapped */

/* From linux/fs.h; older versions lack it. */
struct found_pages {
	uint64_t start;
	uint64_t end;
	uint64_t categories;
};

struct search {
	uint64_t size;
	uint64_t flags;
	uint64_t start;
	uint64_t end;
	uint64_t walk_end; /* set by the kernel */
	uint64_t vec;
	uint64_t vec_len;
	uint64_t max_pages;
	uint64_t category_inverted;
	uint64_t category_mask;
	uint64_t category_anyof_mask;
	uint64_t return_mask;
};

#define SEARCH _IOWR('f', 16, struct search)
#define SEARCH_THERE (1ull << 3 | 1ull << 4) /* present, or swapped */

void pagemap_open(struct pagemap *map, pid_t pid)
{
	char path[64];

	process_path(path, sizeof(path), pid, "pagemap");
	map->fd = open(path, O_RDONLY | O_CLOEXEC);
	map->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	map->has_search = 1;
	map->first = map->count = 0;
}

void pagemap_close(struct pagemap *map)
{
	if (map->fd >= 0)
		(void)close(map->fd); /* only read from */
	map->fd = -1;
}

/* False if the kernel does not support searching. */
static bool search(const struct pagemap *map, uint64_t from, uint64_t end, uint64_t *ret)
{
	struct found_pages found = {.start = end};
	struct search search = {.size = sizeof(search),
				.start = from & ~(map->page_bytes - 1),
				.end = (end + map->page_bytes - 1) & ~(map->page_bytes - 1),
				.vec = (uint64_t)(uintptr_t)&found,
				.vec_len = 1,
				.max_pages = 1,
				.category_anyof_mask = SEARCH_THERE,
				.return_mask = SEARCH_THERE};
	int r;

	do
		r = ioctl(map->fd, SEARCH, &search);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return false;
	*ret = r == 0 ? end : found.start;
	return true;
}

/* Reads the entries from a page on. False on failure. */
static bool read_entries(struct pagemap *map, uint64_t page)
{
	ssize_t n = pread(map->fd, map->entries, sizeof(map->entries),
			  (off_t)(page * sizeof(map->entries[0])));

	map->first = page;
	map->count = n > 0 ? (size_t)n / sizeof(map->entries[0]) : 0;
	return map->count > 0;
}

static uint64_t look(struct pagemap *map, uint64_t from, uint64_t end)
{
	uint64_t page = from / map->page_bytes;
	uint64_t last = (end - 1) / map->page_bytes;

	for (; page <= last; page++) {
		if (page - map->first >= map->count && !read_entries(map, page))
			break; /* it may exist */
		if (map->entries[page - map->first] & ENTRY_IS_THERE)
			break;
	}
	return page > last ? end : page * map->page_bytes;
}

uint64_t pagemap_next(struct pagemap *map, uint64_t from, uint64_t end)
{
	uint64_t next = from;

	if (map->fd < 0 || from >= end)
		return from;
	if (map->has_search && !search(map, from, end, &next))
		map->has_search = 0;
	if (!map->has_search)
		next = look(map, from, end);
	if (next < from)
		next = from;
	return next < end ? next : end;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROC_PAGEMAP_H
#define WICK_PROC_PAGEMAP_H

/*
 * pagemap: which pages of a process are there, in memory or swapped out, as /proc/PID/pagemap
 * tells. Of private memory without a file the others were never written to, and are zeros.
 *
 * Threads: one at a time.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PAGEMAP_ENTRIES 4096u

struct pagemap {
	int fd; /* -1: it cannot be read, and all pages may be there */
	uint64_t page_bytes;
	int has_search; /* the kernel can be asked for the next one (since Linux 6.7) */
	uint64_t first; /* the page of the first entry that was read */
	size_t count;
	uint64_t entries[PAGEMAP_ENTRIES];
};

/* The caller releases with pagemap_close(), also when the file cannot be opened. */
void pagemap_open(struct pagemap *map, pid_t pid);
void pagemap_close(struct pagemap *map);

/* The first address in [from, end) that is in a page which is there; `end` when there is none. */
uint64_t pagemap_next(struct pagemap *map, uint64_t from, uint64_t end);

#endif

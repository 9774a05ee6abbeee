/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROC_PAGEMAP_H
#define WICK_PROC_PAGEMAP_H

/*
 * pagemap: which pages of a process exist, in memory or swapped out, from /proc/PID/pagemap. In
 * private memory without a file, all other pages were never written to and are zeros.
 *
 * Threads: one at a time.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PAGEMAP_ENTRIES 4096u

struct pagemap {
	int fd; /* -1: not readable, so any page may exist */
	uint64_t page_bytes;
	int has_search; /* the kernel can search for the next one (since Linux 6.7) */
	uint64_t first; /* the page of the first entry that was read */
	size_t count;
	uint64_t entries[PAGEMAP_ENTRIES];
};

/* The caller releases it with pagemap_close(), even if the file cannot be opened. */
void pagemap_open(struct pagemap *map, pid_t pid);
void pagemap_close(struct pagemap *map);

/* The first address in [from, end) in an existing page; `end` without one. */
uint64_t pagemap_next(struct pagemap *map, uint64_t from, uint64_t end);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LANGUAGE_REMOTE_PAGES_H
#define WICK_LANGUAGE_REMOTE_PAGES_H

/*
 * remote_pages: reads the memory of another process in pages and caches them until
 * remote_pages_begin(), because frames and code objects are close to each other.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define REMOTE_PAGE 4096u /* divides the page size of every kernel */
#define REMOTE_PAGES 64u

struct remote_pages {
	pid_t pid;
	uint64_t round;
	struct {
		uint64_t address;
		uint64_t round; /* in which it was read */
		uint64_t used;  /* the last round in which it was needed */
	} tags[REMOTE_PAGES];
	uint8_t bytes[REMOTE_PAGES][REMOTE_PAGE];
};

/* Empties the cache, except for what is read ahead. pid may be a thread. *pages must be zeroed
 * before the first call. */
void remote_pages_begin(struct remote_pages *pages, pid_t pid);

/* A python_read_fn. */
bool remote_pages_read(void *pages, uint64_t address, void *ret, uint32_t size);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LANGUAGE_REMOTE_PAGES_H
#define WICK_LANGUAGE_REMOTE_PAGES_H

/*
 * remote_pages: reads the memory of another process in pages and caches them until
 * remote_pages_begin(), because frames and code objects are close to each other. What the last
 * round needed is probably needed again: it is read in one system call, and no more of each page
 * than that, because copying pages that are in no cache takes longer than the call.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define REMOTE_PAGE 4096u /* divides the page size of every kernel */
#define REMOTE_PAGES 64u

/* A part of a page. */
struct remote_part {
	uint32_t start;
	uint32_t end;
};

struct remote_tag {
	uint64_t address;
	uint64_t round; /* in which it was read */
	uint64_t used;  /* the last round in which it was needed */
	struct remote_part has;
	struct remote_part needed; /* in that round, or in several if they differ */
	bool is_ahead;             /* it was read before it was needed */
	bool is_varied;            /* what is needed differs between rounds */
};

/* A part of memory that is read last. */
struct remote_last {
	uint64_t address;
	void *copy;
	size_t bytes; /* 0: there is none */
};

struct remote_pages {
	pid_t pid;
	uint64_t round;
	struct remote_last last;
	bool is_last_read; /* and nothing was read after it */
	struct remote_tag tags[REMOTE_PAGES];
	uint8_t bytes[REMOTE_PAGES][REMOTE_PAGE];
};

/* Empties the cache, except for what is read ahead. pid may be a thread. *pages must be zeroed
 * before the first call. */
void remote_pages_begin(struct remote_pages *pages, pid_t pid);
/*
 * The same, and copies one more part, in the same system call where possible. last->copy must stay
 * valid until remote_pages_end().
 */
void remote_pages_begin_with(struct remote_pages *pages, pid_t pid, const struct remote_last *last);
/* Whether that part is there already. The whole round may still need more than was read ahead. */
bool remote_pages_has_last(const struct remote_pages *pages);
/* Copies that part again if something was read after it. False if it cannot be read. */
bool remote_pages_end(struct remote_pages *pages);

/* A python_read_fn. */
bool remote_pages_read(void *pages, uint64_t address, void *ret, uint32_t size);

#endif

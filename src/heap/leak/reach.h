/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_LEAK_REACH_H
#define WICK_HEAP_LEAK_REACH_H

/*
 * reach: which live blocks of a process the program can still reach.
 *
 * All memory is read once, in address order: each aligned word that is an address within a live
 * block is a pointer. Where it is decides what it means: in a live block, in memory that the
 * program uses (a root), or in memory that is no longer in use (a shade). Then blocks are marked
 * starting at the roots, by the rules of memcheck: docs/design/leaks.md. Knows nothing about
 * processes, files or allocators: memory is read through a callback.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heap/leak/reach_index.h"
#include "model/leak.h"

/* Which pages of a range can be skipped. */
enum reach_pages {
	REACH_PAGES_ALL,     /* none: pages that the process has not touched may have contents */
	REACH_PAGES_PRIVATE, /* those that were never touched: they are zeros */
	/*
	 * The same for memory that may be shared, if there are very many such pages: reading would
	 * allocate them.
	 */
	REACH_PAGES_SHARED,
};

/* A range of memory, and what its words outside live blocks are: one bit of leak_evidence. */
struct reach_range {
	uint64_t start;
	uint64_t end;
	uint16_t evidence;
	bool starts_only; /* allocator memory: pointers into blocks are not the program's */
	uint8_t pages;    /* enum reach_pages */
};

/* A mapped file: vtables are there and point to code. */
struct reach_file {
	uint64_t start;
	uint64_t end;
	bool is_code;
};

struct reach_config {
	/* Copies memory; returns how many bytes could be read, counted from the first. */
	size_t (*read)(void *self, uint64_t address, void *buffer, size_t size);
	/*
	 * Optional: the first address in [from, end) on a touched page, `end` if there is none; for
	 * a range with these pages.
	 */
	uint64_t (*next_touched)(void *self, enum reach_pages pages, uint64_t from, uint64_t end);
	void *self;
	const struct reach_range *ranges; /* sorted by address, without overlaps */
	size_t range_count;
	const uint64_t *registers; /* of all threads */
	size_t register_count;
	const struct reach_file *files; /* by address */
	size_t file_count;
};

/* The result for a block. */
struct reach_answer {
	uint64_t led_bytes;
	uint32_t led_blocks;
	uint16_t evidence;
	uint8_t leak_class; /* enum leak_class */
};

struct reach_result {
	struct reach_answer *answers; /* by block; the caller frees it */
	uint64_t read_bytes;
	uint64_t unread_bytes;
};

/*
 * Classifies the blocks, which must be sorted by address, without overlaps, and fewer than 2^31. 0
 * or -ENOMEM.
 */
int reach_run(const struct reach_config *config, const struct reach_block *blocks, size_t count,
	      struct reach_result *ret);

/* Whether memory with this evidence is a root. */
static inline bool reach_is_root(uint16_t evidence)
{
	return evidence & (LEAK_FROM_GLOBAL | LEAK_FROM_STACK | LEAK_FROM_REGISTER | LEAK_FROM_TLS |
			   LEAK_FROM_MAPPING);
}

#endif

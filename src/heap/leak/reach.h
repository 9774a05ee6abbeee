/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_LEAK_REACH_H
#define WICK_HEAP_LEAK_REACH_H

/*
 * reach: which live blocks of a process the program can still get to.
 *
 * All memory is looked at once, in order of addresses: each aligned word that is an address within
 * a live block is a pointer. What holds it decides what it is worth: a live block, a place that the
 * program looks at (a root), or one that it does not any more (a shade). Then blocks are marked
 * from the roots on, by the rules of memcheck: docs/design/leaks.md. Nothing is known here of
 * processes, files or allocators: memory comes through a callback.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heap/leak/reach_index.h"
#include "model/leak.h"

/* Which pages of a range need not be read. */
enum reach_pages {
	REACH_PAGES_ALL,     /* none: what the process has not touched may be there all the same */
	REACH_PAGES_PRIVATE, /* those that were never touched: they are zeros */
	/*
	 * The same of memory that others may have too, where there are very many of them: reading
	 * would make them.
	 */
	REACH_PAGES_SHARED,
};

/* A range of memory, and what its words outside of live blocks are: one bit of leak_evidence. */
struct reach_range {
	uint64_t start;
	uint64_t end;
	uint16_t evidence;
	bool starts_only; /* of the allocator: a pointer into a block is not one of the program's */
	uint8_t pages;    /* enum reach_pages */
};

/* A file that is mapped: vtables lie there, and point to code. */
struct reach_file {
	uint64_t start;
	uint64_t end;
	bool is_code;
};

struct reach_config {
	/* Copies memory; returns how many bytes could be read, from the first on. */
	size_t (*read)(void *self, uint64_t address, void *buffer, size_t size);
	/*
	 * Optional: the first address in [from, end) of a page that was touched, `end` when there
	 * is none; of a range whose pages are so.
	 */
	uint64_t (*next_touched)(void *self, enum reach_pages pages, uint64_t from, uint64_t end);
	void *self;
	const struct reach_range *ranges; /* by address; they do not overlap */
	size_t range_count;
	const uint64_t *registers; /* of all threads */
	size_t register_count;
	const struct reach_file *files; /* by address */
	size_t file_count;
};

/* What is known of a block in the end. */
struct reach_answer {
	uint64_t led_bytes;
	uint32_t led_blocks;
	uint16_t evidence;
	uint8_t leak_class; /* enum leak_class */
};

struct reach_result {
	struct reach_answer *answers; /* by block; to be freed */
	uint64_t read_bytes;
	uint64_t unread_bytes;
};

/*
 * Looks at the blocks, which are sorted by address, do not overlap and are fewer than 2^31. 0 or
 * -ENOMEM.
 */
int reach_run(const struct reach_config *config, const struct reach_block *blocks, size_t count,
	      struct reach_result *ret);

/* Whether places with this evidence are roots. */
static inline bool reach_is_root(uint16_t evidence)
{
	return evidence & (LEAK_FROM_GLOBAL | LEAK_FROM_STACK | LEAK_FROM_REGISTER | LEAK_FROM_TLS |
			   LEAK_FROM_MAPPING);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BLOCK_TRACE_TRACKED_H
#define WICK_BLOCK_TRACE_TRACKED_H

/*
 * tracked: blocks that the program itself reports, by domain and any 64-bit address. It is a hash
 * table with linear probing, because there are few of them.
 *
 * Threads: the owner has to lock.
 */

#include <stddef.h>
#include <stdint.h>

struct trace_memory;

struct tracked_block {
	uint64_t address;
	uint64_t size;
	uint32_t domain;
	uint32_t site; /* + 1; 0: a free slot */
};

struct tracked_blocks {
	struct trace_memory *memory;
	struct tracked_block *slots;
	size_t capacity; /* a power of two or 0 */
	size_t count;
};

/* Returns the block or NULL. */
struct tracked_block *tracked_blocks_find(const struct tracked_blocks *blocks, uint32_t domain,
					  uint64_t address);
/* Adds a block that is not in the table. Returns 0 or -ENOMEM. */
int tracked_blocks_add(struct tracked_blocks *blocks, const struct tracked_block *block);
void tracked_blocks_remove(struct tracked_blocks *blocks, struct tracked_block *block);
void tracked_blocks_clear(struct tracked_blocks *blocks);

#endif

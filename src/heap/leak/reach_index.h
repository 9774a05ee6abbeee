/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_LEAK_REACH_INDEX_H
#define WICK_HEAP_LEAK_REACH_INDEX_H

/*
 * reach_index: finds the block that contains an address, for every word of a process.
 *
 * Adjacent blocks form a span. A span is divided into pieces of equal length, about one per two
 * blocks, and knows the first block of each piece, so a lookup checks one or two blocks.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

#define REACH_NOWHERE UINT32_MAX
/* The count before an array of C++ objects: an empty array consists of nothing else. */
#define REACH_COUNT_BYTES 8u

/* The extent of a block; kept apart because it is read most. */
struct reach_extent {
	uint64_t start;
	uint64_t end;
};

/* A live block. Blocks of one process do not overlap. */
struct reach_block {
	uint64_t address;
	uint64_t size_bytes; /* requested size */
	uint64_t born_ns;
	uint32_t stack;
	uint32_t thread;
};

struct reach_span {
	uint64_t start;
	uint64_t end;
	uint32_t shift; /* log2 of the length of a piece */
	size_t pieces;  /* start of its pieces in reach_index.pieces, which has one extra entry */
};

/* Starts as zeros. */
struct reach_index {
	struct reach_extent *extents; /* by address */
	VEC(struct reach_span) spans;
	VEC(uint32_t) pieces;
	size_t last; /* the span of the last lookup */
};

/* blocks must be sorted by address and fewer than REACH_NOWHERE. 0 or -ENOMEM. */
int reach_index_init(struct reach_index *index, const struct reach_block *blocks, size_t count);
void reach_index_fini(struct reach_index *index);

/*
 * The block that contains the address; REACH_NOWHERE: none. A block of REACH_COUNT_BYTES also
 * contains the address right after it, unless another block begins there.
 */
uint32_t reach_index_find(struct reach_index *index, uint64_t address);

/* The start of the lookup of an address, NULL: no block. For looking up many addresses at once. */
const uint32_t *reach_index_piece(struct reach_index *index, uint64_t address);
/* The end of that lookup. */
uint32_t reach_index_answer(const struct reach_index *index, const uint32_t *piece,
			    uint64_t address);

/* An empty block contains its start address. */
static inline uint64_t reach_block_end(const struct reach_block *block)
{
	return block->address + (block->size_bytes > 0 ? block->size_bytes : 1);
}

#endif

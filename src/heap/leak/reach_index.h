/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_LEAK_REACH_INDEX_H
#define WICK_HEAP_LEAK_REACH_INDEX_H

/*
 * reach_index: which block an address lies in, for every word of a process.
 *
 * Blocks that lie close together are a span. A span is cut into pieces of equal length, about one
 * for each two blocks, and knows the first block of each piece, so a question looks at one or
 * two blocks.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

#define REACH_NOWHERE UINT32_MAX
/* The number before an array of C++ objects: of one without objects it is all that there is. */
#define REACH_COUNT_BYTES 8u

/* Where a block lies: what is asked for most stands together. */
struct reach_extent {
	uint64_t start;
	uint64_t end;
};

/* A block that was live. Those of one process do not overlap. */
struct reach_block {
	uint64_t address;
	uint64_t size_bytes; /* that was asked for */
	uint64_t born_ns;
	uint32_t stack;
	uint32_t thread;
};

struct reach_span {
	uint64_t start;
	uint64_t end;
	uint32_t shift; /* log2 of how long a piece is */
	size_t pieces;  /* where its pieces begin in reach_index.pieces; one more than there are */
};

/* Starts as zeros. */
struct reach_index {
	struct reach_extent *extents; /* by address */
	VEC(struct reach_span) spans;
	VEC(uint32_t) pieces;
	size_t last; /* the span of the last answer */
};

/* blocks are sorted by address and fewer than REACH_NOWHERE. 0 or -ENOMEM. */
int reach_index_init(struct reach_index *index, const struct reach_block *blocks, size_t count);
void reach_index_fini(struct reach_index *index);

/*
 * The block that holds the address, REACH_NOWHERE when none does. One of REACH_COUNT_BYTES holds
 * the address behind it too, unless another begins there.
 */
uint32_t reach_index_find(struct reach_index *index, uint64_t address);

/* Where the answer for an address begins, NULL when there is none: for many at once. */
const uint32_t *reach_index_piece(struct reach_index *index, uint64_t address);
/* The answer from there. */
uint32_t reach_index_answer(const struct reach_index *index, const uint32_t *piece,
			    uint64_t address);

/* One without bytes holds the address that it begins at. */
static inline uint64_t reach_block_end(const struct reach_block *block)
{
	return block->address + (block->size_bytes > 0 ? block->size_bytes : 1);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BLOCK_TRACE_BLOCKS_H
#define WICK_BLOCK_TRACE_BLOCKS_H

/*
 * blocks: the live blocks, by address.
 *
 * Blocks that are used together are close together, and so are their entries: a directory finds the
 * page of an address, and each page has an array of 8-byte slots, one for every `step` bytes.
 *
 *	page 0x7f5a10    step 64 bytes      slots  [site, size] [site, size] [      ] …
 *	page 0x7f5a14    step 512 bytes     slots  [site, size] [          ] …
 *
 * The step of a page is the size of its smallest block, so that no two blocks share a slot. When a
 * smaller block is added, the step is lowered and the array is rebuilt. With an allocator that
 * keeps blocks of one size in a page, as Python's does, a block costs 8 bytes and its share of the
 * page's entry.
 *
 * Blocks that do not fit into a slot are kept in a hash table: those whose address is not a
 * multiple of 16, and those of 4 GiB or more.
 *
 * Threads: the owner has to lock.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block_trace/memory.h"
#include "block_trace/tracked.h"

struct trace_block {
	uint64_t address;
	uint64_t size;
	uint32_t site;
};

/* Highest site id that a slot can hold. */
#define TRACE_SITE_MAX ((1u << 27) - 2)

#define TRACE_PAGE_BITS 12
#define TRACE_GRANULE_BITS 4
/* Maximum step in granules; a page has at least 8 slots. */
#define TRACE_STEP_MAX 32
#define TRACE_INVERSE_BITS 15

struct trace_page {
	uint64_t number;     /* address >> TRACE_PAGE_BITS; 0: a free entry */
	uint32_t first_step; /* first slot << 5 | (granules per step - 1) */
	uint16_t count;      /* of blocks; 0: the step may change */
	uint16_t inverse;    /* 2^15 / granules per step, rounded up */
};

/*
 * A slot: size | low 5 bits of the granule << 32 | (site + 1) << 37; 0: free. A slot stands for at
 * most 32 granules, so these 5 bits say at which one the block starts.
 */
typedef uint64_t trace_slot_word;

#define TRACE_SLOTS_MAX (1u << 27)

static inline trace_slot_word trace_slot_make(uint32_t granule, uint64_t size, uint32_t site)
{
	return size | (uint64_t)(granule & 31) << 32 | (uint64_t)(site + 1) << 37;
}

static inline uint32_t trace_slot_site(trace_slot_word slot)
{
	return (uint32_t)(slot >> 37) - 1;
}

static inline bool trace_slot_is(trace_slot_word slot, uint32_t granule)
{
	return slot >> 37 != 0 && ((slot >> 32 ^ granule) & 31) == 0;
}

struct trace_blocks {
	struct trace_memory *memory;
	struct trace_page *pages;
	size_t page_capacity; /* a power of two, or 0 */
	unsigned int shift;   /* from a hash to an index in pages */
	size_t page_count;
	struct trace_array slots; /* trace_slot_word */
	size_t slot_count;
	uint32_t free_slots[TRACE_STEP_MAX + 1]; /* free arrays by step: first slot + 1 */
	uint32_t inverse[TRACE_STEP_MAX + 1];    /* 2^15 / step, rounded up */
	struct tracked_blocks odd;
	size_t count;
};

void trace_blocks_init(struct trace_blocks *blocks, struct trace_memory *memory);
/* Removes all blocks and frees the memory. */
void trace_blocks_clear(struct trace_blocks *blocks);

/* Where the search for a page begins. */
static inline size_t trace_blocks_place(const struct trace_blocks *blocks, uint64_t number)
{
	return (size_t)(number * 0x9e3779b97f4a7c15ull >> blocks->shift);
}

static inline uint32_t trace_granule(uint64_t address)
{
	return (uint32_t)(address >> TRACE_GRANULE_BITS) &
	       ((1u << (TRACE_PAGE_BITS - TRACE_GRANULE_BITS)) - 1);
}

static inline uint32_t trace_page_step(const struct trace_page *page)
{
	return (page->first_step & 31) + 1;
}

static inline trace_slot_word *trace_blocks_slot(const struct trace_blocks *blocks,
						 const struct trace_page *page, uint32_t granule)
{
	return (trace_slot_word *)blocks->slots.items + (page->first_step >> 5) +
	       (granule * page->inverse >> TRACE_INVERSE_BITS);
}

/* Returns NULL if the block is unknown or in the hash table. Valid until a block is added. */
trace_slot_word *trace_blocks_find_slot(const struct trace_blocks *blocks, uint64_t address);

static inline trace_slot_word *trace_blocks_known_slot(const struct trace_blocks *blocks,
						       uint64_t address)
{
	uint64_t number = address >> TRACE_PAGE_BITS;
	uint32_t granule = trace_granule(address);
	const struct trace_page *page;
	trace_slot_word *slot;

	if (__builtin_expect(!blocks->pages || (address & 15) != 0, 0))
		return NULL;
	page = &blocks->pages[trace_blocks_place(blocks, number)];
	if (__builtin_expect(page->number != number, 0))
		return trace_blocks_find_slot(blocks, address);
	slot = trace_blocks_slot(blocks, page, granule);
	return trace_slot_is(*slot, granule) ? slot : NULL;
}

/* Both return whether the block is known; take also removes it. */
bool trace_blocks_get(const struct trace_blocks *blocks, uint64_t address, struct trace_block *ret);
bool trace_blocks_take_slowly(struct trace_blocks *blocks, uint64_t address,
			      struct trace_block *ret);

/*
 * The slow paths get pointers to copies, so that the caller's structs can stay in registers.
 */
static inline bool trace_blocks_take_copy(struct trace_blocks *blocks, uint64_t address,
					  struct trace_block *ret)
{
	struct trace_block copy = {0};
	bool is_known = trace_blocks_take_slowly(blocks, address, &copy);

	*ret = copy;
	return is_known;
}

static inline bool trace_blocks_take(struct trace_blocks *blocks, uint64_t address,
				     struct trace_block *ret)
{
	uint64_t number = address >> TRACE_PAGE_BITS;
	uint32_t granule = trace_granule(address);
	struct trace_page *page;
	trace_slot_word *slot;

	if (__builtin_expect(!blocks->pages || (address & 15) != 0, 0))
		return trace_blocks_take_copy(blocks, address, ret);
	page = &blocks->pages[trace_blocks_place(blocks, number)];
	if (__builtin_expect(page->number != number, 0))
		return trace_blocks_take_copy(blocks, address, ret);
	slot = trace_blocks_slot(blocks, page, granule);
	if (__builtin_expect(!trace_slot_is(*slot, granule), 0))
		return trace_blocks_take_copy(blocks, address, ret);
	*ret = (struct trace_block){address, (uint32_t)*slot, trace_slot_site(*slot)};
	*slot = 0;
	page->count--;
	blocks->count--;
	return true;
}

int trace_blocks_put_slowly(struct trace_blocks *blocks, const struct trace_block *block,
			    struct trace_block *ret_old);

static inline int trace_blocks_put_copy(struct trace_blocks *blocks,
					const struct trace_block *block,
					struct trace_block *ret_old)
{
	struct trace_block copy = *block;
	struct trace_block old = {0};
	int r = trace_blocks_put_slowly(blocks, &copy, &old);

	*ret_old = old;
	return r;
}

/*
 * Adds a block. Returns 0 or -ENOMEM, or 1 if there was a block whose free was not seen: it is
 * replaced and returned in *ret_old.
 */
static inline int trace_blocks_put(struct trace_blocks *blocks, const struct trace_block *block,
				   struct trace_block *ret_old)
{
	uint64_t number = block->address >> TRACE_PAGE_BITS;
	uint32_t granule = trace_granule(block->address);
	struct trace_page *page;
	trace_slot_word *slot;

	if (__builtin_expect(!blocks->pages || ((block->address & 15) | block->size >> 32) != 0, 0))
		return trace_blocks_put_copy(blocks, block, ret_old);
	page = &blocks->pages[trace_blocks_place(blocks, number)];
	/* A page without blocks gets its step from the new block. */
	if (__builtin_expect(page->number != number || page->count == 0 ||
				     (block->size + 15) >> TRACE_GRANULE_BITS <
					     trace_page_step(page),
			     0))
		return trace_blocks_put_copy(blocks, block, ret_old);
	slot = trace_blocks_slot(blocks, page, granule);
	if (__builtin_expect(*slot != 0, 0))
		return trace_blocks_put_copy(blocks, block, ret_old);
	*slot = trace_slot_make(granule, block->size, block->site);
	page->count++;
	blocks->count++;
	return 0;
}

/* Iterates over all blocks. Set *cursor to 0 first. Returns false at the end. */
bool trace_blocks_next(const struct trace_blocks *blocks, uint64_t *cursor,
		       struct trace_block *ret);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BLOCK_TRACE_BLOCKS_H
#define WICK_BLOCK_TRACE_BLOCKS_H

/*
 * blocks: the live blocks, by address.
 *
 * Blocks that are used together are close together, and so are their entries: a directory finds the
 * page of an address, and each page has an array with a slot of 8 bytes for each `step` bytes.
 *
 *	page 0x7f5a10    step 64 bytes      slots  [site, size] [site, size] [      ] …
 *	page 0x7f5a14    step 512 bytes     slots  [site, size] [          ] …
 *
 * The step of a page is the size of its smallest block, so that no two blocks share a slot. It is
 * lowered, and the array is made anew, when a smaller one comes. An allocator that keeps blocks of
 * one size in a page, as Python's does, needs 8 bytes for each and some for the page.
 *
 * What fits into no slot is kept in a hash table: a start that is not a multiple of 16, a size of
 * 4 GiB and more.
 *
 * Threads: the owner's lock protects it.
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

/* Sites above cannot be stored. */
#define TRACE_SITE_MAX ((1u << 27) - 2)

#define TRACE_PAGE_BITS 12
#define TRACE_GRANULE_BITS 4
/* A step has at most so many granules: a page has at least 8 slots. */
#define TRACE_STEP_MAX 32
#define TRACE_INVERSE_BITS 15

struct trace_page {
	uint64_t number; /* address >> TRACE_PAGE_BITS; 0: a free place */
	uint32_t first;  /* slot */
	uint16_t count;  /* of blocks; 0: the slots are free for any step */
	uint8_t step;    /* granules */
	uint8_t pad;
};

struct trace_slot_entry {
	uint32_t size;
	uint32_t site_rest; /* (site + 1) << 5 | granules behind the slot's start; 0: free */
};

struct trace_blocks {
	struct trace_memory *memory;
	struct trace_page *pages;
	size_t page_capacity; /* a power of two, or 0 */
	unsigned int shift;   /* of a hash to a place */
	size_t page_count;
	struct trace_array slots; /* struct trace_slot_entry */
	size_t slot_count;
	uint32_t free_slots[TRACE_STEP_MAX + 1]; /* arrays for each step; first slot + 1 */
	uint32_t inverse[TRACE_STEP_MAX + 1];    /* 2^15 / step, rounded up */
	struct tracked_blocks odd;
	size_t count;
};

void trace_blocks_init(struct trace_blocks *blocks, struct trace_memory *memory);
/* Forgets all blocks and gives back the memory. */
void trace_blocks_clear(struct trace_blocks *blocks);

static inline struct trace_page *trace_blocks_page(const struct trace_blocks *blocks,
						   uint64_t address)
{
	uint64_t number = address >> TRACE_PAGE_BITS;
	size_t i;

	if (!blocks->pages)
		return NULL;
	for (i = (size_t)(number * 0x9e3779b97f4a7c15ull >> blocks->shift);;
	     i = (i + 1) & (blocks->page_capacity - 1)) {
		struct trace_page *page = &blocks->pages[i];

		if (page->number == number)
			return page;
		if (page->number == 0)
			return NULL;
	}
}

static inline bool trace_block_is_odd(uint64_t address, uint64_t size)
{
	return (address & ((1u << TRACE_GRANULE_BITS) - 1)) != 0 || size > UINT32_MAX ||
	       address >> TRACE_PAGE_BITS == 0;
}

/* The slot of an address in its page, and the granules behind the slot's start. */
static inline struct trace_slot_entry *trace_blocks_slot(const struct trace_blocks *blocks,
							 const struct trace_page *page,
							 uint64_t address, uint32_t *ret_rest)
{
	uint32_t granule = (uint32_t)(address >> TRACE_GRANULE_BITS) &
			   ((1u << (TRACE_PAGE_BITS - TRACE_GRANULE_BITS)) - 1);
	uint32_t slot = granule * blocks->inverse[page->step] >> TRACE_INVERSE_BITS;

	*ret_rest = granule - slot * page->step;
	return (struct trace_slot_entry *)blocks->slots.items + page->first + slot;
}

/* Asks the CPU to load what the next call for this address needs. */
static inline void trace_blocks_prefetch(const struct trace_blocks *blocks, uint64_t address)
{
	const struct trace_page *page = trace_blocks_page(blocks, address);
	uint32_t rest;

	if (page)
		__builtin_prefetch(trace_blocks_slot(blocks, page, address, &rest), 1);
}

bool trace_blocks_get_odd(const struct trace_blocks *blocks, uint64_t address,
			  struct trace_block *ret);
bool trace_blocks_take_odd(struct trace_blocks *blocks, uint64_t address, struct trace_block *ret);

/* Returns whether the block is known. */
static inline bool trace_blocks_get(const struct trace_blocks *blocks, uint64_t address,
				    struct trace_block *ret)
{
	const struct trace_page *page = trace_blocks_page(blocks, address);

	if (page && page->count > 0 && !trace_block_is_odd(address, 0)) {
		uint32_t rest;
		const struct trace_slot_entry *slot =
			trace_blocks_slot(blocks, page, address, &rest);

		if (slot->site_rest != 0 && (slot->site_rest & 31) == rest) {
			*ret = (struct trace_block){address, slot->size,
						    (slot->site_rest >> 5) - 1};
			return true;
		}
	}
	return blocks->odd.count > 0 && trace_blocks_get_odd(blocks, address, ret);
}

/* Removes a block. Returns whether it was known. */
static inline bool trace_blocks_take(struct trace_blocks *blocks, uint64_t address,
				     struct trace_block *ret)
{
	struct trace_page *page = trace_blocks_page(blocks, address);

	if (page && page->count > 0 && !trace_block_is_odd(address, 0)) {
		uint32_t rest;
		struct trace_slot_entry *slot = trace_blocks_slot(blocks, page, address, &rest);

		if (slot->site_rest != 0 && (slot->site_rest & 31) == rest) {
			*ret = (struct trace_block){address, slot->size,
						    (slot->site_rest >> 5) - 1};
			slot->site_rest = 0;
			page->count--;
			blocks->count--;
			return true;
		}
	}
	return blocks->odd.count > 0 && trace_blocks_take_odd(blocks, address, ret);
}

/* trace_blocks_put() for a page or step that is new, and for odd blocks. */
int trace_blocks_put_slowly(struct trace_blocks *blocks, const struct trace_block *block,
			    struct trace_block *ret_old);

/*
 * Adds a block. Returns 0, or 1 if there was one whose end was not seen: it is replaced and is in
 * *ret_old. Or -ENOMEM.
 */
static inline int trace_blocks_put(struct trace_blocks *blocks, const struct trace_block *block,
				   struct trace_block *ret_old)
{
	struct trace_page *page = trace_blocks_page(blocks, block->address);
	struct trace_slot_entry *slot;
	uint32_t rest;

	/* A page without blocks gets the step of the new one, unless it has it. */
	if (__builtin_expect(!page || (block->size + 15) >> TRACE_GRANULE_BITS < page->step ||
				     trace_block_is_odd(block->address, block->size) ||
				     (page->count == 0 && page->step < TRACE_STEP_MAX &&
				      block->size > (uint64_t)page->step << TRACE_GRANULE_BITS),
			     0))
		return trace_blocks_put_slowly(blocks, block, ret_old);
	slot = trace_blocks_slot(blocks, page, block->address, &rest);
	if (__builtin_expect(slot->site_rest != 0, 0)) {
		*ret_old = (struct trace_block){block->address - ((uint64_t)rest << 4) +
							((uint64_t)(slot->site_rest & 31) << 4),
						slot->size, (slot->site_rest >> 5) - 1};
		*slot = (struct trace_slot_entry){(uint32_t)block->size,
						  (block->site + 1) << 5 | rest};
		return 1;
	}
	*slot = (struct trace_slot_entry){(uint32_t)block->size, (block->site + 1) << 5 | rest};
	page->count++;
	blocks->count++;
	return 0;
}

/* Walks over all blocks: *cursor is 0 at first. Returns false at the end. */
bool trace_blocks_next(const struct trace_blocks *blocks, uint64_t *cursor,
		       struct trace_block *ret);

#endif

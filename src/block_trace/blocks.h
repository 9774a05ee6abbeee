/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BLOCK_TRACE_BLOCKS_H
#define WICK_BLOCK_TRACE_BLOCKS_H

/*
 * blocks: the live blocks, by address: a hash table with linear probing, 16 bytes a slot, at most
 * three quarters full. It grows by a half, so that a block costs 21 to 32 bytes.
 *
 * Threads: the owner's lock protects it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_memory;

struct trace_block {
	uint64_t address_size; /* address << 16 | size >> 32; 0: a free slot */
	uint32_t size_low;
	uint32_t site;
};

struct trace_blocks {
	struct trace_memory *memory;
	struct trace_block *slots;
	size_t capacity;
	size_t count;
	size_t count_max; /* grow beyond */
};

/* Blocks are aligned: the lowest bits of addresses say nothing. */
#define TRACE_ALIGN_BITS 3
#define TRACE_NO_SITE UINT32_MAX
#define TRACE_SIZE_MAX ((1ull << 48) - 1)

static inline uint64_t trace_block_address(const struct trace_block *block)
{
	return block->address_size >> 16;
}

static inline uint64_t trace_block_size(const struct trace_block *block)
{
	return (block->address_size & 0xffff) << 32 | block->size_low;
}

static inline size_t trace_blocks_place(const struct trace_blocks *blocks, uint64_t address)
{
	uint64_t hash = (address >> TRACE_ALIGN_BITS) * 0x9e3779b97f4a7c15ull;

	return (size_t)((unsigned __int128)hash * blocks->capacity >> 64);
}

/* Asks the CPU to load what the next call for this address needs. */
static inline void trace_blocks_prefetch(const struct trace_blocks *blocks, const void *address)
{
	if (blocks->capacity > 0)
		__builtin_prefetch(
			&blocks->slots[trace_blocks_place(blocks, (uint64_t)(uintptr_t)address)],
			1);
}

/* Returns the block or NULL. It moves with the next change of the table. */
static inline struct trace_block *trace_blocks_find(const struct trace_blocks *blocks,
						    uint64_t address)
{
	size_t i;

	if (blocks->count == 0)
		return NULL;
	for (i = trace_blocks_place(blocks, address);; i = i + 1 < blocks->capacity ? i + 1 : 0) {
		struct trace_block *block = &blocks->slots[i];

		if (block->address_size == 0)
			return NULL;
		if (trace_block_address(block) == address)
			return block;
	}
}

/* Makes room for one more block. Returns 0 or -ENOMEM. */
int trace_blocks_grow(struct trace_blocks *blocks);

/*
 * Finds the block, or adds one of site TRACE_NO_SITE: its free was not seen if the address is known
 * already. Returns NULL if there is no memory. The caller sets size and site.
 */
static inline struct trace_block *trace_blocks_put(struct trace_blocks *blocks, uint64_t address)
{
	size_t i;

	if (blocks->count >= blocks->count_max && trace_blocks_grow(blocks) < 0)
		return NULL;
	for (i = trace_blocks_place(blocks, address);; i = i + 1 < blocks->capacity ? i + 1 : 0) {
		struct trace_block *block = &blocks->slots[i];

		if (block->address_size == 0) {
			*block = (struct trace_block){address << 16, 0, TRACE_NO_SITE};
			blocks->count++;
			return block;
		}
		if (trace_block_address(block) == address)
			return block;
	}
}

static inline void trace_block_set(struct trace_block *block, uint64_t size, uint32_t site)
{
	block->address_size = (block->address_size & ~0xffffull) | size >> 32;
	block->size_low = (uint32_t)size;
	block->site = site;
}

/* Removes a block that trace_blocks_find() returned. */
void trace_blocks_remove(struct trace_blocks *blocks, struct trace_block *block);

/* Forgets all blocks and returns the memory. */
void trace_blocks_clear(struct trace_blocks *blocks);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#include "block_trace/blocks.h"

#include <errno.h>

#include "block_trace/memory.h"

#define FIRST_CAPACITY 4096

int trace_blocks_grow(struct trace_blocks *blocks)
{
	struct trace_blocks next = {.memory = blocks->memory};
	size_t bytes;

	next.capacity = blocks->capacity > 0 ? blocks->capacity / 2 * 3 : FIRST_CAPACITY;
	next.count_max = next.capacity / 4 * 3;
	bytes = next.capacity * sizeof(*next.slots);
	next.slots = trace_memory_map(blocks->memory, bytes);
	if (!next.slots) {
		/* One slot must stay free: searches end there. */
		if (blocks->count + 1 >= blocks->capacity)
			return -ENOMEM;
		return 0;
	}
	for (size_t i = 0; i < blocks->capacity; i++) {
		const struct trace_block *block = &blocks->slots[i];
		struct trace_block *copy;

		if (block->address_size == 0)
			continue;
		copy = trace_blocks_put(&next, trace_block_address(block));
		if (copy) /* there is room */
			*copy = *block;
	}
	trace_memory_unmap(blocks->memory, blocks->slots,
			   blocks->capacity * sizeof(*blocks->slots));
	*blocks = next;
	return 0;
}

void trace_blocks_remove(struct trace_blocks *blocks, struct trace_block *block)
{
	size_t hole = (size_t)(block - blocks->slots);
	size_t i = hole;

	/*
	 * Blocks behind the hole move into it unless their place is behind it too: a search that
	 * starts at a block's place must not meet a free slot before the block.
	 */
	for (;;) {
		size_t place;
		size_t from_place;
		size_t from_hole;

		i = i + 1 < blocks->capacity ? i + 1 : 0;
		if (blocks->slots[i].address_size == 0)
			break;
		place = trace_blocks_place(blocks, trace_block_address(&blocks->slots[i]));
		from_place = i >= place ? i - place : i + blocks->capacity - place;
		from_hole = i >= hole ? i - hole : i + blocks->capacity - hole;
		if (from_place < from_hole)
			continue;
		blocks->slots[hole] = blocks->slots[i];
		hole = i;
	}
	blocks->slots[hole] = (struct trace_block){0};
	blocks->count--;
}

void trace_blocks_clear(struct trace_blocks *blocks)
{
	trace_memory_unmap(blocks->memory, blocks->slots,
			   blocks->capacity * sizeof(*blocks->slots));
	*blocks = (struct trace_blocks){.memory = blocks->memory};
}

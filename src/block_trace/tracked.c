/* SPDX-License-Identifier: BSD-2-Clause */
#include "block_trace/tracked.h"

#include <errno.h>

#include "block_trace/memory.h"

#define FIRST_CAPACITY 256

static size_t place(const struct tracked_blocks *blocks, uint32_t domain, uint64_t address)
{
	uint64_t hash = (address ^ (uint64_t)domain << 40) * 0x9e3779b97f4a7c15ull;

	return (size_t)(hash >> 32) & (blocks->capacity - 1);
}

struct tracked_block *tracked_blocks_find(const struct tracked_blocks *blocks, uint32_t domain,
					  uint64_t address)
{
	if (blocks->count == 0)
		return NULL;
	for (size_t i = place(blocks, domain, address);; i = (i + 1) & (blocks->capacity - 1)) {
		struct tracked_block *block = &blocks->slots[i];

		if (block->site == 0)
			return NULL;
		if (block->address == address && block->domain == domain)
			return block;
	}
}

static void put(struct tracked_blocks *blocks, const struct tracked_block *block)
{
	size_t i = place(blocks, block->domain, block->address);

	while (blocks->slots[i].site != 0)
		i = (i + 1) & (blocks->capacity - 1);
	blocks->slots[i] = *block;
	blocks->count++;
}

static int grow(struct tracked_blocks *blocks)
{
	struct tracked_blocks next = {.memory = blocks->memory};

	next.capacity = blocks->capacity > 0 ? blocks->capacity * 2 : FIRST_CAPACITY;
	next.slots = trace_memory_map(next.memory, next.capacity * sizeof(*next.slots));
	if (!next.slots)
		return blocks->count + 1 < blocks->capacity ? 0 : -ENOMEM;
	for (size_t i = 0; i < blocks->capacity; i++)
		if (blocks->slots[i].site != 0)
			put(&next, &blocks->slots[i]);
	trace_memory_unmap(blocks->memory, blocks->slots,
			   blocks->capacity * sizeof(*blocks->slots));
	*blocks = next;
	return 0;
}

int tracked_blocks_add(struct tracked_blocks *blocks, const struct tracked_block *block)
{
	if (blocks->count >= blocks->capacity / 4 * 3 && grow(blocks) < 0)
		return -ENOMEM;
	put(blocks, block);
	return 0;
}

void tracked_blocks_remove(struct tracked_blocks *blocks, struct tracked_block *block)
{
	size_t mask = blocks->capacity - 1;
	size_t hole = (size_t)(block - blocks->slots);

	/* As in blocks.c: what follows moves into the hole unless its place is behind it. */
	for (size_t i = (hole + 1) & mask; blocks->slots[i].site != 0; i = (i + 1) & mask) {
		size_t wanted = place(blocks, blocks->slots[i].domain, blocks->slots[i].address);

		if (((i - wanted) & mask) < ((i - hole) & mask))
			continue;
		blocks->slots[hole] = blocks->slots[i];
		hole = i;
	}
	blocks->slots[hole] = (struct tracked_block){0};
	blocks->count--;
}

void tracked_blocks_clear(struct tracked_blocks *blocks)
{
	trace_memory_unmap(blocks->memory, blocks->slots,
			   blocks->capacity * sizeof(*blocks->slots));
	*blocks = (struct tracked_blocks){.memory = blocks->memory};
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/live_blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FIRST_SLOTS 4096u
#define SPARSE_SLOTS (16u << 10)
#define LARGE_PAGE_BYTES (2u << 20)
#define MAX_SLOTS UINT32_MAX /* the hash has 32 bits */

void heap_live_fini(struct heap_live *live)
{
	free(live->slots);
	*live = (struct heap_live){0};
}

/*
 * Allocates empty slots. Blocks are anywhere in the table: with small pages most lookups would miss
 * the TLB, which takes longer than the memory access itself.
 */
static struct heap_block *make_slots(size_t capacity)
{
	size_t bytes = capacity * sizeof(struct heap_block);
	struct heap_block *slots;

	if (bytes < 2 * LARGE_PAGE_BYTES)
		return calloc(capacity, sizeof(*slots));
	bytes = (bytes + LARGE_PAGE_BYTES - 1) / LARGE_PAGE_BYTES * LARGE_PAGE_BYTES;
	slots = aligned_alloc(LARGE_PAGE_BYTES, bytes);
	if (!slots)
		return NULL;
	(void)madvise(slots, bytes, MADV_HUGEPAGE); /* only a hint */
	memset(slots, 0, bytes);
	return slots;
}

int heap_live_grow(struct heap_live *live)
{
	struct heap_live grown = {.count = live->count};

	grown.capacity = live->capacity ? live->capacity + live->capacity / 2 : FIRST_SLOTS;
	if (grown.capacity > MAX_SLOTS)
		return -ENOMEM;
	grown.room = grown.capacity <= SPARSE_SLOTS ? grown.capacity / 4 : grown.capacity / 8 * 5;
	grown.slots = make_slots(grown.capacity);
	if (!grown.slots)
		return -ENOMEM;
	for (size_t i = 0; i < live->capacity; i++) {
		const struct heap_block *block = &live->slots[i];

		if (block->address != 0)
			*heap_live_slot(&grown, block->space, block->address) = *block;
	}
	free(live->slots);
	*live = grown;
	return 0;
}

static size_t distance(const struct heap_live *live, size_t from, size_t to)
{
	return to >= from ? to - from : to + live->capacity - from;
}

void heap_live_close(struct heap_live *live, struct heap_block *slot)
{
	size_t hole = (size_t)(slot - live->slots);
	size_t at = hole;

	for (;;) {
		const struct heap_block *block;
		size_t home;

		at = at + 1 == live->capacity ? 0 : at + 1;
		block = &live->slots[at];
		if (block->address == 0)
			break;
		/* A block may move back, but not before its home. */
		home = heap_live_home(live, block->space, block->address);
		if (distance(live, home, at) >= distance(live, hole, at)) {
			live->slots[hole] = *block;
			hole = at;
		}
	}
	live->slots[hole].address = 0;
}

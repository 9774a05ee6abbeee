/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/live.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_SLOTS 1024u
#define MAX_SLOTS UINT32_MAX /* the hash has so many bits */

void heap_live_fini(struct heap_live *live)
{
	free(live->slots);
	*live = (struct heap_live){0};
}

int heap_live_grow(struct heap_live *live)
{
	struct heap_live grown = {.count = live->count};

	grown.capacity = live->capacity ? live->capacity + live->capacity / 2 : FIRST_SLOTS;
	if (grown.capacity > MAX_SLOTS)
		return -ENOMEM;
	grown.slots = calloc(grown.capacity, sizeof(*grown.slots));
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

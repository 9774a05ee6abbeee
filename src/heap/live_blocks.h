/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_LIVE_BLOCKS_H
#define WICK_HEAP_LIVE_BLOCKS_H

/*
 * live_blocks: the live blocks, by space and address.
 *
 * A space is a set of addresses: a process has one for blocks of malloc and the like and one for
 * mappings.
 *
 * One table with open addressing. It grows by half and is at most five eighths full; while it fits
 * into a near cache, at most a quarter: there a look at a second slot costs more than the memory,
 * because the branch is unpredictable. Removal leaves no tombstones, because programs allocate and
 * free forever. The slot of a block is monotonic in its hash, so growing reads and writes memory
 * from front to back.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_seed.h"
#include "model/heap_event.h"

enum { HEAP_SPACE_MALLOC, HEAP_SPACE_MMAP, HEAP_SPACES };

/* The space of a call; process is the first space of its process. */
static inline uint32_t heap_space_of(uint32_t process, uint8_t call)
{
	return process + (call == HEAP_MMAP ? HEAP_SPACE_MMAP : HEAP_SPACE_MALLOC);
}

#define HEAP_SIZE_MAX ((UINT64_C(1) << 48) - 1)
#define HEAP_SLACK_MAX 65535u
#define HEAP_TIME_MAX ((UINT64_C(1) << 56) - 1)

struct heap_block {
	uint64_t address;      /* 0: no block */
	uint64_t time_ns : 56; /* since the analysis began */
	uint64_t rate : 8;     /* of heap_rates */
	uint64_t size : 48;    /* at most HEAP_SIZE_MAX */
	uint64_t slack : 16;   /* at most HEAP_SLACK_MAX */
	uint32_t share;        /* of heap_sites; ID_NONE: not counted */
	uint32_t space;
};

_Static_assert(sizeof(struct heap_block) == 32, "there are many");

/* All zero is empty. */
struct heap_live {
	struct heap_block *slots;
	size_t capacity;
	size_t count;
	size_t room; /* number of blocks at which it grows */
};

void heap_live_fini(struct heap_live *live);

/* Makes room for one more block; moves slots. 0 or -ENOMEM. */
int heap_live_grow(struct heap_live *live);

static inline int heap_live_reserve(struct heap_live *live)
{
	return live->count < live->room ? 0 : heap_live_grow(live);
}

static inline size_t heap_live_home(const struct heap_live *live, uint32_t space, uint64_t address)
{
	uint64_t hash = address ^ (uint64_t)space << 46 ^ hash_seed.first;

	hash = (hash ^ hash >> 32) * (hash_seed.second | 1);
	hash = (hash ^ hash >> 29) * 0xd6e8feb86659fd93u;
	return (size_t)((hash >> 32) * live->capacity >> 32);
}

/*
 * The slot of a block, or the empty slot where it belongs (its address is 0). Requires
 * heap_live_reserve() before; address must not be 0.
 */
static inline struct heap_block *heap_live_slot(const struct heap_live *live, uint32_t space,
						uint64_t address)
{
	size_t at = heap_live_home(live, space, address);

	while (live->slots[at].address != 0 &&
	       (live->slots[at].address != address || live->slots[at].space != space))
		at = at + 1 == live->capacity ? 0 : at + 1;
	return &live->slots[at];
}

/* Fills the empty slot that heap_live_slot() found for the block. */
static inline void heap_live_fill(struct heap_live *live, struct heap_block *slot,
				  const struct heap_block *block)
{
	*slot = *block;
	live->count++;
}

/* Empties a slot that is followed by others, which may move. */
void heap_live_close(struct heap_live *live, struct heap_block *slot);

/* Empties a slot. */
static inline void heap_live_remove(struct heap_live *live, struct heap_block *slot)
{
	const struct heap_block *next =
		slot + 1 == live->slots + live->capacity ? live->slots : slot + 1;

	live->count--;
	slot->address = 0;
	if (next->address != 0)
		heap_live_close(live, slot);
}

#endif

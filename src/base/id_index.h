/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_ID_INDEX_H
#define WICK_BASE_ID_INDEX_H

/*
 * id_index: from a hash to the 32-bit ids of objects stored elsewhere.
 *
 * Open addressing over (hash, id) pairs. The index never sees the objects: the caller walks the
 * candidates of a hash and confirms each by content, so equal hashes of different objects are
 * harmless:
 *
 *	struct id_probe probe = id_index_probe(&index, hash);
 *	while ((id = id_probe_next(&index, &probe)) != ID_NONE)
 *		if (same(things[id], key))
 *			return id;
 *	return id_index_add(&index, hash, new_id);
 */

#include <stdint.h>

#include "base/hash_seed.h"

#define ID_NONE UINT32_MAX

struct id_slot {
	uint32_t hash; /* folded; gives the position and rejects cheaply */
	uint32_t id;
};

struct id_index {
	struct id_slot *slots;
	uint32_t mask; /* slots - 1; 0 when empty */
	uint32_t count;
};

struct id_probe {
	uint32_t at;
	uint32_t hash;
};

void id_index_fini(struct id_index *index);
void id_index_clear(struct id_index *index); /* forgets all ids, keeps the memory */

/* Adds an id that is not there yet. Returns 0 or -ENOMEM. */
int id_index_add(struct id_index *index, uint64_t hash, uint32_t id);

/* The part of a hash that an index keeps; applied to that part, it returns the same. */
static inline uint32_t id_index_fold(uint64_t hash)
{
	return (uint32_t)(hash ^ hash >> 32);
}

static inline struct id_probe id_index_probe(const struct id_index *index, uint64_t hash)
{
	uint32_t folded = id_index_fold(hash);

	return (struct id_probe){.at = folded & index->mask, .hash = folded};
}

/* The next id stored under the probe's hash, ID_NONE when there are no more. */
static inline uint32_t id_probe_next(const struct id_index *index, struct id_probe *probe)
{
	if (!index->slots)
		return ID_NONE;
	for (;;) {
		struct id_slot slot = index->slots[probe->at];

		if (slot.id == ID_NONE)
			return ID_NONE;
		probe->at = (probe->at + 1) & index->mask;
		if (slot.hash == probe->hash)
			return slot.id;
	}
}

/*
 * Prefetches the slot of a hash that will be looked up soon. With a large index most of the time is
 * spent waiting for memory: prefetching all frames of a stack first means waiting once.
 */
static inline void id_index_prefetch(const struct id_index *index, uint64_t hash)
{
	if (index->slots)
		__builtin_prefetch(&index->slots[id_index_fold(hash) & index->mask]);
}

/*
 * A fast, well mixed hash of two words, different in each process. The product of both has 128
 * bits, so that changing any part of a word changes the upper half.
 */
static inline uint64_t hash_pair(uint64_t a, uint64_t b)
{
	__extension__ typedef unsigned __int128 wide;
	wide product = (wide)(a ^ hash_seed.first) * (b ^ hash_seed.second);

	product = (wide)((uint64_t)product ^ hash_seed.first) *
		  ((uint64_t)(product >> 64) ^ hash_seed.second);
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BLOCK_TRACE_ID_SET_H
#define WICK_BLOCK_TRACE_ID_SET_H

/*
 * id_set: a hash table of ids, 4 bytes each. The things that the ids stand for are elsewhere, and
 * so are their hashes: the table asks for them when it grows.
 *
 * To look something up, start at trace_id_set_first() and go on with trace_id_set_next() until the
 * id is 0.
 *
 * Threads: the owner has to lock.
 */

#include <stdbool.h>
#include <stdint.h>

struct trace_memory;

struct trace_id_set {
	uint32_t *slots; /* 0: free */
	uint32_t mask;   /* capacity - 1; meaningless while slots is NULL */
	uint32_t count;
};

struct trace_id_set_owner {
	const void *things;
	uint64_t (*hash)(const void *things, uint32_t id);
	/* Ids for which it returns false are left out of a larger table. */
	bool (*is_needed)(const void *things, uint32_t id);
};

/* Makes room for one more id. Returns 0 or -ENOMEM. */
int trace_id_set_reserve(struct trace_id_set *set, struct trace_memory *memory,
			 const struct trace_id_set_owner *owner);
/* There must be room. */
void trace_id_set_put(struct trace_id_set *set, uint64_t hash, uint32_t id);
/* Removes all ids and frees the memory. */
void trace_id_set_free(struct trace_id_set *set, struct trace_memory *memory);

static inline uint64_t trace_id_set_bytes(const struct trace_id_set *set)
{
	return set->slots ? ((uint64_t)set->mask + 1) * sizeof(*set->slots) : 0;
}

/* The set must have slots. */
static inline uint32_t trace_id_set_first(const struct trace_id_set *set, uint64_t hash)
{
	return (uint32_t)hash & set->mask;
}

static inline uint32_t trace_id_set_next(const struct trace_id_set *set, uint32_t slot)
{
	return (slot + 1) & set->mask;
}

#endif

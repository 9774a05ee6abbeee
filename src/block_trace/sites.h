/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BLOCK_TRACE_SITES_H
#define WICK_BLOCK_TRACE_SITES_H

/*
 * sites: the stacks at which blocks were allocated, with counters of the live blocks.
 *
 * A stack is a list of words, innermost first: return addresses of native code, then one word for
 * each frame of an interpreted language. The words are in a tree (tree.h). A site is a stack in
 * one thread, interpreter and domain. Ids stay valid until trace_sites_clear().
 *
 * Stacks with a frame that has ended keep their ids, but lookups no longer find them.
 *
 * Threads: the owner has to lock.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "block_trace/id_set.h"
#include "block_trace/memory.h"
#include "block_trace/tree.h"

#define TRACE_NONE UINT32_MAX

/*
 * What identifies a site besides its words. `counts`: the number of interpreted frames, of return
 * addresses, of all frames on the stack (including those not recorded) and the number of the
 * interpreter, 16 bits each. `owner`: the domain and the thread.
 */
struct trace_key {
	uint64_t counts;
	uint64_t owner;
};

static inline struct trace_key trace_key(uint32_t calls, uint32_t native, uint32_t depth,
					 uint32_t interpreter)
{
	return (struct trace_key){(uint64_t)interpreter << 48 | (uint64_t)(depth & 0xffff) << 32 |
					  (native & 0xffff) << 16 | (calls & 0xffff),
				  0};
}

static inline uint32_t trace_key_calls(const struct trace_key *key)
{
	return (uint32_t)key->counts & 0xffff;
}

static inline uint32_t trace_key_native(const struct trace_key *key)
{
	return (uint32_t)(key->counts >> 16) & 0xffff;
}

static inline uint32_t trace_key_depth(const struct trace_key *key)
{
	return (uint32_t)(key->counts >> 32) & 0xffff;
}

static inline uint32_t trace_key_interpreter(const struct trace_key *key)
{
	return (uint32_t)(key->counts >> 48);
}

static inline uint32_t trace_key_words(const struct trace_key *key)
{
	return trace_key_calls(key) + trace_key_native(key);
}

static inline uint64_t trace_owner(uint32_t domain, uint32_t thread)
{
	return (uint64_t)domain << 32 | thread;
}

/* A stack as it was walked. */
struct trace_walk {
	struct trace_key key;
	const uint64_t *words;
	uint64_t hash; /* trace_walk_hash() */
};

struct trace_stack {
	uint64_t counts; /* as in its key */
	uint32_t node;   /* the innermost one */
	uint32_t pad;
};

/* Two of them are as large as a cache line. */
struct trace_site {
	int64_t size; /* live bytes */
	int64_t count;
	uint64_t owner; /* as in its key */
	uint32_t node;  /* as in its stack */
	uint32_t stack;
};

_Static_assert(sizeof(struct trace_site) == 32, "half a line of the cache");

static inline uint32_t trace_site_domain(const struct trace_site *site)
{
	return (uint32_t)(site->owner >> 32);
}

static inline uint32_t trace_site_thread(const struct trace_site *site)
{
	return (uint32_t)site->owner;
}

struct trace_slot {
	uint32_t tag; /* high half of the hash */
	uint32_t id;  /* TRACE_NONE - id, so that zeroed memory is empty */
};

struct trace_index {
	struct trace_slot *slots;
	uint32_t mask; /* capacity - 1; meaningless while slots is NULL */
	uint32_t count;
};

struct trace_sites {
	struct trace_memory *memory;
	struct trace_tree tree;
	struct trace_array stacks; /* struct trace_stack */
	struct trace_array sites;  /* struct trace_site */
	uint32_t stack_count;
	uint32_t site_count;
	uint32_t stacks_max;         /* 0: no limit */
	struct trace_id_set by_node; /* ids of stacks + 1 */
	struct trace_index by_site;
};

void trace_sites_init(struct trace_sites *sites, struct trace_memory *memory);
void trace_sites_free(struct trace_sites *sites);
/* Keeps the first site and its stack, which must have no words, and frees everything else. */
void trace_sites_clear(struct trace_sites *sites);
/* Returns the bytes that stacks and sites use, with their hash tables. */
uint64_t trace_sites_bytes(const struct trace_sites *sites);

static inline struct trace_site *trace_site(const struct trace_sites *sites, uint32_t id)
{
	return (struct trace_site *)sites->sites.items + id;
}

static inline struct trace_stack *trace_stack(const struct trace_sites *sites, uint32_t id)
{
	return (struct trace_stack *)sites->stacks.items + id;
}

/*
 * The hash of a walk is a sum over its words, so that the multiplications run in parallel; a walker
 * may build the sum while it walks. `key` is TRACE_WORD_KEY times the position of the word, counted
 * from 1.
 */
#define TRACE_WORD_KEY 0x9e3779b97f4a7c16ull

static inline uint64_t trace_word_hash(uint64_t word, uint64_t key)
{
	return (word ^ word >> 23) * (key + 1);
}

/* The last step. `sum` is the sum of trace_word_hash() over all words. */
static inline uint64_t trace_walk_hash(const struct trace_key *key, uint64_t sum)
{
	sum += key->counts ^ key->owner * 0xd6e8feb86659fd93ull;
	sum ^= sum >> 32;
	sum *= 0xd6e8feb86659fd93ull;
	return sum ^ sum >> 32;
}

static inline bool trace_site_matches(const struct trace_sites *sites,
				      const struct trace_site *site, const struct trace_walk *walk)
{
	return site->owner == walk->key.owner &&
	       trace_stack(sites, site->stack)->counts == walk->key.counts &&
	       trace_tree_matches(&sites->tree, site->node, walk->words,
				  trace_key_words(&walk->key));
}

/* Returns the id of the walk's site or TRACE_NONE. */
static inline uint32_t trace_sites_find(const struct trace_sites *sites,
					const struct trace_walk *walk)
{
	const struct trace_index *index = &sites->by_site;
	uint32_t tag = (uint32_t)(walk->hash >> 32);

	if (__builtin_expect(!index->slots, 0))
		return TRACE_NONE;
	for (uint32_t i = (uint32_t)walk->hash & index->mask;; i = (i + 1) & index->mask) {
		struct trace_slot slot = index->slots[i];
		uint32_t id = TRACE_NONE - slot.id;

		if (__builtin_expect(slot.tag == tag && slot.id != 0, 1)) {
			if (trace_site_matches(sites, trace_site(sites, id), walk))
				return id;
		} else if (slot.id == 0) {
			return TRACE_NONE;
		}
	}
}

/*
 * Adds a site for a walk that has none. If the stack is new, adds it too and sets *ret_is_new; the
 * caller then has to fill in the new frames of the tree, which have the highest ids, or to end
 * them. Returns 0, -ENOMEM, or -ENOSPC if there are already stacks_max stacks.
 */
int trace_sites_add(struct trace_sites *sites, const struct trace_walk *walk, uint32_t *ret_site,
		    bool *ret_is_new);

#endif

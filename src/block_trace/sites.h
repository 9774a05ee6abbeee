/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BLOCK_TRACE_SITES_H
#define WICK_BLOCK_TRACE_SITES_H

/*
 * sites: the stacks at which blocks were allocated, each stored once, with counters of the live
 * blocks.
 *
 * A stack is a list of words, innermost first: one for each frame of an interpreted language, then
 * return addresses of native code. Only the caller knows what a word means. A site is a stack in
 * one thread, interpreter and domain. Ids stay valid until trace_sites_free().
 *
 * A word may lose its meaning, because its code object is freed and the address reused. The stacks
 * that contain it are then retired: they keep their ids, but lookups no longer find them.
 *
 * Threads: the owner has to lock.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "block_trace/memory.h"

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

static inline uint32_t trace_key_domain(const struct trace_key *key)
{
	return (uint32_t)(key->owner >> 32);
}

static inline uint32_t trace_key_thread(const struct trace_key *key)
{
	return (uint32_t)key->owner;
}

/* A stack as it was walked. */
struct trace_walk {
	struct trace_key key;
	const uint64_t *words;
	uint64_t hash; /* trace_walk_hash() */
};

struct trace_stack {
	uint64_t counts; /* as in its key */
	uint32_t first;  /* index of its first word */
	uint32_t site;   /* the newest site with this stack */
	bool is_retired;
};

/* As large as a cache line. */
struct trace_site {
	struct trace_key key; /* counts are 0 when it is retired; no walk has that */
	int64_t size;         /* live bytes */
	int64_t count;
	uint64_t counts; /* as in the key, also when it is retired */
	uint32_t first;  /* index of the first word, as in its stack */
	uint32_t stack;
	uint32_t next; /* the stack's next older site */
	uint32_t pad;
	uint64_t pad2;
};

_Static_assert(sizeof(struct trace_site) == 64, "one line of the cache");

/* For each word: its code object, and the next word of the same code object. */
struct trace_word_link {
	uint32_t code;
	uint32_t next;
	int32_t line; /* in the source file, once it has been looked up */
};

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
	struct trace_array words;  /* uint64_t */
	struct trace_array links;  /* struct trace_word_link, one for each word */
	struct trace_array stacks; /* struct trace_stack */
	struct trace_array sites;  /* struct trace_site */
	uint32_t word_count;
	uint32_t stack_count;
	uint32_t site_count;
	uint32_t stacks_max; /* 0: no limit */
	struct trace_index by_stack;
	struct trace_index by_site;
};

void trace_sites_init(struct trace_sites *sites, struct trace_memory *memory);
void trace_sites_free(struct trace_sites *sites);

static inline struct trace_site *trace_site(const struct trace_sites *sites, uint32_t id)
{
	return (struct trace_site *)sites->sites.items + id;
}

static inline struct trace_stack *trace_stack(const struct trace_sites *sites, uint32_t id)
{
	return (struct trace_stack *)sites->stacks.items + id;
}

static inline uint64_t *trace_words(const struct trace_sites *sites, uint32_t first)
{
	return (uint64_t *)sites->words.items + first;
}

static inline struct trace_word_link *trace_links(const struct trace_sites *sites, uint32_t first)
{
	return (struct trace_word_link *)sites->links.items + first;
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

static inline bool trace_words_equal(const uint64_t *a, const uint64_t *b, uint32_t count)
{
	uint64_t difference = 0;

	for (uint32_t i = 0; i < count; i++)
		difference |= a[i] ^ b[i];
	return difference == 0;
}

static inline bool trace_site_matches(const struct trace_sites *sites,
				      const struct trace_site *site, const struct trace_walk *walk)
{
	return site->key.counts == walk->key.counts && site->key.owner == walk->key.owner &&
	       trace_words_equal(trace_words(sites, site->first), walk->words,
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
 * caller may then fill in the links of its words. Returns 0, -ENOMEM, or -ENOSPC if there are
 * already stacks_max stacks.
 */
int trace_sites_add(struct trace_sites *sites, const struct trace_walk *walk, uint32_t *ret_site,
		    bool *ret_is_new);

/* Returns the stack that the word with this index belongs to. */
uint32_t trace_sites_stack_of(const struct trace_sites *sites, uint32_t word);

/* Lookups no longer find the stack and its sites; they keep their words and ids. */
void trace_sites_retire(struct trace_sites *sites, uint32_t stack);

#endif

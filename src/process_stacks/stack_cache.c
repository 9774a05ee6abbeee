/* SPDX-License-Identifier: BSD-2-Clause */
#include "process_stacks/stack_cache.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/id_index.h"
#include "base/vec.h"

/* 8 MB of addresses are about 30,000 stacks of clang; then it starts over. */
#define MAX_WORDS (1u << 20)

struct entry {
	uint64_t context;
	uint32_t first; /* in words */
	uint32_t count;
	uint32_t id;
};

struct stack_cache {
	struct id_index index;
	VEC(struct entry) entries;
	VEC(uint64_t) words;
	uint64_t last_hash; /* of the last lookup */
	uint64_t added;
	bool cleared; /* added stacks may have been added before */
};

struct stack_cache *stack_cache_new(void)
{
	return calloc(1, sizeof(struct stack_cache));
}

void stack_cache_free(struct stack_cache *cache)
{
	if (!cache)
		return;
	id_index_fini(&cache->index);
	vec_fini(&cache->entries);
	vec_fini(&cache->words);
	free(cache);
}

void stack_cache_clear(struct stack_cache *cache)
{
	id_index_clear(&cache->index);
	cache->entries.count = 0;
	cache->words.count = 0;
	cache->cleared = true;
}

uint32_t stack_cache_find(struct stack_cache *cache, uint64_t context, const uint64_t *addresses,
			  size_t n)
{
	uint64_t hash = XXH3_64bits_withSeed(addresses, n * sizeof(*addresses), context);
	struct id_probe probe = id_index_probe(&cache->index, hash);
	uint32_t i;

	cache->last_hash = hash;
	while ((i = id_probe_next(&cache->index, &probe)) != ID_NONE) {
		const struct entry *entry = &cache->entries.items[i];

		if (entry->context == context && entry->count == n &&
		    (n == 0 || memcmp(cache->words.items + entry->first, addresses,
				      n * sizeof(*addresses)) == 0))
			return entry->id;
	}
	return ID_NONE;
}

void stack_cache_add(struct stack_cache *cache, uint64_t context, const uint64_t *addresses,
		     size_t n, uint32_t id)
{
	struct entry entry = {.context = context, .count = (uint32_t)n, .id = id};

	cache->added++;
	if (cache->words.count + n > MAX_WORDS)
		stack_cache_clear(cache);
	if (vec_reserve(&cache->words, cache->words.count + n) < 0 ||
	    vec_reserve(&cache->entries, cache->entries.count + 1) < 0)
		return;
	if (id_index_add(&cache->index, cache->last_hash, (uint32_t)cache->entries.count) < 0)
		return;
	entry.first = (uint32_t)cache->words.count;
	if (n > 0)
		memcpy(cache->words.items + cache->words.count, addresses, n * sizeof(*addresses));
	cache->words.count += n;
	cache->entries.items[cache->entries.count++] = entry;
}

uint64_t stack_cache_added(const struct stack_cache *cache)
{
	return cache->cleared ? 0 : cache->added;
}

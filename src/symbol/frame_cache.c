/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/frame_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/id_index.h"
#include "symbol/symboliser.h"

#define NONE UINT32_MAX

struct entry {
	uint64_t address;
	uint32_t module_id;
	uint32_t next_in_bucket;
	uint32_t older, newer; /* links in order of use */
	uint32_t count;
	int tag;
	struct symbol_frame *frames;
};

struct frame_cache {
	uint32_t capacity;
	uint32_t used;
	uint32_t mask;
	uint32_t oldest, newest;
	uint32_t *buckets;
	struct entry *entries;
};

struct frame_cache *frame_cache_new(uint32_t capacity)
{
	struct frame_cache *cache = calloc(1, sizeof(*cache));
	uint32_t buckets = 1;

	if (!cache)
		return NULL;
	while (buckets < capacity)
		buckets *= 2;
	cache->capacity = capacity;
	cache->mask = buckets - 1;
	cache->buckets = malloc(buckets * sizeof(*cache->buckets));
	cache->entries = calloc(capacity, sizeof(*cache->entries));
	if (!cache->buckets || !cache->entries) {
		frame_cache_free(cache);
		return NULL;
	}
	frame_cache_clear(cache);
	return cache;
}

void frame_cache_clear(struct frame_cache *cache)
{
	for (uint32_t i = 0; i < cache->used; i++)
		free(cache->entries[i].frames);
	cache->used = 0;
	cache->oldest = cache->newest = NONE;
	memset(cache->buckets, 0xff, ((size_t)cache->mask + 1) * sizeof(*cache->buckets));
}

void frame_cache_free(struct frame_cache *cache)
{
	if (!cache)
		return;
	if (cache->entries)
		for (uint32_t i = 0; i < cache->used; i++)
			free(cache->entries[i].frames);
	free(cache->buckets);
	free(cache->entries);
	free(cache);
}

static uint32_t *bucket_of(struct frame_cache *cache, uint32_t module_id, uint64_t address)
{
	return &cache->buckets[hash_pair(module_id, address) & cache->mask];
}

/* Removes an entry from the order of use. */
static void leave_order(struct frame_cache *cache, uint32_t i)
{
	const struct entry *entry = &cache->entries[i];

	if (entry->older == NONE)
		cache->oldest = entry->newer;
	else
		cache->entries[entry->older].newer = entry->newer;
	if (entry->newer == NONE)
		cache->newest = entry->older;
	else
		cache->entries[entry->newer].older = entry->older;
}

static void join_order(struct frame_cache *cache, uint32_t i)
{
	struct entry *entry = &cache->entries[i];

	entry->older = cache->newest;
	entry->newer = NONE;
	if (cache->newest == NONE)
		cache->oldest = i;
	else
		cache->entries[cache->newest].newer = i;
	cache->newest = i;
}

const struct symbol_frame *frame_cache_find(struct frame_cache *cache, uint32_t module_id,
					    uint64_t address, size_t *ret_count, int *ret_tag)
{
	uint32_t i = *bucket_of(cache, module_id, address);

	while (i != NONE &&
	       (cache->entries[i].address != address || cache->entries[i].module_id != module_id))
		i = cache->entries[i].next_in_bucket;
	if (i == NONE)
		return NULL;
	if (i != cache->newest) {
		leave_order(cache, i);
		join_order(cache, i);
	}
	*ret_count = cache->entries[i].count;
	*ret_tag = cache->entries[i].tag;
	return cache->entries[i].frames;
}

/* Empties the least recently used entry. */
static uint32_t evict(struct frame_cache *cache)
{
	uint32_t victim = cache->oldest;
	struct entry *entry = &cache->entries[victim];
	uint32_t *link = bucket_of(cache, entry->module_id, entry->address);

	while (*link != victim)
		link = &cache->entries[*link].next_in_bucket;
	*link = entry->next_in_bucket;
	leave_order(cache, victim);
	free(entry->frames);
	entry->frames = NULL;
	return victim;
}

const struct symbol_frame *frame_cache_add(struct frame_cache *cache, uint32_t module_id,
					   uint64_t address, const struct symbol_frame *frames,
					   size_t count, int tag)
{
	struct symbol_frame *copy = malloc(count * sizeof(*copy));
	uint32_t *bucket;
	uint32_t i;

	if (!copy)
		return NULL;
	memcpy(copy, frames, count * sizeof(*copy));
	i = cache->used < cache->capacity ? cache->used++ : evict(cache);
	bucket = bucket_of(cache, module_id, address);
	cache->entries[i] = (struct entry){.address = address,
					   .module_id = module_id,
					   .next_in_bucket = *bucket,
					   .count = (uint32_t)count,
					   .tag = tag,
					   .frames = copy};
	*bucket = i;
	join_order(cache, i);
	return copy;
}

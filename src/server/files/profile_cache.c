/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/files/profile_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/profile.h"

/* About how much memory a profile takes. */
static size_t bytes_of(const struct profile *profile)
{
	size_t bytes = sizeof(*profile);
	size_t i;

	bytes += profile->functions.capacity * sizeof(*profile->functions.items);
	bytes += profile->lines.capacity * sizeof(*profile->lines.items);
	bytes += profile->locations.capacity * sizeof(*profile->locations.items);
	bytes += profile->entries.capacity * sizeof(*profile->entries.items);
	bytes += profile->values.capacity * sizeof(*profile->values.items);
	bytes += profile->moments.capacity * sizeof(*profile->moments.items);
	bytes += profile->time.blocks.capacity * sizeof(*profile->time.blocks.items);
	bytes += profile->stacks.nodes.capacity * sizeof(*profile->stacks.nodes.items);
	/* Names and their index; then the indexes of the others, with 8 bytes for an item. */
	for (i = 0; i < profile->strings.entries.count; i++)
		bytes += profile->strings.entries.items[i].size + 32;
	bytes += 8 * (profile->functions.capacity + profile->locations.capacity +
		      profile->entries.capacity + 2 * profile->stacks.nodes.capacity);
	return bytes;
}

static void remove_item(struct profile_cache *cache, size_t i)
{
	struct cached_profile *item = &cache->items.items[i];

	cache->bytes -= item->bytes;
	profile_free(item->profile);
	free(item->key);
	*item = cache->items.items[--cache->items.count];
}

void profile_cache_fini(struct profile_cache *cache)
{
	while (cache->items.count > 0)
		remove_item(cache, 0);
	vec_fini(&cache->items);
}

static size_t oldest_unused(const struct profile_cache *cache)
{
	size_t oldest = cache->items.count;
	size_t i;

	for (i = 0; i < cache->items.count; i++)
		if (!cache->items.items[i].is_taken &&
		    (oldest == cache->items.count ||
		     cache->items.items[i].used < cache->items.items[oldest].used))
			oldest = i;
	return oldest;
}

static void shrink(struct profile_cache *cache)
{
	while (cache->bytes > cache->max_bytes) {
		size_t oldest = oldest_unused(cache);

		if (oldest == cache->items.count)
			return; /* all are in use */
		remove_item(cache, oldest);
	}
}

struct profile *profile_cache_take(struct profile_cache *cache, const char *key)
{
	size_t i;

	for (i = 0; i < cache->items.count; i++) {
		struct cached_profile *item = &cache->items.items[i];

		if (item->is_taken || strcmp(item->key, key) != 0)
			continue;
		item->is_taken = true;
		item->used = ++cache->clock;
		return item->profile;
	}
	return NULL;
}

int profile_cache_add(struct profile_cache *cache, const char *key, struct profile *profile)
{
	struct cached_profile item = {
		.key = strdup(key),
		.profile = profile,
		.bytes = bytes_of(profile),
		.entries = profile->entries.count,
		.used = ++cache->clock,
		.is_taken = true,
	};

	if (!item.key || vec_push(&cache->items, item) < 0) {
		free(item.key);
		return -ENOMEM;
	}
	cache->bytes += item.bytes;
	shrink(cache);
	return 0;
}

void profile_cache_give_back(struct profile_cache *cache, struct profile *profile)
{
	size_t i;

	for (i = 0; i < cache->items.count; i++) {
		struct cached_profile *item = &cache->items.items[i];

		if (item->profile != profile)
			continue;
		item->is_taken = false;
		if (profile->entries.count != item->entries)
			remove_item(cache, i);
		break;
	}
	shrink(cache);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_FILES_PROFILE_CACHE_H
#define WICK_SERVER_FILES_PROFILE_CACHE_H

/*
 * profile_cache: profiles that were loaded, by a text that says what was loaded.
 *
 * A profile belongs to one request at a time: it is taken out and given back. Those that nobody
 * uses are freed, the oldest first, while all together take more memory than the limit.
 *
 * One thread at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct profile;

struct cached_profile {
	char *key;
	struct profile *profile;
	size_t bytes;
	size_t entries; /* of the profile: fewer if a request removed some */
	uint64_t used;  /* larger: later */
	bool is_taken;
};

struct profile_cache {
	size_t max_bytes;
	size_t bytes;
	uint64_t clock;
	VEC(struct cached_profile) items;
};

void profile_cache_fini(struct profile_cache *cache);

/* NULL: there is none, or somebody else has it. */
struct profile *profile_cache_take(struct profile_cache *cache, const char *key);

/* Adds a profile that the caller has and will give back. Returns 0 or -ENOMEM. */
int profile_cache_add(struct profile_cache *cache, const char *key, struct profile *profile);

/* One that has lost entries is freed. */
void profile_cache_give_back(struct profile_cache *cache, struct profile *profile);

#endif

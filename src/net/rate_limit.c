/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/rate_limit.h"

#include <string.h>

#include <xxhash.h>

#include "base/clock.h"
#include "base/hash_seed.h"

void rate_limit_init(struct rate_limit *limit, double per_second, double burst)
{
	memset(limit, 0, sizeof(*limit));
	limit->per_second = per_second;
	limit->burst = burst < 1 ? 1 : burst;
	(void)pthread_mutex_init(&limit->lock, NULL); /* never fails on Linux */
}

void rate_limit_fini(struct rate_limit *limit)
{
	(void)pthread_mutex_destroy(&limit->lock); /* nobody holds it */
}

uint32_t rate_limit_take(struct rate_limit *limit, const char *client, uint64_t now_ns)
{
	uint64_t hash = XXH3_64bits_withSeed(client, strlen(client), hash_seed.first);
	size_t at = hash % RATE_LIMIT_BUCKETS;
	double level;
	uint32_t wait_s = 0;

	if (limit->per_second <= 0)
		return 0;
	(void)pthread_mutex_lock(&limit->lock);
	level = limit->buckets[at].level;
	if (now_ns > limit->buckets[at].time_ns)
		level -= (double)(now_ns - limit->buckets[at].time_ns) * limit->per_second /
			 (double)NS_PER_SEC;
	level = level < 0 ? 0 : level;
	if (level + 1 > limit->burst)
		wait_s = 1 + (uint32_t)((level + 1 - limit->burst) / limit->per_second);
	else
		level += 1;
	limit->buckets[at].level = level;
	limit->buckets[at].time_ns = now_ns;
	(void)pthread_mutex_unlock(&limit->lock);
	return wait_s;
}

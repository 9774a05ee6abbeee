/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/sites.h"

#include <math.h>
#include <stdlib.h>

void heap_sites_fini(struct heap_sites *sites)
{
	vec_fini(&sites->shares);
	vec_fini(&sites->sites);
	vec_fini(&sites->lifetimes);
	id_index_fini(&sites->share_index);
	id_index_fini(&sites->site_index);
}

static uint32_t site_of(struct heap_sites *sites, uint32_t stack, uint64_t time_ns)
{
	uint64_t hash = hash_pair(stack, 0);
	struct id_probe probe = id_index_probe(&sites->site_index, hash);
	struct heap_site site = {
		.stack = stack, .mark = UINT32_MAX, .first_ns = time_ns, .size_min = UINT64_MAX};
	uint32_t id;

	while ((id = id_probe_next(&sites->site_index, &probe)) != ID_NONE)
		if (sites->sites.items[id].stack == stack)
			return id;
	id = (uint32_t)sites->sites.count;
	if (vec_push(&sites->lifetimes, (struct heap_lifetimes){{0}}) < 0 ||
	    vec_push(&sites->sites, site) < 0 || id_index_add(&sites->site_index, hash, id) < 0)
		return ID_NONE;
	return id;
}

uint32_t heap_sites_share(struct heap_sites *sites, uint32_t stack, uint32_t thread,
			  uint64_t time_ns)
{
	uint64_t hash = heap_share_hash(stack, thread);
	struct id_probe probe = id_index_probe(&sites->share_index, hash);
	struct heap_share share = {.thread = thread};
	uint32_t id;

	while ((id = id_probe_next(&sites->share_index, &probe)) != ID_NONE)
		if (heap_share_is(sites, id, stack, thread))
			return id;
	share.site = site_of(sites, stack, time_ns);
	id = (uint32_t)sites->shares.count;
	if (share.site == ID_NONE || vec_push(&sites->shares, share) < 0 ||
	    id_index_add(&sites->share_index, hash, id) < 0)
		return ID_NONE;
	return id;
}

static void add(struct heap_sum *sum, struct heap_sum more)
{
	sum->bytes += more.bytes;
	sum->blocks += more.blocks;
}

struct heap_site_sums *heap_sites_sums(const struct heap_sites *sites, uint64_t peak)
{
	struct heap_site_sums *sums = calloc(sites->sites.count + 1, sizeof(*sums));

	for (size_t i = 0; sums && i < sites->shares.count; i++) {
		const struct heap_share *share = &sites->shares.items[i];
		struct heap_site_sums *sum = &sums[share->site];

		add(&sum->allocated, share->allocated);
		add(&sum->live, share->level.live);
		add(&sum->peak, heap_level_at_peak(&share->level, peak));
		sum->temporary_blocks += share->temporary_blocks;
	}
	return sums;
}

uint64_t heap_lifetime_low_ns(uint32_t bucket)
{
	return bucket == 0 ? 0 : UINT64_C(64) << bucket;
}

uint64_t heap_lifetimes_quantile_ns(const struct heap_lifetimes *lifetimes, double share)
{
	double all = 0;
	double before = 0;

	for (uint32_t i = 0; i < HEAP_LIFETIMES; i++)
		all += lifetimes->blocks[i];
	for (uint32_t i = 0; i < HEAP_LIFETIMES; i++) {
		double blocks = lifetimes->blocks[i];

		if (blocks > 0 && before + blocks >= all * share) {
			/* Within a bucket, lifetimes are assumed to be evenly distributed. */
			double part = (all * share - before) / blocks;

			return (uint64_t)(i == 0 ? 128 * part : ldexp(exp2(part), (int)i + 6));
		}
		before += blocks;
	}
	return 0;
}

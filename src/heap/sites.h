/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_SITES_H
#define WICK_HEAP_SITES_H

/*
 * sites: what each stack that allocates has allocated, holds and held.
 *
 * A site is a stack. A share is what one thread did at a site: these become the entries of a
 * profile. Sums that a profile needs are kept by share, the rest by site. Times are since the
 * analysis began.
 *
 * A temporary block is one that the thread which allocated it frees before it allocates again.
 * (Others ask that the free be the very next event of all threads, which says more about the
 * other threads.) A block that realloc moves is not temporary.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id_index.h"
#include "base/vec.h"
#include "heap/timeline/level.h"
#include "heap/weight.h"

/*
 * Lifetimes: [0] is less than 128 ns, [i] from 2^(6+i) ns on, the last what is longer (19 hours).
 */
#define HEAP_LIFETIMES 41u

struct heap_share {
	uint32_t site;
	uint32_t thread;
	struct heap_sum allocated;
	struct heap_level level;
	double temporary_blocks;
};

struct heap_site {
	uint32_t stack; /* of the recording */
	uint32_t mark;  /* the step in which it changed last, see heap_history */
	/* What most events change stands together. */
	double live_bytes;
	double most_bytes;  /* the largest that live_bytes ever was, and when first */
	double lifetime_ns; /* sum of freed blocks */
	uint64_t last_ns;   /* of its allocations */
	uint64_t size_min;
	uint64_t size_max;
	double slack_bytes; /* of all allocations: what blocks have beyond their sizes */
	uint64_t most_ns;
	uint64_t first_ns;
	double told_bytes;     /* live at the end of the step when it was told of */
	double reallocs;       /* allocations by realloc, with or without a block before it */
	double freed_blocks;   /* once all is over; those that moved count as well */
	double foreign_blocks; /* of these: freed by another thread */
	double moved_blocks;   /* of these: realloc took them */
};

struct heap_lifetimes {
	double blocks[HEAP_LIFETIMES];
};

/* All zero is an empty one. */
struct heap_sites {
	VEC(struct heap_share) shares;
	VEC(struct heap_site) sites;
	VEC(struct heap_lifetimes) lifetimes; /* by site */
	struct id_index share_index;
	struct id_index site_index;
};

void heap_sites_fini(struct heap_sites *sites);

/* Where shares are looked for. */
static inline uint64_t heap_share_hash(uint32_t stack, uint32_t thread)
{
	return hash_pair(stack, thread);
}

/* Whether a share is that of a thread in a stack. */
static inline bool heap_share_is(const struct heap_sites *sites, uint32_t share, uint32_t stack,
				 uint32_t thread)
{
	const struct heap_share *known = &sites->shares.items[share];

	return known->thread == thread && sites->sites.items[known->site].stack == stack;
}

/* The share of a thread in a stack, made when missing; ID_NONE without memory. */
uint32_t heap_sites_share(struct heap_sites *sites, uint32_t stack, uint32_t thread,
			  uint64_t time_ns);

/* What all shares of each site come to. */
struct heap_site_sums {
	struct heap_sum allocated;
	struct heap_sum live;
	struct heap_sum peak;
	double temporary_blocks;
};

/* By site; peak is the number of the last peak. The caller frees it; NULL without memory. */
struct heap_site_sums *heap_sites_sums(const struct heap_sites *sites, uint64_t peak);

static inline uint32_t heap_lifetime_bucket(uint64_t ns)
{
	uint32_t log = 63u - (uint32_t)__builtin_clzll(ns | 64);

	return log - 6 < HEAP_LIFETIMES - 1 ? log - 6 : HEAP_LIFETIMES - 1;
}

/* Where a bucket begins. */
uint64_t heap_lifetime_low_ns(uint32_t bucket);

/* The time that this share of blocks (0.5: the median) was freed within; 0 without blocks. */
uint64_t heap_lifetimes_quantile_ns(const struct heap_lifetimes *lifetimes, double share);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_SITES_H
#define WICK_HEAP_SITES_H

/*
 * sites: what each allocating stack has allocated, holds and held.
 *
 * A site is a stack. A share is the part of one thread in a site: shares become the entries of a
 * profile. Sums that a profile needs are kept by share, the rest by site. Times are since the start
 * of the analysis.
 *
 * A block is temporary if the thread that allocated it frees it before it allocates again. (Other
 * tools require that the free be the next event of all threads, which says more about the other
 * threads.) A block that realloc moves is not temporary.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id_index.h"
#include "base/vec.h"
#include "heap/sample_weight.h"
#include "heap/timeline/level.h"

/*
 * Lifetimes: [0] is below 128 ns, [i] starts at 2^(6+i) ns, the last has everything longer (19
 * hours).
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
	uint32_t mark;  /* the last step in which it changed, see heap_history */
	/* Fields that most events change are adjacent. */
	double live_bytes;
	double most_bytes;  /* highest value of live_bytes, and when it was first reached */
	double lifetime_ns; /* sum over freed blocks */
	uint64_t last_ns;   /* of its last allocation */
	uint64_t size_min;
	uint64_t size_max;
	double slack_bytes; /* over all allocations: bytes beyond the requested sizes */
	uint64_t most_ns;
	uint64_t first_ns;
	double told_bytes;     /* live at the end of the step that was recorded last */
	double reallocs;       /* allocations by realloc, with or without an old block */
	double freed_blocks;   /* set at the end; includes moved blocks */
	double foreign_blocks; /* part of freed_blocks: freed by another thread */
	double moved_blocks;   /* part of freed_blocks: moved by realloc */
};

struct heap_lifetimes {
	double blocks[HEAP_LIFETIMES];
};

/* All zero is empty. */
struct heap_sites {
	VEC(struct heap_share) shares;
	VEC(struct heap_site) sites;
	VEC(struct heap_lifetimes) lifetimes; /* by site */
	struct id_index share_index;
	struct id_index site_index;
};

void heap_sites_fini(struct heap_sites *sites);

/* Key of a share in share_index. */
static inline uint64_t heap_share_hash(uint32_t stack, uint32_t thread)
{
	return hash_pair(stack, thread);
}

/* Whether a share belongs to this thread and stack. */
static inline bool heap_share_is(const struct heap_sites *sites, uint32_t share, uint32_t stack,
				 uint32_t thread)
{
	const struct heap_share *known = &sites->shares.items[share];

	return known->thread == thread && sites->sites.items[known->site].stack == stack;
}

/* The share of a thread in a stack, created if missing; ID_NONE: out of memory. */
uint32_t heap_sites_share(struct heap_sites *sites, uint32_t stack, uint32_t thread,
			  uint64_t time_ns);

/* The sums over all shares of a site. */
struct heap_site_sums {
	struct heap_sum allocated;
	struct heap_sum live;
	struct heap_sum peak;
	double temporary_blocks;
};

/* By site; peak is the number of the last peak. The caller frees it; NULL: out of memory. */
struct heap_site_sums *heap_sites_sums(const struct heap_sites *sites, uint64_t peak);

static inline uint32_t heap_lifetime_bucket(uint64_t ns)
{
	uint32_t log = 63u - (uint32_t)__builtin_clzll(ns | 64);

	return log - 6 < HEAP_LIFETIMES - 1 ? log - 6 : HEAP_LIFETIMES - 1;
}

/* The lower limit of a bucket. */
uint64_t heap_lifetime_low_ns(uint32_t bucket);

/* The time within which this share of blocks (0.5: the median) was freed; 0 without blocks. */
uint64_t heap_lifetimes_quantile_ns(const struct heap_lifetimes *lifetimes, double share);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LIVE_LIVE_PROFILE_H
#define WICK_LIVE_LIVE_PROFILE_H

/*
 * live_profile: a profile of the last seconds, or of all since the start, while an engine
 * still samples.
 *
 * It is a sink. Samples are added up by stack and thread in slices of one second, of which
 * the last minute is kept, and in one sum of all. Those that cover some time, as a wait does,
 * are in each slice with their part of it. Each stack gets its names once; a refresh
 * then puts other entries into the profile, and costs what is in the window.
 *
 * Memory is bounded: when there are too many stacks, those that are in no slice and weigh
 * least go. Their time is not lost: live_profile_forgotten() tells it.
 *
 * One thread at a time. Knows no engine and no screen.
 */

#include <stddef.h>
#include <stdint.h>

#include "load/samples/sample_cover.h"

struct error;
struct live_profile;
struct load_options;
struct profile;
struct sink;

#define LIVE_WINDOW_MAX_S 60u

struct live_profile_config {
	const struct load_options *options; /* how names are found; borrowed */
	const char *title;                  /* copied */
	const char *kallsyms; /* names of the kernel's functions; NULL: they have none; borrowed */
	uint64_t start_ns;    /* CLOCK_MONOTONIC */
	size_t max_nodes;     /* of the tree of stacks, before some go; 0: the usual */
};

/* What is kept no more of the sum of all. */
struct live_forgotten {
	uint64_t samples;
	uint64_t weight;
};

/* The caller releases *ret with live_profile_free(). */
int live_profile_new(const struct live_profile_config *config, struct live_profile **ret,
		     struct error *err);
void live_profile_free(struct live_profile *live); /* NULL is fine */

/* Valid until live_profile_free(). */
struct sink *live_profile_sink(struct live_profile *live);

/* Where samples cover what they weigh, to be told before the first comes; none do until then. */
void live_profile_set_cover(struct live_profile *live, enum sample_cover_side side);

/*
 * Makes the profile that of the last window_s seconds before now (LIVE_WINDOW_MAX_S at most),
 * or of all since the start when it is 0. *ret stays valid and as it is until the next
 * refresh, whatever comes into the sink meanwhile. 0 or -ENOMEM.
 */
int live_profile_refresh(struct live_profile *live, uint64_t now_ns, uint32_t window_s,
			 const struct profile **ret);

/* Begins anew: the sum of all, and the window. */
void live_profile_restart(struct live_profile *live, uint64_t now_ns);

struct live_forgotten live_profile_forgotten(const struct live_profile *live);

#endif

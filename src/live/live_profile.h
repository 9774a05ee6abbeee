/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LIVE_LIVE_PROFILE_H
#define WICK_LIVE_LIVE_PROFILE_H

/*
 * live_profile: a profile of the last few seconds, or since the start, while an engine is still
 * sampling.
 *
 * It is a sink. Samples are summed by stack and thread, in slices of one second, of which the last
 * minute is kept, and in a grand total. A sample that covers a time range, such as a wait, is
 * divided among the slices. Each stack is symbolised once; a refresh then only replaces the entries
 * of the profile, at a cost that depends on the window.
 *
 * Memory is bounded: when there are too many stacks, those in no slice with the smallest weights
 * are dropped. Their time is not lost: live_profile_forgotten() reports it.
 *
 * One thread at a time. Independent of engines and of the screen.
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
	const char *kallsyms; /* kernel symbols; NULL: kernel functions have no names; borrowed */
	uint64_t start_ns;    /* CLOCK_MONOTONIC */
	size_t max_nodes; /* size limit of the stack tree, above which stacks are dropped; 0: the
			     default */
};

/* What was dropped from the grand total. */
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

/*
 * On which side of its time a sample covers. Call it before the first sample; by default samples
 * cover nothing.
 */
void live_profile_set_cover(struct live_profile *live, enum sample_cover_side side);

/*
 * Updates the profile to the last window_s seconds before now (at most LIVE_WINDOW_MAX_S), or to
 * everything since the start if window_s is 0. *ret stays valid and unchanged until the next
 * refresh, even while samples arrive. Returns 0 or -ENOMEM.
 */
int live_profile_refresh(struct live_profile *live, uint64_t now_ns, uint32_t window_s,
			 const struct profile **ret);

/* Restarts the total and the window. */
void live_profile_restart(struct live_profile *live, uint64_t now_ns);

struct live_forgotten live_profile_forgotten(const struct live_profile *live);

#endif

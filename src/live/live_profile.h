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
 * With by_process it keeps no total, and slices of any length stay until the caller drops them: see
 * live_profile_visit(). live_profile_refresh() cannot be used then.
 *
 * One thread at a time. Independent of engines and of the screen.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "load/samples/sample_cover.h"

struct dictionary;
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
	uint64_t slice_ns;    /* with by_process: the length of a slice, from start_ns on */
	bool by_process;      /* sum by process and not by thread, in slices only */
	/*
	 * With by_process: called when a process is first sampled; optional. Returns whether its
	 * stacks are kept; otherwise its samples count as those of the empty stack.
	 */
	bool (*meet)(void *self, const struct dictionary *dictionary, uint32_t process);
	uint32_t depth; /* innermost frames that are kept of a stack; 0: all */
	void *self;
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
 * Whether a sample covers the time before or after its own. Call it before the first sample; by
 * default samples cover nothing.
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

/* The functions below are for by_process. Ids are those of the dictionary. */

struct live_row {
	uint32_t stack;
	uint32_t process;
	uint64_t samples;
	uint64_t weight;
};

/* A result that is not 0 ends the visit with it. */
typedef int live_row_fn(void *self, const struct live_row *row);

const struct dictionary *live_profile_dictionary(const struct live_profile *live);

/*
 * Finds names for stacks, for about limit_ns: so the work is spread over time, and done while files
 * of short-lived processes still exist. Returns 1 when all stacks have names, 0 when some are left,
 * or -ENOMEM.
 */
int live_profile_name(struct live_profile *live, uint64_t now_ns, uint64_t limit_ns);

/* Whether names are needed soon: what other processes prepare at idle priority gets a CPU. */
void live_profile_hurry(struct live_profile *live, bool hurried);
/* CPU time of the processes that have prepared them. */
uint64_t live_profile_builders_ns(const struct live_profile *live);

/*
 * A stack of the dictionary with names, as a stack of *ret. Call live_profile_name() first. Valid
 * until the next sample. Returns 0, -ENOMEM, or -EAGAIN if names are still being prepared at the
 * deadline (CLOCK_MONOTONIC; 0: it does not wait).
 */
int live_profile_stack(struct live_profile *live, uint32_t stack, uint64_t deadline_ns,
		       const struct profile **ret, uint32_t *ret_stack);

/*
 * Frees the symbol tables; names that were found stay. The tables are read again when needed.
 * Returns 0 or a negative errno; after a failure there are no more names.
 */
int live_profile_tidy(struct live_profile *live, struct error *err);

/* Visits the sums of the slice that contains time_ns. */
int live_profile_visit(struct live_profile *live, uint64_t time_ns, live_row_fn *visit, void *self);

/* The number of samples lost in that slice. */
uint64_t live_profile_lost(const struct live_profile *live, uint64_t time_ns);

/* Drops the slices before this time, which begins one. Samples that are late count after it. */
void live_profile_drop(struct live_profile *live, uint64_t before_ns);

/*
 * From begin_ns on, where a slice begins, slices have another length. All samples since then must
 * be in that slice, and those before have been dropped.
 */
void live_profile_set_slice(struct live_profile *live, uint64_t begin_ns, uint64_t slice_ns);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROCESS_STACKS_CHAIN_H
#define WICK_PROCESS_STACKS_CHAIN_H

/*
 * chain: from the chain of a sample to frames.
 *
 * A chain is what the kernel's own walk gave, the leaf first, with marks that say
 * which kind of addresses follow. Where a sample carries a copy of its user stack,
 * the user part of the chain is replaced by what our walk of the copy finds.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "model/entity.h"

struct process_tracker;
struct sample_record;
struct tracked_process;

#define MAX_CHAIN 2048u

/* A mark in a chain that the kernel never writes: the walk ended before the root. */
#define PERF_MARK_CUT ((uint64_t)PERF_CONTEXT_MAX)

/* Entries of a chain above this are marks: which kind of addresses follow. */
static inline bool perf_is_mark(uint64_t entry)
{
	return entry >= (uint64_t)PERF_CONTEXT_MAX;
}

uint64_t chain_count_addresses(const struct sample_record *sample);

/* Whether a walk of ours ended before the root. */
bool chain_is_cut(const struct sample_record *sample);

/* How to walk the copied stacks of samples, and room for the chain of one. */
struct chain_walk {
	struct process_tracker *tracker;
	uint64_t register_mask; /* what the samples' registers are */
	uint32_t depth;         /* frames kept of a user stack */
	uint32_t chain_depth;   /* that the kernel's own walk stops at */
	uint64_t chain[MAX_CHAIN];
};

/*
 * Replaces the chain of a sample by the kernel's part of it and what a walk of the
 * copied stack gives; it then points into walk->chain. Returns how the walk ended
 * (UNWIND_ROOT …), 0 when there is no user part, or -ENOTSUP for a 32-bit program,
 * whose chain stays as it is.
 */
int chain_walk_copy(struct chain_walk *walk, const struct tracked_process *process,
		    struct sample_record *sample);

/* What makes frames of a chain. */
struct chain_frames {
	struct process_tracker *tracker;
	bool partial; /* not all mappings are told: see process_tracker_refresh() */
	struct frame frames[MAX_CHAIN + 1];
};

/*
 * The frames of a sample, the root first, with FRAME_TRUNCATED before it where the
 * stack is cut. They stand in frames until the next call.
 */
const struct frame *chain_frames(struct chain_frames *frames, struct tracked_process *process,
				 const struct sample_record *sample, bool truncated,
				 size_t *ret_count);

#endif

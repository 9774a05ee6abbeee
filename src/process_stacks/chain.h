/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROCESS_STACKS_CHAIN_H
#define WICK_PROCESS_STACKS_CHAIN_H

/*
 * chain: from the chain of a sample to frames.
 *
 * A chain is the result of the kernel's own walk, the leaf first, with marks that say what kind of
 * addresses follow. If a sample has a copy of its user stack, the user part of the chain is
 * replaced by the result of our walk of the copy.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "model/entity.h"

struct interpreter;
struct interpreters;
struct process_tracker;
struct sample_record;
struct sink;
struct tracked_process;

#define MAX_CHAIN 2048u

/* A mark in a chain that the kernel never writes: the walk ended before the root. */
#define PERF_MARK_CUT ((uint64_t)PERF_CONTEXT_MAX)

/* Entries of a chain above this are marks: they say what kind of addresses follow. */
static inline bool perf_is_mark(uint64_t entry)
{
	return entry >= (uint64_t)PERF_CONTEXT_MAX;
}

uint64_t chain_count_addresses(const struct sample_record *sample);

/* Whether our own walk ended before the root. */
bool chain_is_cut(const struct sample_record *sample);

/* How to walk the copied stacks of samples, and room for the chain of one. */
struct chain_walk {
	struct process_tracker *tracker;
	uint64_t register_mask; /* which registers the samples have */
	uint32_t depth;         /* maximum number of user frames */
	uint32_t chain_depth;   /* at which the kernel's own walk stops */
	uint64_t chain[MAX_CHAIN];
};

/*
 * Replaces the chain of a sample by the kernel's part of it and the result of walking the copied
 * stack; it then points into walk->chain. Returns how the walk ended (UNWIND_ROOT …), 0 without a
 * user part, or -ENOTSUP for a 32-bit program, whose chain is unchanged.
 */
int chain_walk_copy(struct chain_walk *walk, const struct tracked_process *process,
		    struct sample_record *sample);

/*
 * Appends the calls of an interpreter, which were read apart from it, to such a chain. Returns 1, 0
 * if the stack has no loop of the interpreter, or -EINVAL if it has one that the calls do not
 * belong to.
 */
int chain_append_calls(struct chain_walk *walk, const struct interpreter *interpreter,
		       const uint64_t *words, uint32_t count, struct sample_record *sample);

/* Turns chains into frames. */
struct chain_frames {
	struct process_tracker *tracker;
	bool partial; /* not all mappings are reported: see process_tracker_refresh() */
	/* For calls of interpreters, words after the user's addresses; NULL: there are none. */
	struct interpreters *interpreters;
	const struct sink *sink;
	bool calls_only; /* leave out other frames of stacks with calls */
	bool unnamed;    /* set if the calls of the last stack are not known (yet) */
	bool all_calls;  /* set if all its frames are calls, up to the root */
	uint64_t merged[MAX_CHAIN];
	struct frame frames[MAX_CHAIN + 1];
};

/* Whether a chain has calls of an interpreter. */
/* Whether the thread of such a sample held the interpreter's global lock. */
bool chain_holds_lock(const struct chain_frames *frames, const struct sample_record *sample);
bool chain_has_calls(const struct chain_frames *frames, const struct sample_record *sample);

/*
 * The frames of a sample, root first, preceded by FRAME_TRUNCATED if the stack is truncated. They
 * are valid until the next call.
 */
const struct frame *chain_frames(struct chain_frames *frames, struct tracked_process *process,
				 const struct sample_record *sample, bool truncated,
				 size_t *ret_count);

#endif

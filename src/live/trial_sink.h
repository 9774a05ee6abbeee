/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LIVE_TRIAL_SINK_H
#define WICK_LIVE_TRIAL_SINK_H

/*
 * trial_sink: a sink that keeps nothing but how many stacks came, and how many of them are whole:
 * they begin where the kernel, or the loader, begins a program, at the entry of an ELF file; and
 * how many have a frame that an engine made up, as only wakers' stacks have.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/sink.h"

struct trial_stack {
	bool whole;
	bool woken;
};

struct trial_sink {
	struct sink sink;
	VEC(uint64_t) entries; /* of the modules; UINT64_MAX: not known */
	VEC(struct trial_stack) stacks_seen;
	uint32_t others;       /* ids that were given to what nobody asks for again */
	uint64_t stacks;       /* of samples, or of blocks that were allocated */
	uint64_t whole_stacks; /* of these */
	uint64_t woken_stacks; /* of these */
	VEC(bool) in_order;    /* whether each of them is whole */
};

/* How many of the second half are not whole: in the first one unwind tables may be missing yet. */
uint64_t trial_sink_late_cut(const struct trial_sink *count);

void trial_sink_init(struct trial_sink *count);
void trial_sink_fini(struct trial_sink *count);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LIVE_TRIAL_SINK_H
#define WICK_LIVE_TRIAL_SINK_H

/*
 * trial_sink: a sink that only counts stacks. It counts how many are whole, that is, begin at the
 * entry point of an ELF file, where the kernel or the loader starts a program; and how many have a
 * frame made up by an engine, which only stacks of wakers have.
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
	VEC(uint64_t) entries; /* entry points of the modules; UINT64_MAX: unknown */
	VEC(struct trial_stack) stacks_seen;
	uint32_t others;       /* ids given to entries that are not kept */
	uint64_t stacks;       /* of samples, or of allocated blocks */
	uint64_t whole_stacks; /* of these */
	uint64_t woken_stacks; /* of these */
	VEC(bool) in_order;    /* whether each of them is whole */
};

/*
 * How many of the second half are not whole: during the first half, unwind tables may not be ready.
 */
uint64_t trial_sink_late_cut(const struct trial_sink *count);

void trial_sink_init(struct trial_sink *count);
void trial_sink_fini(struct trial_sink *count);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PIPELINE_RESOLVER_BATCH_H
#define WICK_PIPELINE_RESOLVER_BATCH_H

/*
 * resolver_batch: many addresses at once. They are looked up in the order in which they
 * lie, whatever the order of asking: neighbours share a unit, a function and the
 * memory where answers are kept, and that is half of the time.
 *
 * Starts as zeros. One thread at a time.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "pipeline/resolver.h"
#include "symbol/address_sort.h"

struct resolver_batch {
	VEC(struct address_ref) order;
	VEC(struct resolved) answers; /* in the order of asking; their frames are not set */
	VEC(size_t) first_frames;     /* of each answer */
	VEC(struct symbol_frame) frames;
	struct arena texts; /* of those without a name */
};

void resolver_batch_fini(struct resolver_batch *batch);

/* Looks up count addresses; what the last call found is gone. 0 or -ENOMEM. */
int resolver_batch_find(struct resolver_batch *batch, struct resolver *resolver,
			const uint64_t *addresses, size_t count);

/* The answer for the i-th address; valid until the next call of resolver_batch_find(). */
struct resolved resolver_batch_at(const struct resolver_batch *batch, size_t i);

#endif

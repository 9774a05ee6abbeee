/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MODEL_CALL_TALLY_H
#define WICK_MODEL_CALL_TALLY_H

/* call_tally: what a function or a module costs over a whole call tree. */

#include <stddef.h>
#include <stdint.h>

struct call_tree;
struct profile;

/* What all nodes of a function or module cost together. */
struct call_tally {
	uint32_t key; /* function id, or string id of the module */
	int64_t self;
	int64_t total; /* a stack counts once, however often the function is in it */
	uint64_t self_samples;
	uint64_t samples;
};

enum call_tally_key {
	CALL_TALLY_FUNCTION = 0,
	CALL_TALLY_MODULE = 1,
};

/*
 * Adds up by function or module, largest self first (then total, then name).
 * The tree is one of the profile. Only for trees that are not inverted. The caller frees *ret. 0 or
 * -ENOMEM.
 */
int call_tally_new(const struct profile *profile, const struct call_tree *tree,
		   enum call_tally_key key, struct call_tally **ret, size_t *ret_count);

#endif

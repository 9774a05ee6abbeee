/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MODEL_CALL_TALLY_H
#define WICK_MODEL_CALL_TALLY_H

/* call_tally: the cost of a function or a module over a whole call tree. */

#include <stddef.h>
#include <stdint.h>

struct call_tree;
struct profile;

/* The cost of all nodes of a function or module together. */
struct call_tally {
	uint32_t key; /* function id, or string id of the module */
	int64_t self;
	int64_t total; /* a stack counts once, even if the function is in it several times */
	uint64_t self_samples;
	uint64_t samples;
};

enum call_tally_key {
	CALL_TALLY_FUNCTION = 0,
	CALL_TALLY_MODULE = 1,
};

/*
 * Sums by function or module, largest self first (then total, then name). The tree must belong to
 * the profile and must not be inverted. The caller frees *ret. 0 or -ENOMEM.
 */
int call_tally_new(const struct profile *profile, const struct call_tree *tree,
		   enum call_tally_key key, struct call_tally **ret, size_t *ret_count);

#endif

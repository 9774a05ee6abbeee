/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MODEL_LABEL_SETS_H
#define WICK_MODEL_LABEL_SETS_H

/*
 * label_sets: every distinct set of labels once, identified by an id. Its texts are ids in the
 * caller's table of strings, which must be the same in all calls.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/id_index.h"
#include "base/vec.h"

struct label;
struct strings;

/* A label by the ids of its strings. */
struct label_pair {
	uint32_t key;
	uint32_t value;
};

/* pairs[first .. +count), sorted by the text of their keys, each key once. */
struct label_set {
	uint32_t first;
	uint32_t count;
};

struct label_sets {
	VEC(struct label_pair) pairs;
	VEC(struct label_set) sets; /* 0 is the empty set */
	struct id_index index;      /* private */
};

int label_sets_init(struct label_sets *sets); /* 0 or -ENOMEM */
void label_sets_fini(struct label_sets *sets);

/*
 * The id of the set of n labels in any order; of equal keys the last counts. 0 without labels.
 * ID_NONE if out of memory, and for more than LABELS_MAX.
 */
uint32_t label_sets_add(struct label_sets *sets, struct strings *strings,
			const struct label *labels, size_t n);

/* The labels of a set, none for an unknown id: fills at most LABELS_MAX, returns their number. */
size_t label_sets_get(const struct label_sets *sets, const struct strings *strings, uint32_t id,
		      struct label *ret);

#endif

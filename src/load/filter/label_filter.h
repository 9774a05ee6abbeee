/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_FILTER_LABEL_FILTER_H
#define WICK_LOAD_FILTER_LABEL_FILTER_H

/*
 * label_filter: which samples are wanted by their labels: "KEY=VALUE", of which one for
 * each key that is named must hold. Each set of labels is looked at once.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct bytes;
struct dictionary;

struct label_filter {
	const char *const *pairs; /* borrowed; none: all are wanted */
	size_t count;
	VEC(int8_t) answers; /* by set: 0 not asked yet, 1 yes, -1 no */
};

void label_filter_fini(struct label_filter *filter);

/* Whether a set of labels is wanted. 0 or -ENOMEM. */
int label_filter_ask(struct label_filter *filter, const struct dictionary *dictionary, uint32_t set,
		     bool *ret);

/* Appends which label no sample has and which ones there are; nothing when each is somewhere. */
void label_filter_explain(const struct label_filter *filter, const struct dictionary *dictionary,
			  struct bytes *out);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_FILTER_LABEL_FILTER_H
#define WICK_LOAD_FILTER_LABEL_FILTER_H

/*
 * label_filter: selects samples by labels "KEY=VALUE". For each key that is named, one of its
 * values must match. Each set of labels is evaluated once.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct bytes;
struct dictionary;

struct label_filter {
	const char *const *pairs; /* borrowed; none: select all */
	size_t count;
	VEC(int8_t) answers; /* by set: 0 not decided yet, 1 yes, -1 no */
};

void label_filter_fini(struct label_filter *filter);

/* Whether a set of labels is selected. Returns 0 or -ENOMEM. */
int label_filter_ask(struct label_filter *filter, const struct dictionary *dictionary, uint32_t set,
		     bool *ret);

/*
 * Appends a message about a label that no sample has, with the existing ones; nothing if each
 * occurs.
 */
void label_filter_explain(const struct label_filter *filter, const struct dictionary *dictionary,
			  struct bytes *out);

#endif

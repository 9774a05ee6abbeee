/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_EXPORT_LABEL_GROUPS_H
#define WICK_EXPORT_LABEL_GROUPS_H

/*
 * label_groups: the entries of a profile in groups: in each, some of the labels are the same.
 *
 * Protocols that send labels once for many samples need it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/strings.h"

struct profile;

struct label_groups {
	struct strings keys;   /* those labels as text; ids count from 1 */
	VEC(uint32_t) of_sets; /* by label set: its group, or ID_NONE if no entry has it */
	VEC(uint32_t) sets;    /* by group: one of its label sets */
};

/*
 * Groups by the labels for which counts() is true. 0 or -ENOMEM. The caller releases it with
 * label_groups_fini(), also after a failure.
 */
int label_groups_init(struct label_groups *groups, const struct profile *profile,
		      bool (*counts)(const char *key));
void label_groups_fini(struct label_groups *groups);

#endif

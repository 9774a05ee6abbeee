/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_EXPORT_USED_IDS_H
#define WICK_EXPORT_USED_IDS_H

/*
 * used_ids: numbers everything that the exported stacks of a profile need, from 0 without gaps.
 * After filtering, a profile may have stacks, locations and functions without samples.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct profile;

/* By id of the profile: the number, or ID_NONE if not needed. */
struct used_ids {
	VEC(uint32_t)
	stacks; /* parents come before their children; 0, the empty stack, does not count */
	VEC(uint32_t) locations;
	VEC(uint32_t) functions;
	uint32_t stack_count;
	uint32_t location_count;
	uint32_t function_count;
};

void used_ids_fini(struct used_ids *used);

/* Marks a stack and its callers as needed. Returns 0 or -ENOMEM. */
int used_ids_stack(struct used_ids *used, const struct profile *profile, uint32_t stack);

/* Assigns the numbers, after all stacks are marked. Returns 0 or -ENOMEM. */
int used_ids_number(struct used_ids *used, const struct profile *profile);

/* Both, for the stacks of all entries. Returns 0 or -ENOMEM. */
int used_ids_by_entries(struct used_ids *used, const struct profile *profile);

#endif

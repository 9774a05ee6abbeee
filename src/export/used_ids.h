/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_EXPORT_USED_IDS_H
#define WICK_EXPORT_USED_IDS_H

/*
 * used_ids: what the exported stacks of a profile need, numbered from 0 without gaps.
 * Filters leave stacks, locations and functions behind that no sample has.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct profile;

/* By id of the profile: the number, or ID_NONE for what is not needed. */
struct used_ids {
	VEC(uint32_t) stacks; /* parents come before their children; 0, the empty one, is none */
	VEC(uint32_t) locations;
	VEC(uint32_t) functions;
	uint32_t stack_count;
	uint32_t location_count;
	uint32_t function_count;
};

void used_ids_fini(struct used_ids *used);

/* Notes that a stack is needed, and so are its callers. 0 or -ENOMEM. */
int used_ids_stack(struct used_ids *used, const struct profile *profile, uint32_t stack);

/* Numbers everything, once all stacks are noted. 0 or -ENOMEM. */
int used_ids_number(struct used_ids *used, const struct profile *profile);

/* Both for the stacks of all entries. 0 or -ENOMEM. */
int used_ids_by_entries(struct used_ids *used, const struct profile *profile);

#endif

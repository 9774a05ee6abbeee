/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_STORE_NAMES_LOOKUP_H
#define WICK_STORE_NAMES_LOOKUP_H

/*
 * names_lookup: finds the ids that the stacks of a profile have in the store, and adds new ones.
 *
 * Most stacks of a batch are known already. So several batches may look for theirs at the same
 * time; then one batch at a time adds what is missing.
 */

#include "store/names.h"

/* Ids in the store by ids of the profile, ID_NONE where it is not known. */
struct names_lookup {
	const struct profile *profile;
	const uint8_t *wanted; /* by stack: rows have it; borrowed */
	VEC(uint32_t) strings;
	VEC(uint32_t) functions;
	VEC(uint32_t) locations;
	VEC(uint32_t) stacks;
	VEC(struct profile_line) lines; /* of one location */
	struct bytes text;              /* for one text at a time */
};

int names_lookup_init(struct names_lookup *lookup, const struct profile *profile,
		      const uint8_t *wanted); /* 0 or -ENOMEM */
void names_lookup_fini(struct names_lookup *lookup);

/* Several threads may do this at once, while nobody changes the names. 0 or -ENOMEM. */
int names_find(const struct names *names, struct names_lookup *lookup);
/* Whether all that is wanted is known, and known to be used on this day or later. */
bool names_has_all(const struct names *names, const struct names_lookup *lookup, uint16_t day);
/* Adds what is missing, and notes the day. 0 or -ENOMEM. */
int names_add(struct names *names, struct names_lookup *lookup, uint16_t day);

#endif

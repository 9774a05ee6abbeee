/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MODEL_PROFILE_PAIR_H
#define WICK_MODEL_PROFILE_PAIR_H

/*
 * profile_pair: two profiles in one, with the values of each side by side.
 *
 * Functions of both sides are the same if their names are: programs are rebuilt, moved and renamed
 * between two recordings, and other formats have neither modules nor files. Only a name that occurs
 * several times on one side is distinguished by its module and file, without their folders; all
 * programs count as one module.
 *
 * Stacks are merged by function: addresses, lines and thread ids are gone.
 */

#include <stdint.h>

struct profile;

/* Value types of the joined profile. */
enum pair_value {
	PAIR_BEFORE = 0,
	PAIR_AFTER = 1,
	PAIR_SAMPLES_BEFORE = 2,
	PAIR_SAMPLES_AFTER = 3,
	PAIR_BOTH = 4, /* before and after together */
	PAIR_VALUES = 5,
};

struct profile_pair {
	struct profile *both;
	uint32_t *functions[2]; /* for each function of before and after: its id in both */
};

/* Joins the given values of two profiles, which must outlive the pair. 0 or -ENOMEM. */
int profile_pair_init(struct profile_pair *pair, const struct profile *const sides[2],
		      const uint32_t values[2]);
void profile_pair_fini(struct profile_pair *pair);

#endif

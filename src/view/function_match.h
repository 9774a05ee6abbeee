/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_FUNCTION_MATCH_H
#define WICK_VIEW_FUNCTION_MATCH_H

/* function_match: the functions of a profile that a person means. */

#include <stddef.h>
#include <stdint.h>

struct error;
struct profile;

/* All functions of one name: in several files or modules, too. */
struct function_match {
	const char *name;
	int64_t self;
	int64_t total; /* at least: of the one of that name that has most */
};

struct function_matches {
	struct function_match *items; /* the largest total first */
	size_t count;
	uint8_t *wanted; /* by function of the profile: 1 for those that match */
};

/*
 * Finds functions with samples by name, without its parameters also, or by /RE/, a
 * POSIX extended regular expression. The name itself wins over others that begin with it. None is
 * no failure. -EINVAL: a bad expression.
 */
int function_matches_find(const struct profile *profile, uint32_t value, const char *pattern,
			  struct function_matches *ret, struct error *err);
void function_matches_fini(struct function_matches *matches);

#endif

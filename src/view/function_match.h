/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_FUNCTION_MATCH_H
#define WICK_VIEW_FUNCTION_MATCH_H

/* function_match: finds functions of a profile by name or regular expression. */

#include <stddef.h>
#include <stdint.h>

struct error;
struct profile;

/* All functions with one name, possibly in several files or modules. */
struct function_match {
	const char *name;
	int64_t self;
	int64_t total; /* lower bound: the total of the largest of these functions */
};

struct function_matches {
	struct function_match *items; /* largest total first */
	size_t count;
	uint8_t *wanted; /* by function of the profile: 1 if it matches */
};

/*
 * Finds functions with samples by name, with or without parameters, or by /RE/, a POSIX extended
 * regular expression. The exact name takes precedence over names that start with it. No match is
 * not an error. -EINVAL: invalid expression.
 */
int function_matches_find(const struct profile *profile, uint32_t value, const char *pattern,
			  struct function_matches *ret, struct error *err);
void function_matches_fini(struct function_matches *matches);

/* The error for a search without a match in a recording. Returns -ENOENT. */
int function_matches_none(const char *file, const char *pattern, struct error *err);

#endif

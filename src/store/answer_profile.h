/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_STORE_ANSWER_PROFILE_H
#define WICK_STORE_ANSWER_PROFILE_H

/* answer_profile: the profile that a question is answered with, before it has stacks. */

struct profile;
struct store_selector;

/*
 * Value 0 is the samples, value 1 the type. type_name and unit_name are of what was chosen; "":
 * nothing was. 0 or -ENOMEM.
 */
int answer_profile_new(const struct store_selector *selector, const char *type_name,
		       const char *unit_name, struct profile **ret);

#endif

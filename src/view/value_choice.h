/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_VALUE_CHOICE_H
#define WICK_VIEW_VALUE_CHOICE_H

/* value_choice: which of the value types of a profile a view shows. */

#include <stdint.h>

struct error;
struct profile;

#define VALUE_MAIN UINT32_MAX /* the profile's main one */

/*
 * The value type of a name, or without a name (NULL) the given one. Returns 0, or
 * -EINVAL with the names that there are.
 */
int value_choose(const struct profile *profile, const char *name, uint32_t value, uint32_t *ret,
		 struct error *err);

#endif

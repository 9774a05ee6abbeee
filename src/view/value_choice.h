/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_VALUE_CHOICE_H
#define WICK_VIEW_VALUE_CHOICE_H

/* value_choice: which value type of a profile a view shows. */

#include <stdint.h>

struct error;
struct profile;

#define VALUE_MAIN UINT32_MAX /* the profile's main value */

/*
 * Finds the value type by name, or without a name (NULL) uses value. Returns 0, or -EINVAL with the
 * existing names in err.
 */
int value_choose(const struct profile *profile, const char *name, uint32_t value, uint32_t *ret,
		 struct error *err);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TESTS_PROFILE_SUM_H
#define WICK_TESTS_PROFILE_SUM_H

#include "model/profile.h"

/* What a value comes to in all entries. */
static inline int64_t profile_sum(const struct profile *profile, uint32_t value)
{
	int64_t sum = 0;

	for (size_t i = 0; i < profile->entries.count; i++)
		sum += profile_entry_values(profile, i)[value];
	return sum;
}

#endif

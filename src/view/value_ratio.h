/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_VALUE_RATIO_H
#define WICK_VIEW_VALUE_RATIO_H

/* value_ratio: ratios of two value types, such as instructions per cycle. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;

#define VALUE_RATIOS_MAX 3

struct value_ratio {
	const char *name;
	const char *key; /* in JSON */
	uint32_t part;   /* value types */
	uint32_t whole;
	bool more_is_worse;
	bool is_share; /* shown in percent */
};

/* Lists the ratios that the values of a profile allow. Returns their count. */
size_t value_ratios_of(const struct profile *profile, struct value_ratio ret[VALUE_RATIOS_MAX]);

#endif

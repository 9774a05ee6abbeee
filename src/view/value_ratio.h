/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_VALUE_RATIO_H
#define WICK_VIEW_VALUE_RATIO_H

/* value_ratio: what two value types tell together: instructions for each cycle … */

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
	bool is_share; /* written in percent */
};

/* The ratios that the values of a profile allow. Returns how many. */
size_t value_ratios_of(const struct profile *profile, struct value_ratio ret[VALUE_RATIOS_MAX]);

#endif

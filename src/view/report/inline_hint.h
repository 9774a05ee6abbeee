/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_REPORT_INLINE_HINT_H
#define WICK_VIEW_REPORT_INLINE_HINT_H

/*
 * inline_hint: a function whose time is spread over the rows of functions inlined into it, so that
 * no row shows how much it is.
 */

#include <stdint.h>

struct profile;

struct inline_hint {
	uint32_t function; /* ID_NONE: none */
	int64_t self;      /* of its code, including inlined functions */
	uint32_t rows;     /* functions that hold part of it, including itself */
};

/* Finds the largest one. 0 or -ENOMEM. */
int inline_hint_find(const struct profile *profile, uint32_t value, struct inline_hint *ret);

#endif

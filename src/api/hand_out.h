/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_API_HAND_OUT_H
#define WICK_API_HAND_OUT_H

/* hand_out: our errors as those of the public library. */

#include <wick/error.h>

#include <stdio.h>

#include "base/error.h"

/* Fills *to, which may be NULL. Returns the code. */
static inline int hand_out(const struct error *from, struct wick_error *to)
{
	if (to) {
		to->code = from->code;
		(void)snprintf(to->text, sizeof(to->text), "%s", from->text);
		(void)snprintf(to->remedy, sizeof(to->remedy), "%s", from->remedy);
	}
	return from->code;
}

#endif

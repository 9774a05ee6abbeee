/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_LOAD_GAPS_H
#define WICK_LOAD_LOAD_GAPS_H

/* load_gaps: the modules in which samples end that could be named better, and what they lack. */

#include <stddef.h>

#include "symbol/symboliser.h"

struct dictionary;
struct profile;
struct profile_gap;

struct load_gaps_input {
	const struct symboliser *symboliser;
	const struct dictionary *dictionary;
	enum symbol_detail symbols;     /* what was looked up */
	const struct profile_gap *gaps; /* by module id, and one more for addresses in none */
	size_t count;
	const char *jit_refused; /* see RECORDING_JIT_REFUSED; NULL: none */
};

/* Adds them to the profile. Returns 0 or -ENOMEM. */
int load_gaps(const struct load_gaps_input *input, struct profile *profile);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_LOAD_GAPS_H
#define WICK_LOAD_LOAD_GAPS_H

/* load_gaps: lists the modules of samples that could have better names, and what is missing. */

#include <stddef.h>

#include "symbol/symboliser.h"

struct dictionary;
struct profile;
struct profile_gap;

struct load_gaps_input {
	const struct symboliser *symboliser;
	const struct dictionary *dictionary;
	enum symbol_detail symbols;     /* what was looked up */
	const struct profile_gap *gaps; /* by module id, plus one for addresses in no module */
	size_t count;
	const char *jit_refused; /* see RECORDING_JIT_REFUSED; NULL: none */
};

/* Adds them to the profile. Returns 0 or -ENOMEM. */
int load_gaps(const struct load_gaps_input *input, struct profile *profile);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_ANNOTATE_ANNOTATE_H
#define WICK_VIEW_ANNOTATE_ANNOTATE_H

/*
 * annotate: the source lines or instructions of a function with the cost of each.
 *
 * The cost of inlined functions counts at the line of the call. Shares are of the function's own
 * total, so they add up to its cost including what it calls; the head shows its share of the whole
 * profile.
 *
 * JSON has the keys function, title, value {name, unit, total}, self, total, self_percent,
 * total_percent (of the whole), notes [text] and either files [{path, source (where it was found,
 * or null), lines [{line, text, self, self_inlined, total, self_percent, total_percent,
 * self_samples, samples}]}] or, for instructions, modules [{path, instructions [{address, text,
 * line, self, self_percent, samples}]}]; text is null where it is unknown. Lines without samples
 * are not listed, instructions are.
 */

#include <stdbool.h>
#include <stdint.h>

#include "view/source_file.h"

struct bytes;
struct error;
struct profile;

struct annotate_options {
	bool json;
	bool color;    /* with terminal escapes and bars */
	bool assembly; /* instructions instead of lines; text also shows them if no line is known */
	struct source_search sources;
};

/*
 * Appends the functions marked in wanted (one byte for each function of the profile), named name,
 * to out. The value is the profile's main value.
 */
int annotate_write(const struct profile *profile, const uint8_t *wanted, const char *name,
		   const struct annotate_options *options, struct bytes *out, struct error *err);

#endif

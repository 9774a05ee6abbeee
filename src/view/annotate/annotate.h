/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_ANNOTATE_ANNOTATE_H
#define WICK_VIEW_ANNOTATE_ANNOTATE_H

/*
 * annotate: the source lines or the instructions of a function with what each costs.
 *
 * What functions cost that were inlined into it counts at the line of the call. Shares
 * are of the function's own total, so that they add up to what it costs with all that it
 * calls; its share of the whole stands in the head.
 *
 * JSON has the keys function, title, value {name, unit, total}, self, total,
 * self_percent, total_percent (of the whole), notes [text] and either files [{path,
 * source (where it was found, or null), lines [{line, text, self, self_inlined, total,
 * self_percent, total_percent, self_samples, samples}]}] or, for instructions, modules
 * [{path, instructions [{address, text, line, self, self_percent, samples}]}]; text is
 * null where it is not known. Lines without samples are not listed, instructions are.
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
	bool assembly; /* instructions instead of lines; in text also where no line is known */
	struct source_search sources;
};

/*
 * Appends the functions of wanted (a byte for each of the profile), called name, to out.
 * The value is the profile's main one.
 */
int annotate_write(const struct profile *profile, const uint8_t *wanted, const char *name,
		   const struct annotate_options *options, struct bytes *out, struct error *err);

#endif

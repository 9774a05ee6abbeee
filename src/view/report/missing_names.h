/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_REPORT_MISSING_NAMES_H
#define WICK_VIEW_REPORT_MISSING_NAMES_H

/*
 * missing_names: the modules whose samples have no symbol or no line, sorted by the number of those
 * samples, with what is missing and how to fix it.
 *
 * JSON: samples, resolved, name_only, unsymbolised, modules [{module, build_id, unnamed,
 * name_only, problem, help}].
 */

#include <stdbool.h>

struct bytes;
struct error;
struct findings;
struct profile;

/* Appends the list. 0 or -ENOMEM. */
int missing_names_write(const struct profile *profile, bool json, struct bytes *out);

/* Adds a finding for each module with a notable share of samples without a symbol. */
int missing_names_find(const struct profile *profile, struct findings *findings, struct error *err);

/* The same as lines to print beside a report. */
void missing_names_put_warnings(const struct profile *profile, struct bytes *out);

#endif

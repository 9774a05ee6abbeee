/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_REPORT_MISSING_NAMES_H
#define WICK_VIEW_REPORT_MISSING_NAMES_H

/*
 * missing_names: the modules in which samples end that have no name or no line, by the
 * samples lost, with what is missing and what would help.
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

/* A finding for each module that holds a notable share of all samples without a name. */
int missing_names_find(const struct profile *profile, struct findings *findings, struct error *err);

/* The same as lines to be told besides a report. */
void missing_names_put_warnings(const struct profile *profile, struct bytes *out);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_REPORT_REPORT_VALUES_H
#define WICK_VIEW_REPORT_REPORT_VALUES_H

/*
 * report_values: the columns of a report for the value types beside the one that it is
 * sorted by, and for ratios of two of them. Nothing for a profile of one value.
 */

#include <stdbool.h>
#include <stddef.h>

struct json;
struct report;
struct rows;

/* Appends the names of the columns, and what a row has in them. */
void report_values_put_names(const struct report *report);
void report_values_put(const struct report *report, const struct rows *rows, size_t row);

/* How many columns of text these are together. */
size_t report_values_width(const struct report *report);

/* Appends lines to the head: what all of it is, and which values there is no room for. */
void report_values_put_head(const struct report *report);

/* The same as keys of JSON. */
void report_values_json_head(const struct report *report, struct json *json);
void report_values_json(const struct report *report, const struct rows *rows, size_t row,
			struct json *json);

/* Whether there is anything to tell of. */
bool report_has_values(const struct report *report);

#endif

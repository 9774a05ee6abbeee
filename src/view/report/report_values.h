/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_REPORT_REPORT_VALUES_H
#define WICK_VIEW_REPORT_REPORT_VALUES_H

/*
 * report_values: the columns of a report for the other value types, and for ratios of two of them.
 * Nothing for a profile with one value.
 */

#include <stdbool.h>
#include <stddef.h>

struct json;
struct report;
struct rows;

/* Append the column heads, and the cells of a row. */
void report_values_put_names(const struct report *report);
void report_values_put(const struct report *report, const struct rows *rows, size_t row);

/* Their total width in characters. */
size_t report_values_width(const struct report *report);

/* Appends lines to the head: the totals, and the values that do not fit. */
void report_values_put_head(const struct report *report);

/* The same as JSON keys. */
void report_values_json_head(const struct report *report, struct json *json);
void report_values_json(const struct report *report, const struct rows *rows, size_t row,
			struct json *json);

/* Whether there are any such columns. */
bool report_has_values(const struct report *report);

#endif

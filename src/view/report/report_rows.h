/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_REPORT_REPORT_ROWS_H
#define WICK_VIEW_REPORT_REPORT_ROWS_H

/*
 * report_rows: the rows of a report's table: functions, modules, threads, states, languages or
 * lines, with their cost in each value type of the profile.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call_tree;
struct profile;
struct report;
struct report_options;

struct row {
	uint64_t id; /* the same for every value type */
	const char *name;
	const char *module; /* NULL: has none */
	const char *file;   /* NULL: has none */
	int64_t self;
	int64_t total;
	uint64_t self_samples;
	uint64_t samples;
};

struct report_cell {
	int64_t self;
	int64_t total;
};

struct rows {
	struct row *items;
	size_t count;
	struct report_cell *cells; /* one for each value type, row by row; NULL: not filled */
};

/* Makes the sorted rows of the chosen value. The caller frees them even on failure. */
int report_rows_make(struct report *report, struct rows *rows);
void report_rows_free(struct rows *rows);

/* Fills the cells of the rows. 0 or -ENOMEM. */
int report_rows_add_values(const struct report *report, struct rows *rows);

/* The same for the nodes of the report's call tree, as if each were a row. */
int report_rows_of_nodes(const struct report *report, struct rows *rows);

/* Whether a value type has its own column beside the chosen value and samples. */
bool report_is_beside(const struct report *report, uint32_t value);

/* Builds the call tree of the chosen value. */
int report_tree_of(const struct profile *profile, const struct report_options *options,
		   struct call_tree **ret);

#endif

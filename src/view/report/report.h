/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_REPORT_REPORT_H
#define WICK_VIEW_REPORT_REPORT_H

/*
 * report: a profile as text for a terminal, or as JSON for a program.
 *
 * JSON has the keys of the head (title, duration_ns, period_ns, samples, lost,
 * unreadable, damaged_chunks, incomplete, truncated, resolved, name_only, unsymbolised,
 * corrupted, invalid, value {name, unit, total}) and either
 *
 *	by, rows [{name, module, file, self, total, self_percent, total_percent,
 *	           self_samples, samples}], more         (file only by function
 *	           and line, no module by thread, process or state; more: rows beyond the limit)
 *
 * where a profile with several values has in its head values [{name, unit, total}], ratios {ipc,
 * cache_miss_share, branch_miss_share, as its values allow} and values_left_out (names, only when
 * there were too many); each row or node has values {NAME: {self, total}}, without the chosen value
 * and samples, and ratios {…};
 *
 * or, for a tree, in pre-order, with parent as an index into nodes (-1: the root)
 *
 *	nodes [{name, module, depth, parent, self, total, total_percent,
 *	        self_samples, samples}], cut             (number of nodes left out)
 *
 * or, with focus, where a caller without a name means that the stacks begin with the function,
 *
 *	functions [{name, self, total, total_percent, self_samples, samples,
 *	            callers [{name, module, total, total_percent, samples}], callees [the same]}],
 *	more                                             (functions beyond the first 20)
 */

#include <stdbool.h>
#include <stdint.h>

#include "model/call_tree.h"

struct bytes;
struct error;
struct function_matches;
struct profile;

enum report_by {
	REPORT_BY_FUNCTION = 0,
	REPORT_BY_MODULE = 1,
	REPORT_BY_THREAD = 2,
	REPORT_BY_STATE = 3,
	REPORT_BY_LINE = 4,
	REPORT_BY_PROCESS = 5,
	REPORT_BY_SITE = 6, /* of a heap: see site_report.h */
	REPORT_BY_LOCK = 7, /* see lock_report.h */
	REPORT_BY_LANGUAGE = 8,
};

enum report_sort {
	REPORT_SORT_SELF = 0, /* equal to the total for groups such as threads */
	REPORT_SORT_TOTAL = 1,
	REPORT_SORT_SAMPLES = 2,
	REPORT_SORT_USUAL = 3, /* self in a table, total in a tree */
};

struct report_options {
	enum report_by by;
	enum report_sort sort; /* of rows, or of siblings in a tree: largest first */
	bool tree;  /* the call tree instead of a table: of everything, by thread or by process */
	bool json;  /* ignores color; a tree is cut in the same way */
	bool color; /* with terminal escapes */
	uint32_t value;         /* REPORT_MAIN_VALUE: the profile's main one */
	const char *value_name; /* NULL: use value */
	uint32_t limit;         /* rows of a table; 0: all */
	uint32_t columns; /* width of the terminal: names of a table are cut to fit; 0: not cut */
	/* For trees: */
	double min_percent; /* smaller nodes are left out and counted */
	uint32_t max_depth; /* deeper nodes are left out and counted; 0: no limit */
	bool inverted;
	bool collapse_recursion; /* for tables as well */
	/* The callers and callees of these instead of a table or tree; NULL: none. */
	const struct function_matches *focus;
};

#define REPORT_MAIN_VALUE UINT32_MAX

#define REPORT_OPTIONS_DEFAULT                                                                     \
	{                                                                                          \
		.sort = REPORT_SORT_USUAL, .value = REPORT_MAIN_VALUE, .limit = 30,                \
		.min_percent = 0.5, .max_depth = 60                                                \
	}

/* Appends the report to out. */
int report_write(const struct profile *profile, const struct report_options *options,
		 struct bytes *out, struct error *err);

#endif

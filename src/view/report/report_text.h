/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_REPORT_REPORT_TEXT_H
#define WICK_VIEW_REPORT_REPORT_TEXT_H

/* report_text: what the table and the tree of a report share. */

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct bytes;
struct call_tree;
struct profile;
struct report_options;

struct report {
	const struct profile *profile;
	const struct report_options *options;
	const struct call_tree *tree;
	const char *unit;
	int64_t total;
	struct bytes *out;
	struct arena arena; /* texts of rows */
};

enum report_color {
	REPORT_BOLD = 1,
	REPORT_DIM = 2,
	REPORT_RED = 31,
	REPORT_YELLOW = 33,
};

/* Start and end coloured text; nothing without the option color. */
void report_color(const struct report *report, enum report_color color);
void report_plain(const struct report *report);

/* "  12.3%", coloured by its size. */
void report_put_share(const struct report *report, int64_t part);

/* False for profiles without sample counts, such as heap profiles. */
bool report_counts_samples(const struct report *report);

/* Appends the name of a row; imported files may have empty names. */
void report_put_name(struct bytes *out, const char *name);

/* Appends the tree, as text or as the JSON keys nodes and cut. 0 or -ENOMEM. */
struct json;
int report_tree_text(const struct report *report);
int report_tree_json(const struct report *report, struct json *json);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_DIFF_DIFF_ROWS_H
#define WICK_VIEW_DIFF_DIFF_ROWS_H

/* diff_rows: the rows of a comparison, and their output formats. */

#include <stddef.h>
#include <stdint.h>

struct bytes;
struct diff;
struct diff_options;

struct diff_change {
	int64_t before; /* in the unit of the values */
	int64_t after;
	double before_share; /* of the total of its side */
	double after_share;
	double before_value; /* the compared value: a share or an amount */
	double after_value;
	double confidence; /* that there is a change */
};

/* Changes with less confidence are noise. */
#define DIFF_NOISE 0.95

enum diff_state { DIFF_BOTH, DIFF_NEW, DIFF_GONE };

struct diff_row {
	const char *name;
	const char *module;
	const char *file;
	enum diff_state state;
	struct diff_change self;
	struct diff_change total;
};

struct diff_table {
	const struct diff *diff;
	const struct diff_options *options;
	const struct diff_row *rows;
	size_t count; /* excluding noise */
	size_t shown;
	size_t noise; /* rows left out because their change may be noise */
};

/* If memory runs out, out fails. */
void diff_put_text(const struct diff_table *table, struct bytes *out);
void diff_put_json(const struct diff_table *table, struct bytes *out);
void diff_put_csv(const struct diff_table *table, struct bytes *out);

#endif

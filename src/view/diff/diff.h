/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_DIFF_DIFF_H
#define WICK_VIEW_DIFF_DIFF_H

/*
 * diff: what changed between two profiles, function by function.
 *
 * Normalised: compares shares of the total, regardless of duration and rate. Absolute: compares the
 * values themselves.
 *
 * JSON has the keys before and after {file, title, duration_ns, samples, lost, unreadable, total},
 * value {name, unit}, totals (the compared value and the wall time, each {name, unit, before,
 * after, change_percent, confidence}, the last null if only the two numbers are known), compares
 * ("shares" or "amounts"), exact (there is no noise), rows, more (rows beyond the limit) and gates.
 * A row is {name, module, file, state ("both", "new" or "gone"), self, total}, where self and total
 * are {before, after, before_percent, after_percent, change_points, change_percent, confidence}:
 * change_points is in points of the shares, change_percent is relative to before (null if that was
 * 0), confidence is the confidence in percent that there is a change. CSV has the same columns.
 */

#include <stdbool.h>
#include <stdint.h>

#include "model/function_cost.h"
#include "model/profile_pair.h"
#include "model/significance.h"

struct bytes;
struct diff_verdict;
struct error;
struct profile;

enum diff_format { DIFF_TEXT = 0, DIFF_JSON = 1, DIFF_CSV = 2 };

enum diff_sort {
	DIFF_BY_SELF = 0,  /* largest change of self first, up or down */
	DIFF_BY_TOTAL = 1, /* … of total */
	DIFF_BY_BEFORE = 2,
	DIFF_BY_AFTER = 3,
	DIFF_BY_NAME = 4,
};

struct diff_options {
	enum diff_format format;
	enum diff_sort sort;
	bool color;     /* text with terminal escapes */
	bool all;       /* in text, include rows whose change may be noise */
	uint32_t limit; /* rows; 0: all */
	const struct diff_verdict *verdicts;
	size_t verdict_count;
};

struct diff {
	const struct profile *sides[2]; /* before and after; borrowed */
	const char *names[2];           /* their files; borrowed */
	uint32_t values[2];
	bool absolute;
	bool exact;   /* neither side has sample counts: there is no noise */
	bool counted; /* sample counts are compared: one side has nothing else */
	struct profile_pair pair;
	struct cost_table costs[2]; /* a row for each function of pair.both */
};

/* What to compare; by default amounts for exact values, else shares. */
enum diff_measure { DIFF_USUAL = 0, DIFF_SHARES = 1, DIFF_AMOUNTS = 2 };

/* Compares two profiles that measure the same thing; -EINVAL if they do not. */
int diff_init(struct diff *diff, const struct profile *const sides[2], const char *const names[2],
	      enum diff_measure measure, struct error *err);
void diff_fini(struct diff *diff);

/* The confidence that the totals differ, as amounts. */
double diff_whole_confidence(const struct diff *diff);

/* The compared value of a cost of that table: its share or its amount. */
struct estimate diff_estimate(const struct diff *diff, const struct cost *cost,
			      const struct cost_table *table);

/* Appends the comparison to out. */
int diff_write(const struct diff *diff, const struct diff_options *options, struct bytes *out,
	       struct error *err);

#endif

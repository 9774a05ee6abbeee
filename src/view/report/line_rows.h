/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_REPORT_LINE_ROWS_H
#define WICK_VIEW_REPORT_LINE_ROWS_H

/* line_rows: the cost of each source line, self and total. */

#include <stddef.h>
#include <stdint.h>

struct profile;

struct line_row {
	uint32_t function; /* a function that contains the line */
	uint32_t line;     /* 0: unknown */
	uint32_t file;     /* string id */
	int64_t self;
	int64_t self_inlined; /* part of self: in functions inlined there */
	int64_t total;        /* a stack counts once, even if the line occurs in it several times */
	uint64_t self_samples;
	uint64_t samples;
};

/*
 * Adds up one value of the profile by file and line, or by function where lines are unknown,
 * largest self first. Samples are counted by the first value named "samples". The caller frees
 * *ret. 0 or -ENOMEM.
 */
int line_rows_new(const struct profile *profile, uint32_t value, struct line_row **ret,
		  size_t *ret_count);

/*
 * The same for the lines of some functions: wanted has one byte for each function of the profile,
 * nonzero for these. The cost of functions inlined into them counts as theirs, at the line of the
 * call. *ret_sum receives the total cost, in which each stack counts once.
 */
int line_rows_of(const struct profile *profile, uint32_t value, const uint8_t *wanted,
		 struct line_row **ret, size_t *ret_count, struct line_row *ret_sum);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_REPORT_LINE_ROWS_H
#define WICK_VIEW_REPORT_LINE_ROWS_H

/* line_rows: what each source line costs, itself and with what it calls. */

#include <stddef.h>
#include <stdint.h>

struct profile;

struct line_row {
	uint32_t function; /* one that the line is in */
	uint32_t line;     /* 0: the function's line is not known */
	uint32_t file;     /* string id */
	int64_t self;
	int64_t self_inlined; /* of self: in functions that were inlined there */
	int64_t total;        /* a stack counts once, however often the line is in it */
	uint64_t self_samples;
	uint64_t samples;
};

/*
 * Adds up one value of the profile by file and line, or by function where lines are not
 * known, largest self first. Samples are counted by the value named "samples", the
 * first. The caller frees *ret. 0 or -ENOMEM.
 */
int line_rows_new(const struct profile *profile, uint32_t value, struct line_row **ret,
		  size_t *ret_count);

/*
 * The same for the lines of some functions: wanted has a byte for each of the profile,
 * not 0 for these. What others cost that were inlined into them is theirs, at the line
 * of the call. *ret_sum gets what all of it costs together; of that a stack counts once.
 */
int line_rows_of(const struct profile *profile, uint32_t value, const uint8_t *wanted,
		 struct line_row **ret, size_t *ret_count, struct line_row *ret_sum);

#endif

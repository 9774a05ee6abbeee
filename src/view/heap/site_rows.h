/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_HEAP_SITE_ROWS_H
#define WICK_VIEW_HEAP_SITE_ROWS_H

/*
 * site_rows: a heap by allocation site in the source.
 *
 * Stacks that end in the same line form one row. Functions that allocate on behalf of others are
 * skipped (allocators.h). If nothing else is left, the innermost function is the site.
 */

#include <stddef.h>
#include <stdint.h>

#include "heap/sites.h"

struct heap_report;
struct profile;

struct site_row {
	uint32_t function; /* of the profile */
	uint32_t file;     /* string id */
	uint32_t line;     /* 0: unknown */
	uint32_t site;     /* the site that held most at the peak */
	uint32_t number;   /* private */
	uint64_t stacks;
	struct heap_site_sums sums;
	struct heap_site more; /* times, sizes and counts of all its stacks together */
	struct heap_lifetimes lifetimes;
	uint64_t longest_ns; /* upper limit for the lifetime of a block: from the first allocation
				to the end */
};

struct site_rows {
	struct site_row *items; /* largest at the peak first */
	size_t count;
	uint32_t *of_site; /* by site: its row; ID_NONE: none */
};

/*
 * Makes the rows of a report, whose sites have these stacks in the profile (ID_NONE: filtered out).
 * The caller releases *ret with site_rows_fini(), even on failure. 0 or -ENOMEM.
 */
int site_rows_init(const struct profile *profile, const struct heap_report *report,
		   const uint32_t *stacks, struct site_rows *ret);
void site_rows_fini(struct site_rows *rows);

/* The median lifetime of freed blocks; 0 if none was freed. */
uint64_t site_row_lifetime_ns(const struct site_row *row);

/* Average bytes per block. */
static inline double site_row_average(const struct site_row *row)
{
	return row->sums.allocated.blocks > 0
		       ? row->sums.allocated.bytes / row->sums.allocated.blocks
		       : 0;
}

#endif

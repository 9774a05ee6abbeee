/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_PAGE_FLAME_PAGE_H
#define WICK_VIEW_PAGE_FLAME_PAGE_H

/*
 * flame_page: a profile as one HTML file: the flame graph, a table, callers and callees of a
 * function, source lines, a timeline of threads. The file loads and sends nothing.
 */

#include "view/flame/flame.h"

struct source_search;

struct flame_page_options {
	struct flame_options graph;          /* the browser chooses widths in pixels */
	const struct source_search *sources; /* NULL: source text is left out */
	uint32_t *ret_lack;   /* why source is missing, an enum source_lack; may be NULL */
	const char *sides[2]; /* of a pair: the names of before and after */
};

/* Appends the file to out. 0, or what flame_write() returns. */
int flame_page_write(const struct profile *profile, const struct flame_page_options *options,
		     struct bytes *out, struct error *err);

/*
 * Appends what flame_page_write() puts into the file besides the program, for a page that is open
 * already and shows it instead of its own: the size of the JSON about the recording (4 bytes,
 * little endian), that JSON, the columns, compressed by gzip.
 */
int flame_page_data_write(const struct profile *profile, const struct flame_page_options *options,
			  struct bytes *out, struct error *err);

#endif

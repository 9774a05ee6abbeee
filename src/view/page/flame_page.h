/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_PAGE_FLAME_PAGE_H
#define WICK_VIEW_PAGE_FLAME_PAGE_H

/*
 * flame_page: a profile as one HTML file: the flame graph, a table, callers and callees of a
 * function, source lines, a timeline of threads. It loads nothing and sends nothing.
 */

#include "view/flame/flame.h"

struct source_search;

struct flame_page_options {
	struct flame_options graph;          /* widths in pixels are the browser's business */
	const struct source_search *sources; /* NULL: the text of sources stays out */
	uint32_t *ret_lack;   /* why some were left out, an enum source_lack; NULL: nobody asks */
	const char *sides[2]; /* of a pair: what before and after are called */
};

/* Appends the file to out. 0, or what flame_write() returns. */
int flame_page_write(const struct profile *profile, const struct flame_page_options *options,
		     struct bytes *out, struct error *err);

#endif

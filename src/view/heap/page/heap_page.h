/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_HEAP_PAGE_HEAP_PAGE_H
#define WICK_VIEW_HEAP_PAGE_HEAP_PAGE_H

/*
 * heap_page: what is known of a heap as one HTML file: totals, the places that allocate with their
 * stacks, what was live over time and what stands out there, sizes, lifetimes, threads. It
 * loads nothing and sends nothing.
 */

struct bytes;
struct error;
struct heap_profile;

struct heap_page_options {
	const char *title; /* NULL: what was recorded */
};

/* Appends the file to out. 0 or -ENOMEM. */
int heap_page_write(const struct heap_profile *heap, const struct heap_page_options *options,
		    struct bytes *out, struct error *err);

/* Appends what the script of the file reads, as JSON; see heap_page.c. 0 or -ENOMEM. */
int heap_page_put_data(const struct heap_profile *heap, struct bytes *out);

#endif

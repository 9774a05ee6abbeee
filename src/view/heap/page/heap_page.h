/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_HEAP_PAGE_HEAP_PAGE_H
#define WICK_VIEW_HEAP_PAGE_HEAP_PAGE_H

/*
 * heap_page: a heap as one HTML file: totals, allocation sites with their stacks, live memory over
 * time with spikes and growth, leaks, sizes, lifetimes, threads. The file loads and sends nothing.
 */

struct bytes;
struct error;
struct heap_profile;

struct heap_page_options {
	const char *title; /* NULL: the title of the recording */
};

/* Appends the file to out. 0 or -ENOMEM. */
int heap_page_write(const struct heap_profile *heap, const struct heap_page_options *options,
		    struct bytes *out, struct error *err);

/* Appends the data for the script as JSON; see heap_page.c. 0 or -ENOMEM. */
int heap_page_put_data(const struct heap_profile *heap, struct bytes *out);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_PAGE_PAGE_COLUMNS_H
#define WICK_VIEW_PAGE_PAGE_COLUMNS_H

/*
 * page_columns: a profile as the page of the profiler reads it (columns.js).
 *
 * Sections follow each other, each with its size in bytes before it; all numbers are varints
 * and stand in columns, for these compress well:
 *
 *	texts      names, one on a line; others tell them by number
 *	functions  in alphabetical order: name, module, file, origin, language, hash, line,
 *	           and of their source: file + 1, first line, last line
 *	threads    pid, tid, name, name of the process
 *	nodes      of the call tree in pre-order without its root: how many levels up from below
 *	           the node before, function * 2 + inlined
 *	entries    by node, thread, state and lines: nodes to go on, thread, state, lines (see
 *	           page_lines.h), each value (zigzag)
 *	moments    of each entry: how many; then slices, from the one before; values (zigzag);
 *	           samples that go on in the next slice
 *	blocks     of each entry: how many; then slices of birth, from the one before; slices to
 *	           death + 1, 0 for none, times 2, and 1 if of pools; bytes, blocks, temporary
 *	levels     how many slices there are, how many levels; of each: kind, name, unit, process,
 *	           pid, the first slice, then levels (zigzag) from the one before
 *	lines      see page_lines.h
 *	sources    see page_source.h
 */

#include <stdbool.h>
#include <stdint.h>

struct bytes;
struct profile;
struct source_search;

/* Of a hash of a name: enough for a hue of 360, four shades of it, or three. */
#define PAGE_HASHES 1440

struct page_columns_options {
	uint32_t value; /* the main one: of this are costs of lines */
	uint32_t value_count;
	bool collapse_recursion;
	bool lines;                         /* tell what lines cost */
	const struct source_search *search; /* finds sources; NULL: they are not shown */
	uint32_t *ret_lack; /* why some were left out, an enum source_lack; NULL: nobody asks */
};

#define PAGE_SLICES 4096u /* at most */
#define PAGE_STATES 64u   /* different ones; those beyond are as the last */

/* The states of entries, as they are numbered: string ids. Returns how many there are. */
uint32_t page_columns_states(const struct profile *profile, uint32_t states[PAGE_STATES]);

/* Appends them all. 0 or -ENOMEM. */
int page_columns_put(const struct profile *profile, const struct page_columns_options *options,
		     struct bytes *out);

#endif

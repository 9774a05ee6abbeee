/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_PAGE_PAGE_COLUMNS_H
#define WICK_VIEW_PAGE_PAGE_COLUMNS_H

/*
 * page_columns: a profile in the format that the page reads (columns.js).
 *
 * Sections follow each other, each preceded by its size in bytes. All numbers are varints and
 * stored in columns, because these compress well:
 *
 *	texts      names, one per line; other sections refer to them by number
 *	functions  in alphabetical order: name, module, file, origin, language, hash, line,
 *	           and their source: file + 1, first line, last line
 *	threads    pid, tid, name, name of the process
 *	nodes      the call tree in pre-order without its root: how many levels up from below
 *	           the node before, function * 2 + inlined
 *	entries    by node, thread, state and lines: nodes to advance, thread, state, lines (see
 *	           page_lines.h), each value (zigzag)
 *	moments    for each entry: count; then slices, as deltas; values (zigzag);
 *	           samples that continue in the next slice
 *	blocks     for each entry: count; then slices of birth, as deltas; slices to
 *	           death + 1, 0 for never, times 2, plus 1 for pools; bytes, blocks, temporary
 *	levels     number of slices, number of levels; for each: kind, name, unit, process,
 *	           pid, the first slice, then levels (zigzag) as deltas
 *	lines      see page_lines.h
 *	sources    see page_source.h
 */

#include <stdbool.h>
#include <stdint.h>

struct bytes;
struct profile;
struct source_search;

/* Range of the hash of a name: enough for 360 hues with three or four shades each. */
#define PAGE_HASHES 1440

struct page_columns_options {
	uint32_t value; /* the main value: costs of lines are for this one */
	uint32_t value_count;
	bool collapse_recursion;
	bool lines;                         /* include the cost of lines */
	const struct source_search *search; /* finds source files; NULL: no source text */
	uint32_t *ret_lack; /* why source is missing, an enum source_lack; may be NULL */
};

#define PAGE_SLICES 4096u /* limit */
#define PAGE_STATES 64u   /* limit; further states count as the last one */

/* Lists the states of entries by their number, as string ids. Returns their count. */
uint32_t page_columns_states(const struct profile *profile, uint32_t states[PAGE_STATES]);

/* Appends all sections. 0 or -ENOMEM. */
int page_columns_put(const struct profile *profile, const struct page_columns_options *options,
		     struct bytes *out);

#endif

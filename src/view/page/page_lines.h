/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_PAGE_PAGE_LINES_H
#define WICK_VIEW_PAGE_PAGE_LINES_H

/*
 * page_lines: the source lines of stacks, so that a page can tell what lines cost in a part of
 * the time. They are a tree of their own beside that of functions: stacks of one path of
 * functions may go through different lines. As columns (page_columns.h):
 *
 *	how many lines; their files, then their numbers;
 *	how many nodes without the root; to their parents; their lines
 */

#include <stdint.h>

#include "base/id_index.h"
#include "base/vec.h"
#include "model/stack_tree.h"

struct bytes;
struct page_source;
struct profile;

#define PAGE_LINES_STACKS (1u << 18) /* of a profile; with more there are no lines */

struct page_line {
	uint32_t file; /* of page_source */
	uint32_t line;
};

/* All zero has none. */
struct page_lines {
	struct stack_tree tree; /* frame: line */
	VEC(struct page_line) lines;
	uint32_t *ends; /* by stack: its node * 2, and 1 if its leaf is in a line; NULL: none */

	/* private */
	struct id_index index;
};

/* Of the lines that the source has costs of. 0 or -ENOMEM; page_lines_fini() in any case. */
int page_lines_init(struct page_lines *lines, const struct profile *profile,
		    const struct page_source *source);
void page_lines_fini(struct page_lines *lines);

/* Appends the columns. */
void page_lines_put(const struct page_lines *lines, struct bytes *out);

#endif

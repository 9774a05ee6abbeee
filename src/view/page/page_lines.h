/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_PAGE_PAGE_LINES_H
#define WICK_VIEW_PAGE_PAGE_LINES_H

/*
 * page_lines: the source lines of stacks, so that a page can show the cost of lines in a time
 * range. They form a separate tree beside the call tree, because stacks with the same functions may
 * go through different lines. As columns (page_columns.h):
 *
 *	number of lines; their files, then their line numbers;
 *	number of nodes without the root; distances to their parents; their lines
 */

#include <stdint.h>

#include "base/id_index.h"
#include "base/vec.h"
#include "model/stack_tree.h"

struct bytes;
struct page_source;
struct profile;

#define PAGE_LINES_STACKS (1u << 18) /* limit: a profile with more stacks has no lines */

struct page_line {
	uint32_t file; /* index in page_source */
	uint32_t line;
};

/* All zero means no lines. */
struct page_lines {
	struct stack_tree tree; /* frame: line */
	VEC(struct page_line) lines;
	uint32_t *ends; /* by stack: node * 2, plus 1 if its leaf is in a line; NULL: none */

	/* private */
	struct id_index index;
};

/*
 * Covers the lines for which the source has costs. 0 or -ENOMEM; call page_lines_fini() in either
 * case.
 */
int page_lines_init(struct page_lines *lines, const struct profile *profile,
		    const struct page_source *source);
void page_lines_fini(struct page_lines *lines);

/* Appends the columns. */
void page_lines_put(const struct page_lines *lines, struct bytes *out);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_PAGE_PAGE_SOURCE_H
#define WICK_VIEW_PAGE_PAGE_SOURCE_H

/*
 * page_source: what source lines cost, with their text where it is at hand.
 *
 * The text is that around lines with samples, the dearest first, until there is enough of it. As
 * columns (page_columns.h):
 *
 *	how many files; of each: its name (a text); 1 when it changed since the recording, or
 *	why it has no text: an enum source_lack, plus 1; else 0;
 *	how many costs, of each: line, from the one before; self; total (zigzag);
 *	how many excerpts, of each: first line, lines. Then all their lines, one on a line
 */

#include <stdint.h>

#include "base/vec.h"

struct bytes;
struct profile;
struct source_search;

#define PAGE_SOURCE_BYTES (2u << 20) /* of text in one page, at most */

/* Where the lines of a function are. */
struct page_place {
	uint32_t file; /* among the files, plus one; 0: none */
	uint32_t first;
	uint32_t last;
};

struct page_file;

struct page_source {
	const struct profile *profile;
	VEC(struct page_file) files;
	struct page_place *places; /* by function of the profile */
	uint32_t *file_of;         /* by text of the profile: file plus one */
	size_t tried;              /* files so far */
	size_t bytes;              /* of text so far */
	uint32_t lack;             /* enum source_lack: the best reason for those without text */
};

/*
 * Finds the costs of lines by one value, and the texts of sources. Without a search (NULL) there
 * are none of these. 0 or -ENOMEM; page_source_fini() in any case.
 */
int page_source_init(struct page_source *source, const struct profile *profile, uint32_t value,
		     const struct source_search *search);
void page_source_fini(struct page_source *source);

/* Appends the columns. names has the number of the text of each file. */
void page_source_put(const struct page_source *source, const uint32_t *names, struct bytes *out);

/* The path of a file, a string id of the profile. */
uint32_t page_source_path(const struct page_source *source, size_t file);

#endif

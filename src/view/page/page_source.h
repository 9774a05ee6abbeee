/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_PAGE_PAGE_SOURCE_H
#define WICK_VIEW_PAGE_PAGE_SOURCE_H

/*
 * page_source: the cost of source lines, with their text where it is available.
 *
 * Text is included around lines with samples, the most expensive first, up to PAGE_SOURCE_BYTES. As
 * columns (page_columns.h):
 *
 *	number of files; for each: its name (a text); 1 if it changed since the recording, or
 *	why it has no text: an enum source_lack, plus 1; else 0;
 *	number of costs; for each: line, as a delta; self; total (zigzag);
 *	number of excerpts; for each: first line, lines. Then all their lines, one per line
 */

#include <stdint.h>

#include "base/vec.h"

struct bytes;
struct profile;
struct source_search;

#define PAGE_SOURCE_BYTES (2u << 20) /* limit for the text in one page */

/* Where the lines of a function are. */
struct page_place {
	uint32_t file; /* index among the files, plus one; 0: none */
	uint32_t first;
	uint32_t last;
};

struct page_file;

struct page_source {
	const struct profile *profile;
	VEC(struct page_file) files;
	struct page_place *places; /* by function of the profile */
	uint32_t *file_of;         /* by string id of the profile: file plus one */
	size_t tried;              /* files so far */
	size_t bytes;              /* of text so far */
	uint32_t lack; /* enum source_lack: the most useful reason why text is missing */
};

/*
 * Computes the costs of lines for one value and reads the source text; without a search (NULL)
 * there is no text. 0 or -ENOMEM; call page_source_fini() in either case.
 */
int page_source_init(struct page_source *source, const struct profile *profile, uint32_t value,
		     const struct source_search *search);
void page_source_fini(struct page_source *source);

/* Appends the columns. names holds the number of each file's name in the texts. */
void page_source_put(const struct page_source *source, const uint32_t *names, struct bytes *out);

/* The path of a file, a string id of the profile. */
uint32_t page_source_path(const struct page_source *source, size_t file);

#endif

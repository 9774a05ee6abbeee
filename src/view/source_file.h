/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_SOURCE_FILE_H
#define WICK_VIEW_SOURCE_FILE_H

/*
 * source_file: the lines of a source file, found by the path that debug information
 * has of it.
 *
 * In this order: with the beginning of the path replaced as the maps say, as it is, and
 * below each directory by ever less of its path: DIR/a/b.c, DIR/b.c. Only regular files
 * of a sane size are read.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source_search {
	const char *const *directories;
	size_t directory_count;
	const char *const *maps; /* "FROM=TO" */
	size_t map_count;
};

struct source_file {
	char *path;         /* where it was found */
	char *text;         /* with NULs at the ends of lines */
	const char **lines; /* the first one is line 1 */
	uint32_t line_count;
	uint64_t mtime_ns;
};

/* Returns 0, -ENOENT when there is none, or -ENOMEM. */
int source_file_find(const struct source_search *search, const char *path, struct source_file *ret);
void source_file_fini(struct source_file *file);

/* The text of a line counted from 1; NULL when the file has no such line. */
const char *source_file_line(const struct source_file *file, uint32_t line);

#endif

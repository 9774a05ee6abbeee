/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_SOURCE_FILE_H
#define WICK_VIEW_SOURCE_FILE_H

/*
 * source_file: the lines of a source file, found by the path that a profile has of it.
 *
 * In this order: with the beginning of the path replaced as the maps say, as it is, and
 * below each directory by ever less of its path: DIR/a/b.c, DIR/b.c.
 *
 * Paths are chosen by who wrote the debug information, or the file that was imported: a stranger
 * may name a file that the reader can read and the stranger cannot. So
 *
 *  - only regular files of a sane size are read, below the folder that debug information tells of
 *    (path_tree() in dwarf/path.h), a directory that the reader has named, or /usr, from where
 *    only what root owns and everybody may read. Imported names have no such folder;
 *  - unless it was asked for, nothing is read but where the recording is a file of the reader,
 *    the processes ran as the reader or root, the program and its debug files belong to one of
 *    them, and so does the source, which everybody may read if it is root's;
 *  - root reads nothing that the owner of the processes, the writer of the debug information or
 *    the caller of sudo may not read. Not known: what everybody may read. Of a named directory
 *    they matter as far as they are known.
 *
 * The reader is who runs wick, and under sudo also its caller, whose the results are.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;

struct source_search {
	const char *const *directories;
	size_t directory_count;
	const char *const *maps; /* "FROM=TO" */
	size_t map_count;
	bool is_asked; /* a person wants to see source */
};

/* Why the text of a file is not there, the better reason last. */
enum source_lack {
	SOURCE_LACK_NONE,
	SOURCE_LACK_FILE,    /* there is none */
	SOURCE_LACK_FOLDER,  /* it is in no folder that sources are read from */
	SOURCE_LACK_REQUEST, /* it was not asked for */
	SOURCE_LACK_RIGHTS,  /* others have to do with it who may not read it */
	SOURCE_LACKS,
};

struct source_file {
	char *path;         /* where it was found */
	char *text;         /* with NULs at the ends of lines */
	const char **lines; /* the first one is line 1 */
	uint32_t line_count;
	uint64_t mtime_ns;
	enum source_lack lack; /* of one that was not found */
};

/*
 * Finds the file of a path (a string id of the profile). Returns 0, -ENOENT when there is none,
 * with nothing but the reason in *ret, or -ENOMEM.
 */
int source_file_find(const struct source_search *search, const struct profile *profile,
		     uint32_t path, struct source_file *ret);
void source_file_fini(struct source_file *file);

/* One line for people: why it is left out, and how to get it. NULL for the first two. */
const char *source_lack_text(enum source_lack lack);

/* The text of a line counted from 1; NULL when the file has no such line. */
const char *source_file_line(const struct source_file *file, uint32_t line);

#endif

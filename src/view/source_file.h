/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_SOURCE_FILE_H
#define WICK_VIEW_SOURCE_FILE_H

/*
 * source_file: the lines of a source file, found by its path in a profile.
 *
 * The file is searched in this order: with the start of the path replaced according to the maps; at
 * the path itself; below each directory, by ever shorter ends of the path: DIR/a/b.c, DIR/b.c.
 *
 * Whoever wrote the debug information or the imported file chose the paths, so a stranger may name
 * a file that the reader can read and the stranger cannot. Therefore
 *
 *  - only regular files of a limited size are read, below the compilation directory in the debug
 *    information (path_tree() in dwarf/source_path.h), a directory that the reader has given, or
 *    /usr, and there only files that root owns and everybody can read. Imported names have no
 *    compilation directory. Scripts have none either: those that an interpreter named are read
 *    if their file name is that of a script (load/names/script_folder.h), with the user of the
 *    process as the writer. A process of root may have become any user: what it names is read
 *    only if everybody can read it;
 *  - unless the user asked for source, it is read only if the recording is a file of the reader,
 *    the processes ran as the reader or root, and the program, its debug files and the source
 *    belong to one of them; a source of root must be readable by everybody;
 *  - root reads nothing that the owner of the processes, the writer of the debug information or the
 *    caller of sudo cannot read. If one of these is unknown, only what everybody can read. In a
 *    directory that the reader has given, unknown ones are ignored.
 *
 * The reader is the user who runs wick, and under sudo also its caller, who owns the results.
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
	bool is_asked; /* the user asked for source */
};

/* Why the text of a file is missing, the most useful reason last. */
enum source_lack {
	SOURCE_LACK_NONE,
	SOURCE_LACK_FILE,    /* no such file */
	SOURCE_LACK_FOLDER,  /* not in a folder that sources are read from */
	SOURCE_LACK_REQUEST, /* the user did not ask for it */
	SOURCE_LACK_RIGHTS,  /* another user who is involved cannot read it */
	SOURCE_LACKS,
};

struct source_file {
	char *path;         /* where it was found */
	char *text;         /* with NULs at the ends of lines */
	const char **lines; /* lines[0] is line 1 */
	uint32_t line_count;
	uint64_t mtime_ns;
	enum source_lack lack; /* if it was not found */
};

/*
 * Finds the file of a path (a string id of the profile). Returns 0, -ENOENT with only the reason
 * set in *ret, or -ENOMEM.
 */
int source_file_find(const struct source_search *search, const struct profile *profile,
		     uint32_t path, struct source_file *ret);
void source_file_fini(struct source_file *file);

/* One line for the user: why source is left out, and how to include it. NULL for the first two. */
const char *source_lack_text(enum source_lack lack);

/* The text of a line, counted from 1; NULL: no such line. */
const char *source_file_line(const struct source_file *file, uint32_t line);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_DWARF_SOURCE_PATH_H
#define WICK_DWARF_SOURCE_PATH_H

#include <stdint.h>

/* source_path: source file names, joined from the parts in which DWARF stores them. */

struct arena;

/*
 * Joins up to three parts (NULL: absent); an absolute part discards those before it. "//", "/./"
 * and "dir/.." are removed. The text is kept in arena; NULL if out of memory.
 */
const char *path_join(struct arena *arena, const char *comp_dir, const char *directory,
		      const char *name);

#define PATH_TREE_MAX 4095u

/*
 * The length of the folder whose sources an absolute path belongs to: the compilation directory;
 * /usr, where systems keep headers and sources; or, if it was built beside its sources, the common
 * part of path and directory if that is at least two names deep. 0: none of these, so there is no
 * reason to trust and read the file. Both are as path_join() makes them.
 */
uint32_t path_tree(const char *comp_dir, const char *path);

#endif

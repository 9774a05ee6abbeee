/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_DWARF_PATH_H
#define WICK_DWARF_PATH_H

#include <stdint.h>

/* path: names of source files, joined from the parts in which DWARF keeps them. */

struct arena;

/*
 * Joins up to three parts (NULL: not there); an absolute one makes those before it
 * void. "//", "/./" and "dir/.." are taken out. The text is kept in arena; NULL
 * without memory.
 */
const char *path_join(struct arena *arena, const char *comp_dir, const char *directory,
		      const char *name);

#define PATH_TREE_MAX 4095u

/*
 * How many bytes of an absolute path are the folder whose sources it belongs to: the compilation
 * directory; /usr, where systems keep headers and sources; or, when it was built beside its
 * sources, what path and directory have in common, if that is two names deep or more. 0: none of
 * them, so nothing is said for reading it. Both are as path_join() makes them.
 */
uint32_t path_tree(const char *comp_dir, const char *path);

#endif

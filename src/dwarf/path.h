/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_DWARF_PATH_H
#define WICK_DWARF_PATH_H

/* path: names of source files, joined from the parts in which DWARF keeps them. */

struct arena;

/*
 * Joins up to three parts (NULL: not there); an absolute one makes those before it
 * void. "//", "/./" and "dir/.." are taken out. The text is kept in arena; NULL
 * without memory.
 */
const char *path_join(struct arena *arena, const char *comp_dir, const char *directory,
		      const char *name);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_DEBUG_INFO_H
#define WICK_SYMBOL_DEBUG_INFO_H

/*
 * debug_info: opens the debug information of a module's file and finds the files that it is split
 * into: dwz's common file, .dwp and .dwo files.
 *
 * Their names come from the file and are not trusted: a common file must have the expected build
 * id, a split unit its id; only regular files are opened.
 */

#include <stdbool.h>

#include "symbol/symbol_writer.h"

struct dwarf;
struct elf_file;
struct debug_info;

/*
 * Takes over elf, which was opened as path. NULL without debug information or memory. The caller
 * releases it with debug_info_free().
 */
struct debug_info *debug_info_open(struct elf_file *elf, const char *path);
void debug_info_free(struct debug_info *info); /* NULL is fine */

struct dwarf *debug_info_dwarf(struct debug_info *info);
/* Whether the other files were written by anybody but the first one's owner, root, or us. */
bool debug_info_is_mixed(const struct debug_info *info);

/* Who wrote the files that were found so far, except the first. */
struct symbol_writer debug_info_writer(const struct debug_info *info);

#endif

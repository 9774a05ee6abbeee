/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_DEBUG_INFO_H
#define WICK_SYMBOL_DEBUG_INFO_H

/*
 * debug_info: opens the debug information of a module's file and finds the files
 * that it is spread over: dwz's common file, .dwp and .dwo files.
 *
 * Their names come from the file and are not trusted: a common file must have the
 * build id that is asked for, a split unit its id; only regular files are opened.
 */

#include <stdbool.h>

#include "symbol/symbol_writer.h"

struct dwarf;
struct elf_file;
struct debug_info;

/*
 * Takes elf over, which was opened as path. NULL when it has no debug information
 * or memory ran out. The caller releases it with debug_info_free().
 */
struct debug_info *debug_info_open(struct elf_file *elf, const char *path);
void debug_info_free(struct debug_info *info); /* NULL is fine */

struct dwarf *debug_info_dwarf(struct debug_info *info);
/* Whether what was opened besides is not the work of the first one's owner, root, or us alone. */
bool debug_info_is_mixed(const struct debug_info *info);

/* Who wrote the files that were found so far, without the first. */
struct symbol_writer debug_info_writer(const struct debug_info *info);

#endif

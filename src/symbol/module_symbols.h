/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_MODULE_SYMBOLS_H
#define WICK_SYMBOL_MODULE_SYMBOLS_H

/*
 * module_symbols: finds the files that hold the symbols of one module.
 *
 * A file is believed only when it is the one that was recorded: by build id,
 * or without one by what is known of device, inode, time and size. A wrong name
 * is worse than none.
 */

#include <stddef.h>

struct elf_file;
struct elf_symbols;
struct module;

#define MODULE_SYMBOL_TABLES 2

struct module_symbols {
	/* Searched in this order: a debug file's (if any), then the module's own. */
	struct elf_symbols *tables[MODULE_SYMBOL_TABLES];
	size_t table_count;
	/* The file with debug information, for whoever takes it; NULL when there is none. */
	struct elf_file *debug;
	char *debug_path;
	char problem[160]; /* why names are missing; "" when all is well */
};

struct symbol_search {
	const char *const *paths; /* directories or files to look in besides the usual ones */
	size_t path_count;
};

/* Never fails: what could not be had is told in the problem. */
void module_symbols_init(struct module_symbols *symbols, const struct module *module,
			 const struct symbol_search *search);
void module_symbols_fini(struct module_symbols *symbols);

#endif

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
#include <stdint.h>

#include "symbol/symbol_writer.h"

struct data_symbols;
struct elf_file;
struct elf_symbols;
struct go_lines;
struct module;
struct symbol_search;

#define MODULE_SYMBOL_TABLES 2

enum symbols_lack {
	SYMBOLS_LACK_NOTHING,
	SYMBOLS_LACK_LINES, /* all names, but no debug information; not a problem */
	SYMBOLS_LACK_NAMES, /* stripped */
	SYMBOLS_LACK_FILE,  /* there is none, or another one */
	SYMBOLS_LACK_SENSE, /* it is damaged */
};

struct module_symbols {
	/* Searched in this order: a debug file's (if any), then the module's own. */
	struct elf_symbols *tables[MODULE_SYMBOL_TABLES];
	size_t table_count;
	/* The file with debug information, for whoever takes it; NULL when there is none. */
	struct elf_file *debug;
	char *debug_path;
	struct symbol_writer writer; /* of all that was opened */
	struct go_lines *go;         /* lines of a Go program without debug information; or NULL */
	enum symbols_lack lack;
	char problem[160]; /* why names are missing; "" when all is well */
};

/* Never fails: what could not be had is told in the problem. */
void module_symbols_init(struct module_symbols *symbols, const struct module *module,
			 uint32_t module_id, const struct symbol_search *search);
void module_symbols_fini(struct module_symbols *symbols);

/* The variables of a module, of the same files; none where they cannot be had. */
void module_symbols_read_data(const struct module *module, uint32_t module_id,
			      const struct symbol_search *search, struct data_symbols *ret);

#endif

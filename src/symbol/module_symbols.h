/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_MODULE_SYMBOLS_H
#define WICK_SYMBOL_MODULE_SYMBOLS_H

/*
 * module_symbols: finds the files with the symbols of one module.
 *
 * A file is used only if it is the one that was recorded: it has the same build id or, without one,
 * the same device, inode, time and size as far as they are known. A wrong name is worse than none.
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
	SYMBOLS_LACK_FILE,  /* missing, or another file */
	SYMBOLS_LACK_SENSE, /* it is damaged */
};

struct module_symbols {
	/* Searched in this order: the debug file's (if any), then the module's own. */
	struct elf_symbols *tables[MODULE_SYMBOL_TABLES];
	size_t table_count;
	/* The file with debug information, which the caller may take; NULL without one. */
	struct elf_file *debug;
	char *debug_path;
	struct symbol_writer writer; /* of all files that were opened */
	struct go_lines *go;         /* lines of a Go program without debug information; or NULL */
	enum symbols_lack lack;
	char problem[160]; /* why names are missing; "" if none are */
};

/*
 * Never fails: what could not be read is described in problem. search is NULL if another process
 * did not survive reading it: then nothing is read.
 */
void module_symbols_init(struct module_symbols *symbols, const struct module *module,
			 uint32_t module_id, const struct symbol_search *search);
void module_symbols_fini(struct module_symbols *symbols);

/* The variables of a module, from the same files; none if they cannot be read. */
void module_symbols_read_data(const struct module *module, uint32_t module_id,
			      const struct symbol_search *search, struct data_symbols *ret);

#endif

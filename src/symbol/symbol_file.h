/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_SYMBOL_FILE_H
#define WICK_SYMBOL_SYMBOL_FILE_H

/*
 * symbol_file: the functions of a module as a small ELF file: its build id, and a symbol table with
 * the name, start and size of each function that has a name. No code, no data, no variables and no
 * debug information. Whatever reads debug files reads it too.
 *
 * Agents send it to a server. The server reads what was sent, and keeps a file that it writes
 * itself.
 */

#include <stddef.h>
#include <stdint.h>

struct build_id;
struct bytes;
struct elf_symbols;
struct error;

/* Functions with longer names are left out. */
#define SYMBOL_FILE_NAME_MAX (16u << 10)

struct symbol_file_source {
	const struct elf_symbols *const *tables; /* of one module */
	size_t table_count;
	const struct build_id *build_id;
	uint16_t machine; /* EM_AARCH64 … */
};

/*
 * Appends the file. Returns the number of its functions, or -ENOENT if there is none with a name,
 * -EFBIG if it would have more than max_bytes, -ENOMEM.
 */
int symbol_file_make(const struct symbol_file_source *source, size_t max_bytes, struct bytes *ret,
		     struct error *err);

#endif

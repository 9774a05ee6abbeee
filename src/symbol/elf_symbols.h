/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_ELF_SYMBOLS_H
#define WICK_SYMBOL_ELF_SYMBOLS_H

/*
 * elf_symbols: which function of one ELF file contains an address.
 *
 * Built once from .symtab (or .gnu_debugdata, its compressed substitute), .dynsym, .gopclntab of
 * stripped Go programs, the relocations of procedure linkage tables ("malloc@plt") and .eh_frame,
 * which shows where functions without symbols are. After that it is read-only and independent of
 * the file; several threads may search it.
 *
 * If symbols share an address, the best one names it: functions before ifuncs before untyped
 * symbols, sized before sizeless, global before weak before local, fewer leading underscores,
 * shorter, then alphabetically. A function inside another one owns its range; a label inside one
 * does not. A sizeless symbol ends at the next symbol, at the end of its section or at the end of
 * the function that .eh_frame has there. An address that no symbol covers has no name: the nearest
 * symbol is never guessed. The symbol of an ifunc names the code that chooses the function:
 * "memcpy@ifunc".
 */

#include <stdbool.h>
#include <stdint.h>

struct cache_dir;
struct elf_file;
struct elf_symbols;
struct error;

#define ELF_SYMBOL_NONE UINT32_MAX

struct elf_symbol {
	const char *name; /* "" for a function without a name; owned by the elf_symbols */
	uint64_t start;
	uint64_t size;
};

/*
 * Reads the symbols of a linked file; one without any gives an empty table.
 * The caller releases *ret with elf_symbols_free().
 */
int elf_symbols_read(struct elf_file *elf, struct elf_symbols **ret, struct error *err);

/*
 * The same without .gnu_debugdata, for files of strangers: what is inflated may be a thousand times
 * as large as the file.
 */
int elf_symbols_read_plain(struct elf_file *elf, struct elf_symbols **ret, struct error *err);

/*
 * The same with a cache directory: a large table is read from there where it is needed, and is
 * written there if it is missing. cache may be NULL.
 */
int elf_symbols_read_cached(struct elf_file *elf, struct cache_dir *cache, struct elf_symbols **ret,
			    struct error *err);
void elf_symbols_free(struct elf_symbols *symbols); /* NULL is fine */

uint32_t elf_symbols_count(const struct elf_symbols *symbols);
/*
 * Whether the file has symbols: without them it may still have linkage tables and nameless
 * functions.
 */
bool elf_symbols_have_names(const struct elf_symbols *symbols);

/* The symbol that contains vaddr, an index below the count, or ELF_SYMBOL_NONE. */
uint32_t elf_symbols_find(const struct elf_symbols *symbols, uint64_t vaddr);

/* i is below the count. The name is valid until the next call if the table is in a cache. */
struct elf_symbol elf_symbols_at(const struct elf_symbols *symbols, uint32_t i);

#endif

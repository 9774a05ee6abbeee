/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_ELF_SYMBOLS_H
#define WICK_SYMBOL_ELF_SYMBOLS_H

/*
 * elf_symbols: which function of one ELF file holds an address.
 *
 * Built once from .symtab and .dynsym, read-only and free of the file after
 * that; several threads may search it.
 *
 * Where symbols share an address the best one names it: functions before
 * ifuncs before untyped symbols, sized before sizeless, global before weak
 * before local, fewer leading underscores, shorter, then by the alphabet. A
 * function inside another one owns its range; a label inside one does not. A
 * sizeless symbol reaches to the next symbol or the end of its section. What no
 * symbol covers belongs to none: there is no nearest guess.
 */

#include <stdint.h>

struct elf_file;
struct elf_symbols;
struct error;

#define ELF_SYMBOL_NONE UINT32_MAX

struct elf_symbol {
	const char *name; /* as in the file; owned by the elf_symbols */
	uint64_t start;
	uint64_t size;
};

/*
 * Reads the symbols of a linked file; one without any gives an empty table.
 * The caller releases *ret with elf_symbols_free().
 */
int elf_symbols_read(struct elf_file *elf, struct elf_symbols **ret, struct error *err);
void elf_symbols_free(struct elf_symbols *symbols); /* NULL is fine */

uint32_t elf_symbols_count(const struct elf_symbols *symbols);

/* The symbol that holds vaddr, an index below the count, or ELF_SYMBOL_NONE. */
uint32_t elf_symbols_find(const struct elf_symbols *symbols, uint64_t vaddr);

/* i is below the count. */
struct elf_symbol elf_symbols_at(const struct elf_symbols *symbols, uint32_t i);

#endif

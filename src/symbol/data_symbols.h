/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_DATA_SYMBOLS_H
#define WICK_SYMBOL_DATA_SYMBOLS_H

/*
 * data_symbols: which variable of one module contains an address: STT_OBJECT symbols with a size,
 * from .symtab and .dynsym. Starts as zeros.
 *
 * If several contain an address, the smallest names it; of equal ones, the one with fewer leading
 * underscores, then the shorter. An address that no symbol covers has no name.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/vec.h"

struct elf_file;

struct data_symbol {
	uint64_t start;
	uint64_t size;
	uint64_t name; /* offset in the names */
};

struct data_symbols {
	VEC(struct data_symbol) items;
	struct bytes names;
};

/* Adds the symbols of a linked file. Damaged ones are left out. 0 or -ENOMEM. */
int data_symbols_add(struct data_symbols *symbols, struct elf_file *elf);
/* Call it before data_symbols_find(). */
void data_symbols_sort(struct data_symbols *symbols);
void data_symbols_fini(struct data_symbols *symbols);

/* The linker name of the variable at vaddr, or NULL; and the offset of vaddr in it. */
const char *data_symbols_find(const struct data_symbols *symbols, uint64_t vaddr,
			      uint64_t *ret_offset);

#endif

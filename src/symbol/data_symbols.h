/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_DATA_SYMBOLS_H
#define WICK_SYMBOL_DATA_SYMBOLS_H

/*
 * data_symbols: which variable of one module holds an address: STT_OBJECT symbols with a size,
 * of .symtab and .dynsym. Starts as zeros.
 *
 * Where several have an address the smallest names it, of equal ones the one with fewer leading
 * underscores, then the shorter. What no symbol covers belongs to none.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/vec.h"

struct elf_file;

struct data_symbol {
	uint64_t start;
	uint64_t size;
	uint64_t name; /* where it begins among the names */
};

struct data_symbols {
	VEC(struct data_symbol) items;
	struct bytes names;
};

/* Adds those of a linked file. What is damaged is left out. 0 or -ENOMEM. */
int data_symbols_add(struct data_symbols *symbols, struct elf_file *elf);
/* To be called before anything is looked for. */
void data_symbols_sort(struct data_symbols *symbols);
void data_symbols_fini(struct data_symbols *symbols);

/* The linker's name of what is at vaddr, NULL for none; and how far inside it that is. */
const char *data_symbols_find(const struct data_symbols *symbols, uint64_t vaddr,
			      uint64_t *ret_offset);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_GO_GO_FUNCTIONS_H
#define WICK_SYMBOL_GO_GO_FUNCTIONS_H

/*
 * go_functions: names of the functions of a stripped Go program, from the table that its runtime
 * needs for tracebacks (.gopclntab of Go 1.16 and later, 64-bit).
 *
 * The table is not trusted: offsets are checked, names are limited.
 */

#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct symbol_list;

/* Adds a symbol for each function. 0 or -ENOMEM; damaged ones are left out. */
int go_functions_add(struct elf_file *elf, struct symbol_list *list);

/* The same from the bytes of the table; text_vaddr is the address of .text. */
int go_functions_parse(const void *data, size_t size, uint64_t text_vaddr, uint64_t text_size,
		       struct symbol_list *list);

#endif

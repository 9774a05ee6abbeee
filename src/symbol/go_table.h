/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_GO_TABLE_H
#define WICK_SYMBOL_GO_TABLE_H

/*
 * go_table: the table that the runtime of Go programs needs for tracebacks, which is in
 * stripped ones too (.gopclntab of Go 1.16 and later, 64-bit): functions by address, their
 * names, files and lines.
 *
 * Its bytes are hostile: each offset is checked where it is used.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;

struct go_table {
	const uint8_t *data;
	size_t size;
	uint64_t count; /* of functions */
	uint64_t text;  /* what starts count from */
	/* Offsets in the data. */
	uint64_t names;
	uint64_t units;  /* for each unit its files, as offsets in files */
	uint64_t files;  /* texts */
	uint64_t values; /* tables of values by address */
	uint64_t functab;
	size_t word_bytes; /* of functab */
	uint8_t step;      /* instructions are multiples of that */
};

/* Reads the head; text_vaddr is where .text lies. The table borrows the data. */
bool go_table_init(struct go_table *table, const void *data, size_t size, uint64_t text_vaddr);

/* Reads the section of a file. 0, or -ENOENT without one; the caller frees *ret_data. */
int go_table_read(struct elf_file *elf, void **ret_data, size_t *ret_size, uint64_t *ret_text,
		  uint64_t *ret_text_size);

/* Where function i (at most count) starts; those after the last one end there. */
uint64_t go_table_start(const struct go_table *table, uint64_t i);

/* n bytes of the description of function i (below count) from at on, NULL when it is cut. */
const uint8_t *go_table_function(const struct go_table *table, uint64_t i, uint64_t at, size_t n);

/* The text at an offset of a part that begins at base; NULL when it has no end or is empty. */
const char *go_table_text(const struct go_table *table, uint64_t base, uint64_t offset);

#endif

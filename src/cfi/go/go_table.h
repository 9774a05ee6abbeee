/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_GO_GO_TABLE_H
#define WICK_CFI_GO_GO_TABLE_H

/*
 * go_table: the table that the Go runtime needs for tracebacks, which even stripped programs have
 * (.gopclntab of Go 1.16 and later, 64-bit): functions by address, their names, frames, files and
 * lines.
 *
 * Its bytes are not trusted: each offset is checked where it is used.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

struct elf_file;

/* Offsets in the description of a function, after its start. */
enum {
	GO_FUNCTION_SP = 12,   /* u32 each: offsets of value tables, see go_values_of() */
	GO_FUNCTION_FILE = 16, /* the number of the file */
	GO_FUNCTION_LINE = 20,
	GO_FUNCTION_UNIT = 28, /* u32 */
};

struct go_table {
	const uint8_t *data;
	size_t size;
	uint64_t count; /* of functions */
	uint64_t text;  /* base of the functions' starts */
	/* Offsets in the data. */
	uint64_t names;
	uint64_t units;  /* for each unit its files, as offsets in files */
	uint64_t files;  /* texts */
	uint64_t values; /* tables of values by address */
	uint64_t functab;
	size_t word_bytes; /* of functab entries */
	size_t flags_at;   /* of functions, after their start */
	uint8_t step;      /* instruction sizes are multiples of it */
	bool text_is_guessed;
};

#define GO_FLAG_TOP_FRAME 1u /* a stack begins there */
#define GO_FLAG_SP_WRITE 2u  /* it switches to another stack */

/* A value for a range of instructions of a function, relative to its start. */
struct go_values {
	struct cursor in;
	uint64_t start;
	uint64_t end;
	int64_t value;
	uint8_t step;
};

/* Reads the header; text_vaddr is the address of .text. The table borrows the data. */
bool go_table_init(struct go_table *table, const void *data, size_t size, uint64_t text_vaddr);

/* Reads the section of a file. 0, or -ENOENT without one; the caller frees *ret_data. */
int go_table_read(struct elf_file *elf, void **ret_data, size_t *ret_size, uint64_t *ret_text,
		  uint64_t *ret_text_size);

/* Where function i starts. i may be count: that is where the last function ends. */
uint64_t go_table_start(const struct go_table *table, uint64_t i);

/* n bytes of the description of function i (below count) from at on, NULL if truncated. */
const uint8_t *go_table_function(const struct go_table *table, uint64_t i, uint64_t at, size_t n);

/* The name of function i, NULL if it is damaged. */
const char *go_table_name(const struct go_table *table, uint64_t i);

/* The values in one of a function's tables; none if it is damaged. */
struct go_values go_values_of(const struct go_table *table, uint32_t offset);
/* Advances to the first or next range; false after the last one. */
bool go_values_next(struct go_values *values);

/* The text at an offset from base; NULL if it is unterminated or empty. */
const char *go_table_text(const struct go_table *table, uint64_t base, uint64_t offset);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_DWARF_LINE_PROGRAM_H
#define WICK_DWARF_LINE_PROGRAM_H

/*
 * line_program: runs the opcodes of a line program. line.c reads the header and turns the rows into
 * a table.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line_state {
	uint64_t address;
	uint64_t file;
	uint32_t line;
	uint64_t column;
	bool is_statement, prologue_end, epilogue_begin, end_sequence;
};

struct line_program {
	const uint8_t *at, *end; /* opcodes */
	uint8_t address_bytes;
	uint8_t minimum_length; /* of an instruction */
	uint8_t operations;     /* per instruction; more than 1 in VLIW code */
	bool default_statement;
	int8_t line_base;
	uint8_t line_range;
	uint8_t opcode_base;
	const uint8_t *opcode_lengths; /* opcode_base - 1 of them */
};

/* Called for each row; false ends the run. */
typedef bool line_row_fn(void *self, const struct line_state *state);

/* Runs until the end or the first damage. */
void line_program_run(const struct line_program *program, line_row_fn *row, void *self);

#endif

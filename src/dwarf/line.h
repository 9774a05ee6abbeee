/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_DWARF_LINE_H
#define WICK_DWARF_LINE_H

/*
 * line: which line of which file an address belongs to.
 *
 * A unit's line program is run once into sorted rows of twelve bytes. Sequences of code that the
 * linker discarded are left out, and so are sequences whose addresses go backwards.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwarf/unit.h"

struct arena;

struct line_row {
	uint32_t line; /* LINE_NONE: no code from here on */
	uint16_t file;
	uint16_t column; /* 0 when unknown or above 65535 */
};

#define LINE_NONE UINT32_MAX

struct line_file {
	struct value name; /* inline text: its offset in the section */
	uint64_t directory;
	const char *path; /* whole, once requested */
	uint32_t tree;    /* of the path, see path_tree() */
};

struct line_table {
	struct unit *unit; /* whose section, directories and names are used */
	uint8_t version;
	uint64_t base;       /* addresses are stored as distances from here */
	uint32_t *addresses; /* sorted */
	struct line_row *rows;
	size_t count;
	struct line_file *files; /* by the numbers that rows use */
	size_t file_count, file_capacity;
	struct value *directories;
	size_t directory_count, directory_capacity;
	size_t bytes; /* memory used, roughly */
};

/* More about one row, on request. */
struct line_details {
	uint64_t low, high; /* addresses of the row */
	bool is_statement, prologue_end, epilogue_begin;
};

/*
 * Reads the unit's table: file names and, unless names_only, rows. The caller releases ret with
 * line_table_fini(). A damaged program gives the rows up to the damage; -EBADMSG without a header.
 */
int line_table_read(struct line_table *ret, struct unit *unit, bool names_only);
void line_table_fini(struct line_table *table);

/* The row that contains address, NULL if none does. */
const struct line_row *line_table_find(const struct line_table *table, uint64_t address);

/* The whole path of a file, kept in arena; NULL when there is no such file. */
const char *line_table_path(struct line_table *table, uint64_t file, struct arena *arena,
			    uint32_t *ret_tree);

/* All rows of a unit in order; starts as zeros. */
struct line_marks {
	struct line_details *items;
	size_t count, capacity;
	bool is_read;
};

/*
 * Runs the program again for what rows do not contain. A damaged program gives the rows up to the
 * damage; -ENOMEM.
 */
int line_marks_read(struct line_marks *ret, struct unit *unit);
void line_marks_fini(struct line_marks *marks);

/* The row that contains address, NULL if none does. */
const struct line_details *line_marks_find(const struct line_marks *marks, uint64_t address);

#endif

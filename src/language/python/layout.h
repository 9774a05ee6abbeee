/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LANGUAGE_PYTHON_LAYOUT_H
#define WICK_LANGUAGE_PYTHON_LAYOUT_H

/*
 * layout: the offsets of the CPython structures that wick reads. There are tables for 3.9 to 3.12.
 * Since 3.13 the interpreter describes itself (_Py_DebugOffsets), and the tables only hold the
 * position of each offset in that description.
 */

#include <stdint.h>

#include "unwind/python_layout.h"

struct python_reader;

/* The format of a code object's line table. */
enum python_lines {
	PYTHON_LINES_3_9,
	PYTHON_LINES_3_10,
	PYTHON_LINES_3_11, /* and later */
};

/* Offsets of members of a code object, and of the characters of its strings. */
struct python_code_layout {
	uint16_t name;
	uint16_t file;
	uint16_t first_line;
	uint16_t lines;
	uint16_t ascii_bytes;   /* header size of a string whose characters are all ASCII */
	uint16_t unicode_bytes; /* header size of other strings */
	uint16_t line_format;   /* enum python_lines */
};

/* All members that are read are within this many bytes of the code object's start. */
#define PYTHON_CODE_HEAD 192u

struct python_structs {
	struct python_layout frames;
	struct python_code_layout code;
};

/*
 * Finds the layout of the interpreter whose _PyRuntime is at `runtime`. `version` is its
 * PY_VERSION_HEX, or as much of it as is known. The reader is only used for 3.13 and later. Returns
 * 0, or -ENOTSUP if the layout is unknown; *ret_why then says why.
 */
int python_structs_find(uint32_t version, uint64_t runtime, const struct python_reader *reader,
			struct python_structs *ret, const char **ret_why);

#endif

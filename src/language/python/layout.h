/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LANGUAGE_PYTHON_LAYOUT_H
#define WICK_LANGUAGE_PYTHON_LAYOUT_H

/*
 * layout: where CPython keeps what a profile shows, by version: tables for 3.9 to 3.12; since 3.13
 * the interpreter describes itself (_Py_DebugOffsets), and only the place of each number in that
 * description depends on the version.
 */

#include <stdint.h>

#include "unwind/python_layout.h"

struct python_reader;

/* How a code object stores its lines. */
enum python_lines {
	PYTHON_LINES_3_9,
	PYTHON_LINES_3_10,
	PYTHON_LINES_3_11, /* and later */
};

/* The members of a code object, and of the strings that it refers to. */
struct python_code_layout {
	uint16_t name;
	uint16_t file;
	uint16_t first_line;
	uint16_t lines;
	uint16_t ascii_bytes;   /* of a string before its characters, if all are ASCII */
	uint16_t unicode_bytes; /* the same for other strings */
	uint16_t line_format;   /* enum python_lines */
};

/* All of a code object that is read is within this many bytes of its start. */
#define PYTHON_CODE_HEAD 192u

struct python_structs {
	struct python_layout frames;
	struct python_code_layout code;
};

/*
 * The layout of an interpreter whose _PyRuntime is at an address; version is its PY_VERSION_HEX, or
 * as much as is known of it. Only newer versions are read from. -ENOTSUP if it is unknown; *ret_why
 * then says why.
 */
int python_structs_find(uint32_t version, uint64_t runtime, const struct python_reader *reader,
			struct python_structs *ret, const char **ret_why);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LANGUAGE_PYTHON_LAYOUT_H
#define WICK_LANGUAGE_PYTHON_LAYOUT_H

/*
 * layout: the offsets of the CPython structures that wick reads. There are tables for 3.9 to 3.12.
 * Since 3.13 the interpreter describes itself (_Py_DebugOffsets), and the tables only hold the
 * position of each offset in that description.
 */

#include <stdbool.h>
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

/* Where instances of ordinary classes have their attributes. */
enum python_attributes {
	PYTHON_ATTRIBUTES_DICT,   /* in a dictionary, at an offset that their class states */
	PYTHON_ATTRIBUTES_BEFORE, /* in an array or a dictionary; pointers before the object (3.11)
				   */
	PYTHON_ATTRIBUTES_TAGGED, /* one pointer before the object; the lowest bit: an array (3.12)
				   */
	PYTHON_ATTRIBUTES_INSIDE, /* in the object, or in a dictionary (since 3.13) */
};

/* Offsets that lead to the objects of the program's threads. */
struct python_object_layout {
	uint16_t modules;    /* of an interpreter; 0: the objects are not read */
	uint16_t class_keys; /* of a class: the names of its instances' attributes */
	uint16_t values;     /* of an array of attributes: the first one */
	uint8_t attributes;  /* enum python_attributes */
	bool small_keys;     /* dictionaries of strings store no hashes (since 3.11) */
	uint8_t digit_shift; /* of the word with the number of digits of an integer */
};

struct python_structs {
	struct python_layout frames;
	struct python_code_layout code;
	struct python_object_layout objects;
};

/*
 * Finds the layout of the interpreter whose _PyRuntime is at `runtime`. `version` is its
 * PY_VERSION_HEX, or as much of it as is known. The reader is only used for 3.13 and later. Returns
 * 0, or -ENOTSUP if the layout is unknown; *ret_why then says why.
 */
int python_structs_find(uint32_t version, uint64_t runtime, const struct python_reader *reader,
			struct python_structs *ret, const char **ret_why);

#endif

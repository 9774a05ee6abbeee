/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LANGUAGE_PYTHON_CODE_H
#define WICK_LANGUAGE_PYTHON_CODE_H

/*
 * code: copies a code object of a process: its name, its file, and the line of each instruction.
 *
 * The memory is not trusted: lengths are limited, and bad contents lead to wrong names or lines,
 * but to nothing worse.
 */

#include <stddef.h>
#include <stdint.h>

struct python_code_layout;
struct python_reader;

/* Longer names and line tables are truncated. */
#define PYTHON_NAME_MAX 1024u
#define PYTHON_FILE_MAX 4096u
#define PYTHON_LINES_MAX (1u << 20)

struct python_code {
	char *name; /* UTF-8; NULL: internal to the interpreter, not a function */
	char *file;
	uint8_t *lines;
	size_t line_bytes;
	uint32_t first_line;
	uint32_t line_format; /* enum python_lines */
};

/*
 * Pointers and first line of a code object. They tell it apart from another code object that is
 * later allocated at the same address.
 */
struct python_code_key {
	uint64_t name;
	uint64_t file;
	uint64_t lines;
	uint64_t first_line;
};

/* Returns 0, or -EFAULT if it cannot be read. */
int python_code_key(const struct python_code_layout *layout, const struct python_reader *reader,
		    uint64_t address, struct python_code_key *ret);

/*
 * Copies a code object. Returns 0, -EFAULT if it cannot be read, -EINVAL if it is not a code
 * object, or -ENOMEM. The caller releases *ret with python_code_fini().
 */
int python_code_read(const struct python_code_layout *layout, const struct python_reader *reader,
		     const struct python_code_key *key, struct python_code *ret);
void python_code_fini(struct python_code *code);

/*
 * Returns the line of the instruction with this index, or 0 if there is none. An instruction that
 * has no line, because the compiler added it, gets the line of the instruction before it.
 */
uint32_t python_code_line(const struct python_code *code, uint32_t index);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LANGUAGE_PYTHON_CODE_H
#define WICK_LANGUAGE_PYTHON_CODE_H

/*
 * code: a code object of a process, copied: its name, its file, and the line of each instruction.
 *
 * Nothing that is read is trusted: lengths are bounded, and whatever else the memory contains gives
 * other names or lines, nothing worse.
 */

#include <stddef.h>
#include <stdint.h>

struct python_code_layout;
struct python_reader;

/* Longer names and line tables are cut. */
#define PYTHON_NAME_MAX 1024u
#define PYTHON_FILE_MAX 4096u
#define PYTHON_LINES_MAX (1u << 20)

struct python_code {
	char *name; /* UTF-8; NULL: the interpreter's own, not a function */
	char *file;
	uint8_t *lines;
	size_t line_bytes;
	uint32_t first_line;
	uint32_t line_format; /* enum python_lines */
};

/*
 * What a code object refers to: it differs from that of another one that was later put at the same
 * address. False if it cannot be read.
 */
struct python_code_key {
	uint64_t name;
	uint64_t file;
	uint64_t lines;
	uint64_t first_line;
};

int python_code_key(const struct python_code_layout *layout, const struct python_reader *reader,
		    uint64_t address, struct python_code_key *ret);

/*
 * Copies a code object. -EFAULT if it cannot be read, -EINVAL if it is none, -ENOMEM. The caller
 * releases *ret with python_code_fini().
 */
int python_code_read(const struct python_code_layout *layout, const struct python_reader *reader,
		     const struct python_code_key *key, struct python_code *ret);
void python_code_fini(struct python_code *code);

/*
 * The line of an instruction by its index; 0: none. An instruction that has none, because the
 * compiler added it, counts to the line before it.
 */
uint32_t python_code_line(const struct python_code *code, uint32_t index);

#endif

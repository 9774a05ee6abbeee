/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LANGUAGE_LOOP_CODE_H
#define WICK_LANGUAGE_LOOP_CODE_H

/*
 * loop_code: finds the code of the interpreter's loop in a file. Compilers move rarely executed
 * parts elsewhere; in a stripped file, such a part is found by following the jumps into it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "language/language.h"

struct elf_file;

#define LOOP_RANGES 4u

/*
 * Sets ret to the ranges of the function `name`, as ELF vaddrs. Returns their number, 0 if the file
 * has no such function.
 */
size_t loop_code_find(struct elf_file *elf, const char *name,
		      struct language_range ret[LOOP_RANGES]);

/*
 * The largest of the functions that a piece of code calls, if it has least_bytes. For a loop that
 * has no symbol itself, but a caller with one. Returns false if there is none.
 */
bool loop_code_callee(struct elf_file *elf, const struct language_range *caller,
		      uint64_t least_bytes, struct language_range *ret);

struct code_bytes {
	unsigned int machine; /* EM_X86_64 or EM_AARCH64 */
	const uint8_t *bytes;
	size_t size;
	uint64_t vaddr;
};

/*
 * Stores in ret the targets of direct jumps, or of calls, that leave a piece of code, at most
 * `most`. Returns their number. Public for tests.
 */
size_t loop_code_jumps(const struct code_bytes *code, uint64_t *ret, size_t most);
size_t loop_code_calls(const struct code_bytes *code, uint64_t *ret, size_t most);

#endif

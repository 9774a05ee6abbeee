/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LANGUAGE_PYTHON_LOOP_CODE_H
#define WICK_LANGUAGE_PYTHON_LOOP_CODE_H

/*
 * loop_code: finds the code of the interpreter's loop in a file. Compilers move rarely executed
 * parts elsewhere; in a stripped file, such a part is found by following the jumps into it.
 */

#include <stddef.h>

#include "language/language.h"

struct elf_file;

#define LOOP_RANGES 4u

/* Sets ret to ranges of ELF vaddrs. Returns their number, 0 if the file has no such function. */
size_t loop_code_find(struct elf_file *elf, struct language_range ret[LOOP_RANGES]);

/*
 * Stores in ret the targets of direct jumps that leave a piece of code, at most `most`. Returns
 * their number. machine is EM_X86_64 or EM_AARCH64. Public for tests.
 */
size_t loop_code_jumps(unsigned int machine, const uint8_t *code, size_t size, uint64_t vaddr,
		       uint64_t *ret, size_t most);

#endif

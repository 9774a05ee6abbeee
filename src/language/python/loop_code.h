/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LANGUAGE_PYTHON_LOOP_CODE_H
#define WICK_LANGUAGE_PYTHON_LOOP_CODE_H

/*
 * loop_code: the code of the interpreter's loop in a file. Compilers move what rarely runs to
 * another place; in a file without its full symbols, that place is found by the jumps to it.
 */

#include <stddef.h>

#include "language/language.h"

struct elf_file;

#define LOOP_RANGES 4u

/* Fills in ELF vaddrs. Returns their number; 0: there is no such function. */
size_t loop_code_find(struct elf_file *elf, struct language_range ret[LOOP_RANGES]);

/*
 * Counts into *ret the targets outside of a piece of code of direct jumps in it; at most `most`.
 * machine is EM_X86_64 or EM_AARCH64. For tests.
 */
size_t loop_code_jumps(unsigned int machine, const uint8_t *code, size_t size, uint64_t vaddr,
		       uint64_t *ret, size_t most);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ELF_ELF_FUNCTION_H
#define WICK_ELF_ELF_FUNCTION_H

/*
 * elf_function: where functions of given names are in a file. All names count, also those
 * that share an address; of versions, the one that programs are linked to.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;

struct elf_function {
	bool found;
	bool chosen_at_run_time; /* the code there chooses the function */
	bool is_old;             /* a version for programs that were linked long ago */
	bool is_repeated;        /* functions in several places have that name */
	uint64_t vaddr;
	uint64_t size; /* 0: not known */
};

/* ret has as many as there are names. A file without symbols has none of them. */
void elf_functions_find(struct elf_file *elf, const char *const *names, size_t count,
			struct elf_function *ret);

#endif

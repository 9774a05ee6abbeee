/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ELF_ELF_FUNCTION_H
#define WICK_ELF_ELF_FUNCTION_H

/*
 * elf_function: finds functions and variables of given names in a file. Any name of an address
 * counts; of several versions of a symbol, the one that programs are linked to counts.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;

struct elf_function {
	bool found;
	bool chosen_at_run_time; /* an ifunc: the code there chooses the function */
	bool is_old;             /* a version for programs linked long ago */
	bool is_repeated;        /* several functions have this name */
	uint64_t vaddr;
	uint64_t size; /* 0: unknown */
};

/* ret has one item for each name. In a file without symbols nothing is found. */
void elf_functions_find(struct elf_file *elf, const char *const *names, size_t count,
			struct elf_function *ret);

/* The same for variables. */
void elf_objects_find(struct elf_file *elf, const char *const *names, size_t count,
		      struct elf_function *ret);
/* The same for variables that a file exports: a small part of the symbols of large programs. */
void elf_exported_objects_find(struct elf_file *elf, const char *const *names, size_t count,
			       struct elf_function *ret);

#endif

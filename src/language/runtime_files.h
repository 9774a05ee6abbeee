/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LANGUAGE_RUNTIME_FILES_H
#define WICK_LANGUAGE_RUNTIME_FILES_H

/*
 * runtime_files: finds the file of a process that contains a language's runtime: the program
 * itself, or a library with the language's name in its own. What was found out about a file is kept
 * for all processes that use it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct elf_file;
struct maps;
struct python_reader;
struct runtime_files;

struct runtime_kind {
	const char *word;  /* part of the names of its libraries: "python" */
	size_t fact_bytes; /* of what is kept about a file */
	/* Reads the facts about a file into zeroed memory. Returns whether it has the runtime. */
	bool (*read)(struct elf_file *elf, const char *path, void *ret_facts);
};

/* Borrows kind. NULL if out of memory. */
struct runtime_files *runtime_files_new(const struct runtime_kind *kind);
void runtime_files_free(struct runtime_files *files); /* NULL is fine */

/*
 * Returns 0 or a negative errno: -ENOENT if no file has the runtime, -EAGAIN if some could not be
 * read, -ENOMEM. *ret_facts is valid until runtime_files_free(); *ret_bias is the distance from
 * ELF vaddrs to addresses.
 */
int runtime_files_find(struct runtime_files *files, pid_t pid, const struct maps *maps,
		       const void **ret_facts, uint64_t *ret_bias);

/* Starts to read the memory of a process; valid until the next call. */
struct python_reader runtime_files_reader(struct runtime_files *files, pid_t pid);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_SYMBOL_WRITER_H
#define WICK_SYMBOL_SYMBOL_WRITER_H

/*
 * symbol_writer: who wrote the symbols of a module: the owner of its file and of the files with its
 * debug information. Debug information names source files, so its writer chooses which files are
 * read.
 */

#include <stdbool.h>
#include <stdint.h>

struct elf_file;

struct symbol_writer {
	bool is_known; /* false: several people, everybody, or a copy from elsewhere */
	uint32_t uid;  /* 0 if only root wrote it */
};

/* No writer: joined with another writer, the result is that writer. */
#define SYMBOL_WRITER_NONE                                                                         \
	(struct symbol_writer)                                                                     \
	{                                                                                          \
		.is_known = true                                                                   \
	}

struct symbol_writer symbol_writer_of(const struct elf_file *elf);

/* Who wrote either of them. Root can write everything, so it does not count beside another user. */
struct symbol_writer symbol_writer_join(struct symbol_writer a, struct symbol_writer b);

#endif

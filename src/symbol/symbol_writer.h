/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_SYMBOL_WRITER_H
#define WICK_SYMBOL_SYMBOL_WRITER_H

/*
 * symbol_writer: who wrote what is said of a module: the owner of its file and of the files with
 * its debug information. Debug information names files of sources, so who wrote it chooses what
 * is read.
 */

#include <stdbool.h>
#include <stdint.h>

struct elf_file;

struct symbol_writer {
	bool is_known; /* false: several people, everybody, or a copy from elsewhere */
	uint32_t uid;  /* 0 when it is root alone */
};

/* Of nothing: joined with another it is that one. */
#define SYMBOL_WRITER_NONE                                                                         \
	(struct symbol_writer)                                                                     \
	{                                                                                          \
		.is_known = true                                                                   \
	}

struct symbol_writer symbol_writer_of(const struct elf_file *elf);

/* Who has a hand in either. Root has in everything: he does not count beside another. */
struct symbol_writer symbol_writer_join(struct symbol_writer a, struct symbol_writer b);

#endif

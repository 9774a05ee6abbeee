/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_DISK_TABLE_H
#define WICK_SYMBOL_DISK_TABLE_H

/*
 * disk_table: the symbols of one ELF file, ready to be searched, in a cache directory.
 *
 * Building such a table reads all symbols and all functions of the file; a search then needs a few
 * hundred bytes of it. A program that runs for days and sees thousands of files neither wants to
 * build their tables again nor to hold them in memory: it reads what a search needs from here, with
 * pread(), so that the table is not in the memory of the process.
 *
 * The key is the identity of the file, which includes when the kernel saw it change. The whole file
 * has a checksum, which is verified when it is opened.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf.h"

struct cache_dir;
struct disk_table;
struct symbol_index;

#define DISK_TABLE_SUFFIX ".table"
#define DISK_TABLE_LIMIT_BYTES (256ull << 20) /* of all in a directory */

/* NULL if there is none for this file, or it is damaged. */
struct disk_table *disk_table_open(struct cache_dir *dir, const struct file_identity *file);
/* Whether there is one, good or not. */
bool disk_table_exists(struct cache_dir *dir, const struct file_identity *file);
void disk_table_close(struct disk_table *table); /* NULL is fine */

/* What a table consists of. */
struct disk_table_content {
	const struct symbol_index *index;
	const char *names;
	size_t names_bytes;
	bool named; /* see elf_symbols_have_names() */
};

/* Writes the table of a file; failure to do so is not reported. */
void disk_table_keep(struct cache_dir *dir, const struct file_identity *file,
		     const struct disk_table_content *content);

uint32_t disk_table_count(const struct disk_table *table);
bool disk_table_is_named(const struct disk_table *table);

/* As in symbol_index.h; UINT32_MAX also if the table cannot be read any more. */
uint32_t disk_table_find(struct disk_table *table, uint64_t vaddr);

/* Returns the name of a symbol, "" if it cannot be read; valid until the next call. */
const char *disk_table_at(struct disk_table *table, uint32_t symbol, uint64_t *ret_start,
			  uint64_t *ret_size);

#endif

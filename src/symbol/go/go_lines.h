/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_GO_GO_LINES_H
#define WICK_SYMBOL_GO_GO_LINES_H

/*
 * go_lines: files and lines of a Go program without debug information, from the table of its
 * runtime (see go_table.h). Inlined calls are not distinguished: a line may belong to a function
 * that was inlined into the one that is named.
 *
 * One thread at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct go_lines;

/* Takes over elf if it has such a table, which is read at first use; else NULL. */
struct go_lines *go_lines_new(struct elf_file **elf);
void go_lines_free(struct go_lines *lines); /* NULL is fine */

/* The file, which is valid as long as the lines, and the line of an address. */
bool go_lines_find(struct go_lines *lines, uint64_t vaddr, const char **ret_file,
		   uint32_t *ret_line);

/* The same from the bytes of the table; text_vaddr is the address of .text. */
bool go_lines_parse(const void *data, size_t size, uint64_t text_vaddr, uint64_t vaddr,
		    const char **ret_file, uint32_t *ret_line);

#endif

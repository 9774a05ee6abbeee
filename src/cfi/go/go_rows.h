/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_GO_GO_ROWS_H
#define WICK_CFI_GO_GO_ROWS_H

/*
 * go_rows: unwind rules of Go programs, from the table that their runtime uses to walk stacks (see
 * go_table.h).
 *
 * Go writes no .eh_frame, its .debug_frame is compressed or stripped, and on aarch64 its frame
 * records are below sp, where a walk by frame pointers does not find them. The table says at each
 * instruction how far sp is below the caller's.
 */

#include <stdint.h>

struct cfi_machine;
struct elf_file;
struct rows;

/* Adds the rows of all functions. 0, -ENOMEM or -E2BIG; damaged functions are left out. */
int cfi_add_go(struct elf_file *elf, const struct cfi_machine *machine, uint64_t base,
	       struct rows *rows);

#endif

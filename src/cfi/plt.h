/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_PLT_H
#define WICK_CFI_PLT_H

/*
 * plt: rows for the procedure linkage table of aarch64, which no linker describes.
 *
 * Its first entry saves x16 and x30 and calls the resolver; all others jump with sp
 * and x30 as the caller left them.
 */

#include <stdint.h>

struct elf_file;
struct rows;

/* Adds the rows as a weak function. Before rows_sort(). base is what pcs count from. */
int cfi_add_plt(struct elf_file *elf, uint64_t base, struct rows *rows);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_ARCH_A64_PLT_H
#define WICK_CFI_ARCH_A64_PLT_H

/*
 * a64_plt: rows for the procedure linkage table of aarch64, which no linker describes.
 *
 * Its first entry saves x16 and x30 and calls the resolver; all others jump with sp
 * and x30 as the caller left them.
 */

#include <stdint.h>

struct elf_file;
struct rows;

/* Adds the rows as a weak function. Before rows_sort(). base is what pcs count from. */
int cfi_add_plt(struct elf_file *elf, uint64_t base, struct rows *rows);

/*
 * Corrects the rules of the resolver. The first entry calls it with x30 saved at
 * sp + 8, and glibc's CFI takes that sp for the CFA: the return address is found and
 * the caller's sp is 16 bytes off. A return address above the CFA gives it away.
 */
void cfi_correct_resolver(struct rows *rows);

#endif

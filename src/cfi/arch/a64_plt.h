/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_ARCH_A64_PLT_H
#define WICK_CFI_ARCH_A64_PLT_H

/*
 * a64_plt: rows for the procedure linkage table of aarch64, which no linker describes.
 *
 * Its first entry saves x16 and x30 and calls the resolver; all others jump and leave sp and x30
 * unchanged.
 */

#include <stdint.h>

struct elf_file;
struct rows;

/* Adds the rows as a weak function. Call it before rows_sort(). pcs are relative to base. */
int cfi_add_plt(struct elf_file *elf, uint64_t base, struct rows *rows);

/*
 * Corrects the rules of the resolver. The first entry calls it with x30 saved at sp + 8, and
 * glibc's CFI uses that sp as the CFA: the return address is found, but the caller's sp is off by
 * 16 bytes. Such a rule is recognised by its return address above the CFA.
 */
void cfi_correct_resolver(struct rows *rows);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_ARCH_X64_BARE_H
#define WICK_CFI_ARCH_X64_BARE_H

/*
 * x64_bare: rows for the small pieces of x86-64 code that no CFI describes: what every program
 * starts and ends with (_init, _fini, crtbegin's functions), the PLT of static programs and that of
 * linkers which do not describe theirs.
 *
 * Pieces are decoded from their first instruction on. The decoder knows the instructions that occur
 * in such code; at any other instruction the rows of a piece end.
 */

#include <stdint.h>

struct elf_file;
struct rows;

/*
 * Adds rows for code that no function of rows covers, as weak functions. Call it after rows_sort(),
 * and then call that again. pcs are relative to base.
 */
int cfi_add_bare_x64(struct elf_file *elf, uint64_t base, struct rows *rows);

#endif

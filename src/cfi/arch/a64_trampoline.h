/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_ARCH_A64_TRAMPOLINE_H
#define WICK_CFI_ARCH_A64_TRAMPOLINE_H

/*
 * a64_trampoline: rows for the code that signal handlers return to, in the vdso of
 * aarch64. The kernel has no CFI for it, so it is known by its name and its two
 * instructions; with rows, walkers that cannot read code know it too.
 */

#include <stdint.h>

struct elf_file;
struct rows;

/*
 * Adds the rows as a weak function, if the file has such code; from one instruction
 * before it on, for a caller is looked up by what lies before its return address.
 * Before rows_sort(). base is what pcs count from.
 */
int cfi_add_trampoline(struct elf_file *elf, uint64_t base, struct rows *rows);

#endif

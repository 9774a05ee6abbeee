/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_ARCH_A64_TRAMPOLINE_H
#define WICK_CFI_ARCH_A64_TRAMPOLINE_H

/*
 * a64_trampoline: rows for the code that signal handlers return to, in the vdso of aarch64. The
 * kernel has no CFI for it, so it is recognised by its name and its two instructions; the rows let
 * walkers that cannot read code recognise it too.
 */

#include <stdint.h>

struct elf_file;
struct rows;

/*
 * Adds the rows as a weak function, if the file has such code. They begin one instruction before
 * it, because a caller is looked up just before its return address. Call it before rows_sort(). pcs
 * are relative to base.
 */
int cfi_add_trampoline(struct elf_file *elf, uint64_t base, struct rows *rows);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_REPAIR_H
#define WICK_CFI_REPAIR_H

/*
 * repair: adds the rows that synchronous CFI leaves out.
 *
 * clang on aarch64 describes a function only as it is between prologue and epilogue: enough for
 * exceptions, which come from calls, but wrong for samples, which come from anywhere.
 *
 *	stp x29, x30, [sp, #-32]!	CFA = sp
 *	stp x20, x19, [sp, #16]		CFA = sp	wrong: sp + 32
 *	mov x29, sp			CFA = sp	wrong: sp + 32
 *	bl ...				CFA = x29 + 32
 *	ldp x20, x19, [sp, #16]		CFA = x29 + 32
 *	ldp x29, x30, [sp], #32		CFA = x29 + 32
 *	ret				CFA = x29 + 32	wrong: sp
 *
 * We track the instructions that change sp, x29 and x30 from the start of the function, along its
 * branches. A function is repaired only if they agree with the CFI at each pc where the CFI
 * changes; otherwise its CFI is kept.
 */

#include <stdint.h>

struct elf_file;
struct rows;

/* pcs are relative to base. Call it after rows_sort(). */
int cfi_repair(struct elf_file *elf, uint64_t base, struct rows *rows, uint32_t *ret_repaired);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_REPAIR_H
#define WICK_CFI_REPAIR_H

/*
 * repair: adds the rows that synchronous CFI leaves out.
 *
 * clang on aarch64 describes a function only as it is between prologue and
 * epilogue: enough for exceptions, which come from calls, and wrong for samples,
 * which come from anywhere.
 *
 *	stp x29, x30, [sp, #-32]!	CFA = sp
 *	stp x20, x19, [sp, #16]		CFA = sp	wrong: sp + 32
 *	mov x29, sp			CFA = sp	wrong: sp + 32
 *	bl ...				CFA = x29 + 32
 *	ldp x20, x19, [sp, #16]		CFA = x29 + 32
 *	ldp x29, x30, [sp], #32		CFA = x29 + 32
 *	ret				CFA = x29 + 32	wrong: sp
 *
 * The instructions that move sp, x29 and x30 are followed from the start of the
 * function, along its branches. A function is repaired only when what they say
 * agrees with the CFI at each pc where the CFI changes; otherwise the CFI stands.
 */

#include <stdint.h>

struct elf_file;
struct rows;

/* base is what the rows' pcs count from. After rows_sort(). */
int cfi_repair(struct elf_file *elf, uint64_t base, struct rows *rows, uint32_t *ret_repaired);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_UNWIND_ARCH_AARCH64_H
#define WICK_UNWIND_ARCH_AARCH64_H

/* aarch64: see arch.h. */

#include "unwind/arch/arch.h"

/*
 * sp of the trampoline points at { siginfo 128, ucontext { flags, link, stack,
 * mask: 176, mcontext { fault address 8, x0 … x30, sp, pc } } }.
 */
#define AARCH64_SAVED(n) (uint16_t)(128 + 176 + 8 + 8 * (n))

static const struct unwind_arch unwind_aarch64 = {
	.machine = 183,
	.sp_register = 31,
	.fp_register = 29,
	.lr_register = 30,
	.cfa_alignment = 8, /* 16 for the CPU's sp, but libffi's frames end elsewhere */
	.record_ends_frame = false,
	.start_code = 0xd280001ed280001d, /* mov x29, #0; mov x30, #0 */
	.jumps = {{0x7c000000, 0x14000000}, {0xfe000000, 0xd6000000}}, /* b, bl; br, blr, ret */
	.record_push = {0xffc07fff, 0xa9807bfd}, /* stp x29, x30, [sp, #-n]! */
	.trampoline =
		{
			.first = 0xd4000001d2801168, /* mov x8, #139; svc #0 */
			.second = 0xd4000001d2801168,
			.second_offset = 0,
			.last_instruction = 4,
		},
	.saved_pc = AARCH64_SAVED(32),
	.saved =
		{
			AARCH64_SAVED(0),  AARCH64_SAVED(1),  AARCH64_SAVED(2),  AARCH64_SAVED(3),
			AARCH64_SAVED(4),  AARCH64_SAVED(5),  AARCH64_SAVED(6),  AARCH64_SAVED(7),
			AARCH64_SAVED(8),  AARCH64_SAVED(9),  AARCH64_SAVED(10), AARCH64_SAVED(11),
			AARCH64_SAVED(12), AARCH64_SAVED(13), AARCH64_SAVED(14), AARCH64_SAVED(15),
			AARCH64_SAVED(16), AARCH64_SAVED(17), AARCH64_SAVED(18), AARCH64_SAVED(19),
			AARCH64_SAVED(20), AARCH64_SAVED(21), AARCH64_SAVED(22), AARCH64_SAVED(23),
			AARCH64_SAVED(24), AARCH64_SAVED(25), AARCH64_SAVED(26), AARCH64_SAVED(27),
			AARCH64_SAVED(28), AARCH64_SAVED(29), AARCH64_SAVED(30), AARCH64_SAVED(31),
			UNWIND_NOT_SAVED,
		},
};

#undef AARCH64_SAVED

#endif

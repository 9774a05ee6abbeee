/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_UNWIND_ARCH_X86_64_H
#define WICK_UNWIND_ARCH_X86_64_H

/* x86_64: see arch.h. */

#include "unwind/arch/arch.h"

/*
 * sp of the trampoline points at ucontext { flags, link, stack: 40, r8 … r15,
 * rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip }; DWARF numbers them rax, rdx,
 * rcx, rbx, rsi, rdi, rbp, rsp, r8 … r15.
 */
#define X86_64_SAVED(n) (uint16_t)(40 + 8 * (n))

static const struct unwind_arch unwind_x86_64 = {
	.machine = 62,
	.sp_register = 7,
	.fp_register = 6,
	.lr_register = UNWIND_REGISTERS,
	.cfa_alignment = 8, /* 16 at calls by the ABI, but assembly may ignore that */
	.record_ends_frame = true,
	.scratch = 0x37 | 0xf << 8, /* rax, rdx, rcx, rsi, rdi, r8 … r11 */
	.red_zone = 128,
	.old_calls = 0xffffffffff600, /* vsyscall */
	.start_code = 0,              /* a zero rbp shows it */
	.trampoline =
		{
			.first = 0x0f0000000fc0c748, /* mov $15, %rax; syscall: nine bytes */
			.second = 0x050f0000000fc0c7,
			.second_offset = 1,
			.last_instruction = 7,
		},
	.saved_pc = X86_64_SAVED(16),
	.saved =
		{
			X86_64_SAVED(13), X86_64_SAVED(12), X86_64_SAVED(14), X86_64_SAVED(11),
			X86_64_SAVED(9),  X86_64_SAVED(8),  X86_64_SAVED(10), X86_64_SAVED(15),
			X86_64_SAVED(0),  X86_64_SAVED(1),  X86_64_SAVED(2),  X86_64_SAVED(3),
			X86_64_SAVED(4),  X86_64_SAVED(5),  X86_64_SAVED(6),  X86_64_SAVED(7),
			UNWIND_NOT_SAVED, UNWIND_NOT_SAVED, UNWIND_NOT_SAVED, UNWIND_NOT_SAVED,
			UNWIND_NOT_SAVED, UNWIND_NOT_SAVED, UNWIND_NOT_SAVED, UNWIND_NOT_SAVED,
			UNWIND_NOT_SAVED, UNWIND_NOT_SAVED, UNWIND_NOT_SAVED, UNWIND_NOT_SAVED,
			UNWIND_NOT_SAVED, UNWIND_NOT_SAVED, UNWIND_NOT_SAVED, UNWIND_NOT_SAVED,
			UNWIND_NOT_SAVED,
		},
};

#undef X86_64_SAVED

#endif

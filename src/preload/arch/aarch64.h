/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_ARCH_AARCH64_H
#define WICK_PRELOAD_ARCH_AARCH64_H

/* aarch64: see preload/arch/native.h. */

#include <stdint.h>
#include <ucontext.h>

/* A load that fallible_load.h lists. */
#define ARCH_FALLIBLE_LOAD(value, address, listed)                                                 \
	__asm__("1: ldr %0, %1\n2:\n\t" listed : "=r"(value) : "Q"(*(address)))

/* Where a thread continues when its signal handler returns. */
static inline uint64_t arch_context_pc(const ucontext_t *context)
{
	return context->uc_mcontext.pc;
}

static inline void arch_context_set_pc(ucontext_t *context, uint64_t pc)
{
	context->uc_mcontext.pc = pc;
}

/* All registers, by DWARF number. */
static inline void arch_context_registers(const ucontext_t *context, uint64_t *ret, int count)
{
	for (int i = 0; i < 31; i++)
		ret[i] = context->uc_mcontext.regs[i];
	ret[31] = context->uc_mcontext.sp;
	for (int i = 32; i < count; i++)
		ret[i] = 0;
}

/* The system call instruction. */
#define ARCH_CALL_BITS 32
#define ARCH_CALL_CODE 0xd4000001ull /* svc #0 */
/* The same as text, followed by a trap: eight bytes. */
#define ARCH_CALL_AND_TRAP "svc #0\n\tbrk #0\n"

/* The hook gate's record of a call, in its frame. */
#define HOOK_ARGUMENTS 8
#define HOOK_FRAME_BYTES 176
struct hook_call {
	union {
		uint64_t arguments[HOOK_ARGUMENTS];
		uint64_t result; /* x0 */
	};
	uint64_t others[9];
	uint64_t target;
	uint64_t size;
	uint64_t index;
};

#define ARCH_HOOK_CPU HOOK_A64
#define ARCH_HOOK_REACH HOOK_REACH_A64

#endif

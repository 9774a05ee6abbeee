/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_ARCH_X86_64_H
#define WICK_PRELOAD_ARCH_X86_64_H

/* x86_64: see preload/arch/native.h. */

#include <stdint.h>
#include <ucontext.h>

/* A load that fallible_load.h lists. */
#define ARCH_FALLIBLE_LOAD(value, address, listed)                                                 \
	__asm__("1: movq %1, %0\n2:\n\t" listed : "=r"(value) : "m"(*(address)))

/* Where a thread continues when its signal handler returns. */
static inline uint64_t arch_context_pc(const ucontext_t *context)
{
	return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
}

static inline void arch_context_set_pc(ucontext_t *context, uint64_t pc)
{
	context->uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
}

/* All registers, by DWARF number. */
static inline void arch_context_registers(const ucontext_t *context, uint64_t *ret, int count)
{
	static const int8_t order[16] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
					 REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
					 REG_R12, REG_R13, REG_R14, REG_R15};

	for (int i = 0; i < count; i++)
		ret[i] = i < 16 ? (uint64_t)context->uc_mcontext.gregs[order[i]] : 0;
	ret[16] = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
}

/* The system call instruction. */
#define ARCH_CALL_BITS 16
#define ARCH_CALL_CODE 0x050full /* syscall */
/* The same as text, followed by a trap: eight bytes. */
#define ARCH_CALL_AND_TRAP "syscall\n\t.fill 6, 1, 0xcc\n"

/* The hook gate's record of a call, in its frame. */
#define HOOK_ARGUMENTS 6
#define HOOK_FRAME_BYTES 16 /* from its frame pointer to the frame of the caller */
struct hook_call {
	uint64_t arguments[HOOK_ARGUMENTS];
	uint64_t result; /* rax */
	uint64_t others[2];
	uint64_t target;
	uint64_t size;
	uint64_t zero[2];
	uint64_t index;
};

#define ARCH_HOOK_CPU HOOK_X64
#define ARCH_HOOK_REACH HOOK_REACH_X64

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_SAMPLING_SIGNAL_CONTEXT_H
#define WICK_PRELOAD_SAMPLING_SIGNAL_CONTEXT_H

/* signal_context: the registers that a signal handler is given, by DWARF number. */

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "preload/fallible_load.h"
#include "unwind/arch/arch.h"

struct signal_context_registers {
	uint64_t pc;
	uint64_t values[UNWIND_REGISTERS];
};

static inline void signal_context_read(const ucontext_t *context,
				       struct signal_context_registers *ret)
{
#if defined(__aarch64__)
	for (int i = 0; i < 31; i++)
		ret->values[i] = context->uc_mcontext.regs[i];
	ret->values[31] = context->uc_mcontext.sp;
	ret->values[32] = 0;
	ret->pc = context->uc_mcontext.pc;
#else
	static const int8_t order[16] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
					 REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
					 REG_R12, REG_R13, REG_R14, REG_R15};

	for (int i = 0; i < UNWIND_REGISTERS; i++)
		ret->values[i] = i < 16 ? (uint64_t)context->uc_mcontext.gregs[order[i]] : 0;
	ret->pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
	ret->values[16] = ret->pc;
#endif
}

/*
 * Whether a call of the kernel was interrupted, or has just ended: the thread is behind its
 * instruction, or at it to begin again. Not told where the page of the code begins or ends.
 */
static inline bool signal_context_is_in_call(const ucontext_t *context)
{
#if defined(__aarch64__)
	uint64_t pc = context->uc_mcontext.pc;
	uint64_t behind = pc - 4;
	uint32_t bits = 32;
	uint64_t call = 0xd4000001; /* svc #0 */
#else
	uint64_t pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
	uint64_t behind = pc - 2;
	uint32_t bits = 16;
	uint64_t call = 0x050f; /* syscall */
#endif
	uint64_t mask = (1ull << bits) - 1;
	uint64_t code;

	if (pc % 4096 < 8 || pc % 4096 > 4096 - 8)
		return false;
	code = fallible_load((const uint64_t *)(uintptr_t)behind);
	return (code & mask) == call || (code >> bits & mask) == call;
}

#endif

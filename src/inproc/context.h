/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_INPROC_CONTEXT_H
#define WICK_INPROC_CONTEXT_H

/* context: the registers that a signal handler is given, by DWARF number. */

#include <stdint.h>
#include <ucontext.h>

#include "unwind/arch/arch.h"

struct context_registers {
	uint64_t pc;
	uint64_t values[UNWIND_REGISTERS];
};

static inline void context_read(const ucontext_t *context, struct context_registers *ret)
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

#endif

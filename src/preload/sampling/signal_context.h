/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_SAMPLING_SIGNAL_CONTEXT_H
#define WICK_PRELOAD_SAMPLING_SIGNAL_CONTEXT_H

/* signal_context: the registers passed to a signal handler, by DWARF number. */

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
	arch_context_registers(context, ret->values, UNWIND_REGISTERS);
	ret->pc = arch_context_pc(context);
}

/*
 * Whether a system call was interrupted or has just ended: the pc is after its instruction, or at
 * it for a restart. False near the start and end of a page.
 */
static inline bool signal_context_is_in_call(const ucontext_t *context)
{
	const uint64_t mask = (1ull << ARCH_CALL_BITS) - 1;
	uint64_t pc = arch_context_pc(context);
	uint64_t behind = pc - ARCH_CALL_BITS / 8;
	uint64_t code;

	if (pc % 4096 < 8 || pc % 4096 > 4096 - 8)
		return false;
	code = fallible_load((const uint64_t *)(uintptr_t)behind);
	return (code & mask) == ARCH_CALL_CODE || (code >> ARCH_CALL_BITS & mask) == ARCH_CALL_CODE;
}

#endif

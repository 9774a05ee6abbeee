/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_UNWIND_ARCH_NATIVE_H
#define WICK_UNWIND_ARCH_NATIVE_H

/* native: the CPU that this code is compiled for. */

#include "unwind/frame.h"

#if defined(__aarch64__)
#include "unwind/arch/aarch64.h"
#define UNWIND_NATIVE unwind_aarch64
#elif defined(__x86_64__)
#include "unwind/arch/x86_64.h"
#define UNWIND_NATIVE unwind_x86_64
#else
#error "wick walks stacks of x86-64 and aarch64 only"
#endif

/* The frame of the current function, to start a walk from. */
UNWIND_INLINE void unwind_capture(struct unwind_frame *frame)
{
	*frame = (struct unwind_frame){.exact = true};
#if defined(__aarch64__)
	/* lr is valid whenever the rule for this pc needs it. */
	__asm__ volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29\n\tmov %3, x30"
			 : "=&r"(frame->pc), "=&r"(frame->sp), "=&r"(frame->fp), "=&r"(frame->lr));
	frame->lr_valid = true;
#else
	__asm__ volatile("lea (%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"
			 : "=&r"(frame->pc), "=&r"(frame->sp), "=&r"(frame->fp));
#endif
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SAFE_KEPT_REGISTERS_H
#define WICK_SAFE_KEPT_REGISTERS_H

/* kept_registers: what a function finds in the registers that it must leave as they are. */

#include <stdint.h>

#define SAFE_KEPT_REGISTERS 19u

/* Fills ret, as far as the CPU has so many, and returns the stack pointer. */
static inline __attribute__((always_inline)) uint64_t safe_kept_registers(uint64_t *ret)
{
	uint64_t sp;

#if defined(__aarch64__)
	__asm__ volatile("stp x19, x20, [%1]\n\tstp x21, x22, [%1, #16]\n\t"
			 "stp x23, x24, [%1, #32]\n\tstp x25, x26, [%1, #48]\n\t"
			 "stp x27, x28, [%1, #64]\n\tstr x29, [%1, #80]\n\t"
			 "stp d8, d9, [%1, #88]\n\tstp d10, d11, [%1, #104]\n\t"
			 "stp d12, d13, [%1, #120]\n\tstp d14, d15, [%1, #136]\n\tmov %0, sp"
			 : "=&r"(sp)
			 : "r"(ret)
			 : "memory");
#else
	__asm__ volatile("mov %%rbx, (%1)\n\tmov %%rbp, 8(%1)\n\tmov %%r12, 16(%1)\n\t"
			 "mov %%r13, 24(%1)\n\tmov %%r14, 32(%1)\n\tmov %%r15, 40(%1)\n\t"
			 "mov %%rsp, %0"
			 : "=&r"(sp)
			 : "r"(ret)
			 : "memory");
#endif
	return sp;
}

#endif

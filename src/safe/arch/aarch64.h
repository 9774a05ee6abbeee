/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SAFE_ARCH_AARCH64_H
#define WICK_SAFE_ARCH_AARCH64_H

/* aarch64: see safe/arch/native.h. */

#include <stddef.h>
#include <stdint.h>

static inline long arch_call(long number, const long *arguments)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0");
	register long x1 __asm__("x1");
	register long x2 __asm__("x2");
	register long x3 __asm__("x3");
	register long x4 __asm__("x4");
	register long x5 __asm__("x5");

	x0 = arguments[0];
	x1 = arguments[1];
	x2 = arguments[2];
	x3 = arguments[3];
	x4 = arguments[4];
	x5 = arguments[5];
	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory", "cc");
	return x0;
}

static inline __attribute__((always_inline)) uint64_t arch_kept_registers(uint64_t *ret)
{
	uint64_t sp;

	__asm__ volatile("stp x19, x20, [%1]\n\tstp x21, x22, [%1, #16]\n\t"
			 "stp x23, x24, [%1, #32]\n\tstp x25, x26, [%1, #48]\n\t"
			 "stp x27, x28, [%1, #64]\n\tstr x29, [%1, #80]\n\t"
			 "stp d8, d9, [%1, #88]\n\tstp d10, d11, [%1, #104]\n\t"
			 "stp d12, d13, [%1, #120]\n\tstp d14, d15, [%1, #136]\n\tmov %0, sp"
			 : "=&r"(sp)
			 : "r"(ret)
			 : "memory");
	return sp;
}

static inline uint64_t arch_thread_pointer(void)
{
	return (uint64_t)(uintptr_t)__builtin_thread_pointer();
}

static inline uint16_t arch_thread_half(ptrdiff_t offset)
{
	return *(const volatile uint16_t *)(arch_thread_pointer() + (uint64_t)offset);
}

static inline uint64_t arch_ticks(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SAFE_ARCH_X86_64_H
#define WICK_SAFE_ARCH_X86_64_H

/* x86_64: see safe/arch/native.h. */

#include <stddef.h>
#include <stdint.h>

static inline long arch_call(long number, const long *arguments)
{
	register long r10 __asm__("r10");
	register long r8 __asm__("r8");
	register long r9 __asm__("r9");
	long result;

	r10 = arguments[3];
	r8 = arguments[4];
	r9 = arguments[5];
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(arguments[0]), "S"(arguments[1]), "d"(arguments[2]),
			   "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory", "cc");
	return result;
}

static inline __attribute__((always_inline)) uint64_t arch_kept_registers(uint64_t *ret)
{
	uint64_t sp;

	__asm__ volatile("mov %%rbx, (%1)\n\tmov %%rbp, 8(%1)\n\tmov %%r12, 16(%1)\n\t"
			 "mov %%r13, 24(%1)\n\tmov %%r14, 32(%1)\n\tmov %%r15, 40(%1)\n\t"
			 "mov %%rsp, %0"
			 : "=&r"(sp)
			 : "r"(ret)
			 : "memory");
	return sp;
}

static inline uint64_t arch_thread_pointer(void)
{
	uint64_t pointer;

	__asm__("mov %%fs:0, %0" : "=r"(pointer));
	return pointer;
}

static inline uint16_t arch_thread_half(ptrdiff_t offset)
{
	uint32_t value;

	__asm__ volatile("movzwl %%fs:(%1), %0" : "=r"(value) : "r"(offset));
	return (uint16_t)value;
}

static inline uint64_t arch_ticks(void)
{
	uint32_t low;
	uint32_t high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

#endif

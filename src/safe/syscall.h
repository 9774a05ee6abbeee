/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SAFE_SYSCALL_H
#define WICK_SAFE_SYSCALL_H

/*
 * syscall: calls of the kernel from code that runs inside a watched program.
 *
 * Those of the C library set errno, may be cancelled, and may be somebody else's
 * functions of that name. These do nothing but the call: they return what the
 * kernel returns, a negative errno for a failure.
 */

#include <stdint.h>
#include <sys/syscall.h>

#if defined(__aarch64__)

static inline long safe_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory", "cc");
	return x0;
}

#elif defined(__x86_64__)

static inline long safe_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory", "cc");
	return result;
}

#else
#error "wick runs on x86-64 and aarch64 only"
#endif

static inline long safe_syscall4(long number, long a, long b, long c, long d)
{
	return safe_syscall6(number, a, b, c, d, 0, 0);
}

static inline long safe_syscall2(long number, long a, long b)
{
	return safe_syscall6(number, a, b, 0, 0, 0, 0);
}

#define SAFE_POINTER(pointer) ((long)(uintptr_t)(pointer))

#endif

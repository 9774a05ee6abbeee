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

static inline long safe_call(long number, const long *arguments)
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

#elif defined(__x86_64__)

static inline long safe_call(long number, const long *arguments)
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

#else
#error "wick runs on x86-64 and aarch64 only"
#endif

/* A call of the kernel by its number, with up to six arguments; the others are 0. */
#define safe_syscall(number, ...) safe_call((number), (const long[6]){__VA_ARGS__})

#define SAFE_POINTER(pointer) ((long)(uintptr_t)(pointer))

#endif

/* SPDX-License-Identifier: BSD-2-Clause */

/* The part of the program that is written in C: see variants.cpp. */

#define MARK(name) __asm__ volatile(".globl mark_" #name "\nmark_" #name ": nop")
#define INLINE __attribute__((always_inline)) static inline

long c_entry(long x);

INLINE long c_inner(long x)
{
	MARK(c_inner); /* line: c_inner */
	return x ^ 5;
}

INLINE long c_outer(long x)
{
	return c_inner(x) + 1; /* line: c_outer-c_inner */
}

__attribute__((noinline)) long c_entry(long x)
{
	MARK(c_entry);         /* line: c_entry */
	return c_outer(x) * 3; /* line: c_entry-c_outer */
}

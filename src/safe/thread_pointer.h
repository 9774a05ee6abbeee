/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SAFE_THREAD_POINTER_H
#define WICK_SAFE_THREAD_POINTER_H

/* thread_pointer: where the C library keeps what it knows of the thread that runs. */

#include <stdint.h>

static inline uint64_t safe_thread_pointer(void)
{
#if defined(__aarch64__)
	return (uint64_t)(uintptr_t)__builtin_thread_pointer();
#else
	uint64_t pointer;

	__asm__("mov %%fs:0, %0" : "=r"(pointer));
	return pointer;
#endif
}

#endif

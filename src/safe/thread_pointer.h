/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SAFE_THREAD_POINTER_H
#define WICK_SAFE_THREAD_POINTER_H

/* thread_pointer: where the C library keeps its data about the running thread. */

#include <stddef.h>
#include <stdint.h>

#include "safe/arch/native.h"

static inline uint64_t safe_thread_pointer(void)
{
	return arch_thread_pointer();
}

/* Two bytes at an offset from it. */
static inline uint16_t safe_thread_half(ptrdiff_t offset)
{
	return arch_thread_half(offset);
}

#endif

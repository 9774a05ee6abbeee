/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_ARCH_RETURN_PLACE_H
#define WICK_PYTHON_ARCH_RETURN_PLACE_H

/* return_place: where compilers store the return address in a frame between `low` and `high`. */

#include <stdint.h>

static inline uint64_t return_place(uint64_t low, uint64_t high)
{
#if defined(__aarch64__)
	(void)high;
	return low + 8; /* the frame record is at the low end of most frames */
#elif defined(__x86_64__)
	(void)low;
	return high - 8; /* always: the call instruction pushes it */
#else
#error "wick runs on x86-64 and aarch64 only"
#endif
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SAFE_CLOCK_H
#define WICK_SAFE_CLOCK_H

/* clock: a clock of the kernel, asked by a call of it. */

#include <stdint.h>
#include <time.h>

#include "safe/syscall.h"

static inline uint64_t safe_clock_ns(clockid_t clock)
{
	struct timespec now = {0};

	(void)safe_syscall(SYS_clock_gettime, clock, SAFE_POINTER(&now)); /* 0 then */
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

#endif

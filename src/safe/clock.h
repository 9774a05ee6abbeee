/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SAFE_CLOCK_H
#define WICK_SAFE_CLOCK_H

/* clock: a kernel clock, read with a system call. */

#include <stdint.h>
#include <time.h>

#include "safe/syscall.h"

static inline uint64_t safe_clock_ns(clockid_t clock)
{
	struct timespec now = {0};

	(void)safe_syscall(SYS_clock_gettime, clock, SAFE_POINTER(&now)); /* 0 on failure */
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

#endif

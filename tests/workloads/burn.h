/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TESTS_BURN_H
#define WICK_TESTS_BURN_H

/*
 * burn: CPU time that is spent inside the function that asks for it.
 *
 * Everything is inlined into the caller, so the caller is the leaf of the stack.
 * The clock is read about every 50 us: its own cost is far below a percent.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))
#define BURN_INLINE static inline __attribute__((always_inline, unused))
#define NS_PER_MS UINT64_C(1000000)

BURN_INLINE uint64_t clock_now_ns(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now) != 0)
		abort();
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Burns until the clock shows until_ns; returns what it showed last. */
BURN_INLINE uint64_t burn_until(clockid_t clock, uint64_t until_ns)
{
	uint64_t now_ns = clock_now_ns(clock);
	uint64_t x = now_ns | 1;

	while (now_ns < until_ns) {
		for (int i = 0; i < 50000; i++) {
			x = x * UINT64_C(6364136223846793005) + 1;
			__asm__ volatile("" : "+r"(x));
		}
		now_ns = clock_now_ns(clock);
	}
	return now_ns;
}

/* Burns that much CPU time of this thread; returns what was really burnt. */
BURN_INLINE uint64_t burn_cpu(uint64_t cpu_ns)
{
	uint64_t start_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);

	return burn_until(CLOCK_THREAD_CPUTIME_ID, start_ns + cpu_ns) - start_ns;
}

/* The argument at index as a number, or the default. */
BURN_INLINE uint64_t argument(int argc, char **argv, int index, uint64_t fallback)
{
	return argc > index ? strtoull(argv[index], NULL, 10) : fallback;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */

/* The C part of mixed.py, where the example is described. */

#include <stdint.h>
#include <time.h>

uint64_t smooth(uint32_t cpu_ms);

static uint64_t cpu_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now); /* cannot fail for this clock */
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Uses the CPU for this long. */
__attribute__((visibility("default"))) uint64_t smooth(uint32_t cpu_ms)
{
	uint64_t end_ns = cpu_ns() + (uint64_t)cpu_ms * 1000000u;
	uint64_t x = cpu_ms;

	while (cpu_ns() < end_ns)
		for (int i = 0; i < 10000; i++) {
			x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
			__asm__ volatile("" : "+r"(x));
		}
	return x;
}

/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * work MILLIONS: a fixed amount of work under a shallow stack with frame pointers;
 * prints the CPU time it took. What a profiler adds to it is overhead.
 */

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile uint64_t sink;

static NOINLINE void leaf(uint64_t steps)
{
	uint64_t x = sink | 1;

	for (uint64_t i = 0; i < steps; i++) {
		x = x * UINT64_C(6364136223846793005) + 1;
		__asm__ volatile("" : "+r"(x));
	}
	sink = x;
}

static NOINLINE void nested(int depth, uint64_t steps)
{
	if (depth == 0)
		leaf(steps);
	else
		nested(depth - 1, steps);
	sink++; /* keeps the call from becoming a jump */
}

static int64_t cpu_us(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) != 0)
		abort();
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * INT64_C(1000000) +
	       usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

int main(int argc, char **argv)
{
	uint64_t millions = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;

	for (uint64_t i = 0; i < millions * 10; i++)
		nested(8, 100000);
	printf("{\"cpu_us\": %" PRId64 "}\n", cpu_us());
	return 0;
}

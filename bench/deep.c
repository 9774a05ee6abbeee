/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * deep MILLIONS: a fixed amount of work under 36 frames of several sizes, for
 * being built without frame pointers; prints the CPU time it took.
 */

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define NOINLINE __attribute__((noinline, noclone))
#define CALLS 15 /* of each kind, with main and what is below it 36 frames */

static volatile uint64_t sink;

static void descend(int depth, uint64_t steps);

#define LEVEL(n)                                                                                   \
	static NOINLINE void level_##n(int depth, uint64_t steps)                                  \
	{                                                                                          \
		volatile uint64_t room[(n) + 1];                                                   \
                                                                                                   \
		room[0] = steps;                                                                   \
		descend(depth - 1, room[0]);                                                       \
		sink += room[0]; /* keeps the call from becoming a jump */                         \
	}

LEVEL(0)
LEVEL(1)
LEVEL(2)
LEVEL(3)
LEVEL(4)
LEVEL(5)
LEVEL(6)
LEVEL(7)

static void (*const levels[8])(int depth, uint64_t steps) = {level_0, level_1, level_2, level_3,
							     level_4, level_5, level_6, level_7};

static NOINLINE void leaf(uint64_t steps)
{
	uint64_t x = sink | 1;

	for (uint64_t i = 0; i < steps; i++) {
		x = x * UINT64_C(6364136223846793005) + 1;
		__asm__ volatile("" : "+r"(x));
	}
	sink = x;
}

static NOINLINE void descend(int depth, uint64_t steps)
{
	if (depth == 0)
		leaf(steps);
	else
		levels[depth & 7](depth, steps);
	sink++;
}

int main(int argc, char **argv)
{
	uint64_t millions = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
	struct rusage usage;

	for (uint64_t i = 0; i < millions; i++)
		descend(CALLS, 1000000);
	(void)getrusage(RUSAGE_SELF, &usage); /* cannot fail */
	printf("{\"cpu_us\": %" PRId64 "}\n",
	       (int64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
		       usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
	return 0;
}

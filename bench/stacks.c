/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * stacks THREADS MS: each thread burns MS of CPU time under ever different stacks:
 * at each of up to 40 levels one of eight functions calls the next one. Low levels
 * change often and high ones seldom, as in programs of the real world.
 */

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))

struct walk {
	uint64_t choices; /* three bits choose the next function */
	int depth;
	uint64_t sum;
};

static void descend(struct walk *walk);

#define LEVEL(name)                                                                                \
	static NOINLINE void name(struct walk *walk)                                               \
	{                                                                                          \
		descend(walk);                                                                     \
		walk->sum++;                                                                       \
	}

LEVEL(parse)
LEVEL(lookup)
LEVEL(evaluate)
LEVEL(optimize)
LEVEL(allocate)
LEVEL(serialize)
LEVEL(compare)
LEVEL(dispatch)

static void (*const levels[8])(struct walk *) = {parse,    lookup,    evaluate, optimize,
						 allocate, serialize, compare,  dispatch};

static NOINLINE void descend(struct walk *walk)
{
	uint64_t choice = walk->choices & 7;

	if (walk->depth-- == 0) {
		for (int i = 0; i < 20000; i++) {
			walk->sum = walk->sum * UINT64_C(6364136223846793005) + 1;
			__asm__ volatile("" : "+r"(walk->sum));
		}
		return;
	}
	/* After 21 levels the bits are used up: the deep part is always the same. */
	walk->choices >>= 3;
	levels[choice](walk);
}

static uint64_t thread_cpu_ms(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0)
		abort();
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void *run(void *arg)
{
	const uint64_t *ms = arg;
	uint64_t random = (uint64_t)(uintptr_t)&random;

	while (thread_cpu_ms() < *ms) {
		struct walk walk;

		random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		/* The product of two chances: few stacks are common, many are rare. */
		walk.choices = (random >> 52) * ((random >> 40) & 0xfff);
		walk.depth = 10 + (int)((random >> 33) % 31);
		walk.sum = 0;
		descend(&walk);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long threads = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	uint64_t ms = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
	pthread_t ids[64];

	if (threads < 1 || threads > 64)
		return 2;
	for (unsigned long i = 0; i < threads; i++) {
		if (pthread_create(&ids[i], NULL, run, &ms) != 0)
			return 1;
	}
	for (unsigned long i = 0; i < threads; i++)
		(void)pthread_join(ids[i], NULL);
	return 0;
}

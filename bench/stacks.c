/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * stacks THREADS MS: each thread burns MS of CPU time under 50,000 different
 * stacks of 40 calls. As in programs of the real world few of them are common and
 * many are rare, and stacks that differ share most of their callers: about eight
 * frames of each are its own.
 */

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))

#define STACKS 50000u
#define DEPTH 40

struct walk {
	uint32_t stack; /* which one */
	int depth;      /* calls so far */
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

/* Mixes a number so that its low bits look random. */
static uint32_t mix(uint32_t x)
{
	x = (x ^ x >> 15) * 0x2c1b3c6du;
	x = (x ^ x >> 12) * 0x297a2d39u;
	return x ^ x >> 15;
}

static NOINLINE void descend(struct walk *walk)
{
	/* The nearer to the leaf, the more bits of the stack's number choose the callee. */
	int common_bits = (DEPTH - walk->depth) / 2;
	uint32_t choice = mix((walk->stack >> common_bits) * 64 + (uint32_t)walk->depth) & 7;

	if (walk->depth++ == DEPTH) {
		for (int i = 0; i < 20000; i++) {
			walk->sum = walk->sum * UINT64_C(6364136223846793005) + 1;
			__asm__ volatile("" : "+r"(walk->sum));
		}
		return;
	}
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
		struct walk walk = {0};
		unsigned int bits;

		random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		/* A uniform choice of the number of bits makes the number Zipf-like. */
		bits = (unsigned int)(random >> 60);
		walk.stack =
			((1u << bits) + ((uint32_t)(random >> 32) & ((1u << bits) - 1))) % STACKS;
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

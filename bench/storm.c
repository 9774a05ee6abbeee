/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * storm PAIRS DEPTH THREADS: blocks that come and go as fast as can be, from 64 different
 * stacks of that depth; each thread holds 64 of them. Says what it took as JSON. With a
 * fourth argument it waits for a byte from standard input first.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define HELD 64
#define MAX_THREADS 64

static long pairs;
static int depth;

static NOINLINE void *right(int level, uint32_t path, size_t size);

static void *hide(void *block)
{
	__asm__ volatile("" : "+r"(block) : : "memory");
	return block;
}

static NOINLINE void *at_the_end(size_t size)
{
	return hide(malloc(size));
}

static NOINLINE void *left(int level, uint32_t path, size_t size)
{
	if (level == 0)
		return hide(at_the_end(size));
	return hide(path & 1 ? right(level - 1, path >> 1, size)
			     : left(level - 1, path >> 1, size));
}

static NOINLINE void *right(int level, uint32_t path, size_t size)
{
	if (level == 0)
		return hide(at_the_end(size));
	return hide(path & 1 ? right(level - 1, path >> 1, size)
			     : left(level - 1, path >> 1, size));
}

static void *storm(void *argument)
{
	uint32_t state = (uint32_t)(uintptr_t)argument * 77 + 1;
	void *held[HELD] = {0};

	for (long i = 0; i < pairs; i++) {
		uint32_t at;

		state = state * 1664525 + 1013904223;
		at = state >> 26;
		free(held[at]);
		held[at] = left(depth, state >> 12 & 63, 16 + (state >> 8 & 511));
	}
	for (int i = 0; i < HELD; i++)
		free(held[i]);
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 1;
	pthread_t others[MAX_THREADS];
	struct rusage usage;
	char byte;

	pairs = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
	depth = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1;
	if (threads < 1 || threads > MAX_THREADS)
		return 2;
	if (argc > 4 && read(STDIN_FILENO, &byte, 1) < 0)
		return 1;
	pairs /= threads;
	for (int i = 1; i < threads; i++)
		if (pthread_create(&others[i], NULL, storm, (void *)(uintptr_t)i) != 0)
			return 1;
	(void)storm(NULL);
	for (int i = 1; i < threads; i++)
		(void)pthread_join(others[i], NULL);
	(void)getrusage(RUSAGE_SELF, &usage);
	printf("{\"pairs\": %ld, \"cpu_us\": %ld}\n", pairs * threads,
	       usage.ru_utime.tv_sec * 1000000L + usage.ru_utime.tv_usec +
		       usage.ru_stime.tv_sec * 1000000L + usage.ru_stime.tv_usec);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * storm PAIRS DEPTH THREADS [HELD]: blocks that come and go as fast as can be, from 64 different
 * stacks of that depth; each thread holds 64 of them, or so many. Says what it took as JSON.
 * With a fifth argument it waits for a byte from standard input first.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define MAX_THREADS 64

static long pairs;
static int depth;
static uint32_t held_count = 64;

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
	void **held = calloc(held_count, sizeof(*held));

	for (long i = 0; held && i < pairs; i++) {
		uint32_t at;

		state = state * 1664525 + 1013904223;
		at = (uint32_t)((uint64_t)state * held_count >> 32);
		if (i < (long)held_count) /* so that all are there soon */
			at = (uint32_t)i;
		free(held[at]);
		held[at] = left(depth, state >> 12 & 63, 16 + (state >> 8 & 511));
	}
	for (uint32_t i = 0; held && i < held_count; i++)
		free(held[i]);
	free(held);
	return NULL;
}

/* The most memory that this program had: what getrusage() tells is that of who started it, too. */
static long peak_kb(void)
{
	char line[128];
	long peak = 0;
	FILE *status = fopen("/proc/self/status", "r");

	while (status && fgets(line, sizeof(line), status))
		if (strncmp(line, "VmHWM:", 6) == 0)
			peak = strtol(line + 6, NULL, 10);
	if (status)
		(void)fclose(status);
	return peak;
}

int main(int argc, char **argv)
{
	int threads = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 1;
	pthread_t others[MAX_THREADS];
	struct rusage usage;
	char byte;

	pairs = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
	depth = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1;
	held_count = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : held_count;
	if (threads < 1 || threads > MAX_THREADS)
		return 2;
	if (argc > 5 && read(STDIN_FILENO, &byte, 1) < 0)
		return 1;
	pairs /= threads;
	for (int i = 1; i < threads; i++)
		if (pthread_create(&others[i], NULL, storm, (void *)(uintptr_t)i) != 0)
			return 1;
	(void)storm(NULL);
	for (int i = 1; i < threads; i++)
		(void)pthread_join(others[i], NULL);
	(void)getrusage(RUSAGE_SELF, &usage);
	printf("{\"pairs\": %ld, \"peak_kb\": %ld, \"cpu_us\": %ld}\n", pairs * threads, peak_kb(),
	       usage.ru_utime.tv_sec * 1000000L + usage.ru_utime.tv_usec +
		       usage.ru_stime.tv_sec * 1000000L + usage.ru_stime.tv_usec);
	return 0;
}

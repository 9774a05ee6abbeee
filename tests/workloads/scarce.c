/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a program does that has used up what it may have. Says as JSON what it could do.
 *
 * scarce files TIMES		as many files as it may open (64), and then memory and threads
 * scarce addresses TIMES	memory until there is none (64 MB more than at first), then goes on
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "burn.h"

#define FILES 64
#define PIECE_BYTES (1ul << 20)
#define MORE_BYTES (64ul << 20)
#define MOST_PIECES 4096

static void *hide(void *block)
{
	__asm__ volatile("" : "+r"(block) : : "memory");
	return block;
}

static NOINLINE void *use(void *argument)
{
	long sum = 0;

	for (size_t i = 1; i <= 200; i++) {
		char *block = hide(malloc(i));

		if (!block)
			continue;
		memset(block, 1, i);
		sum += block[i - 1];
		free(block);
	}
	*(long *)argument = sum;
	return NULL;
}

/* A thread that uses memory; -1: there is none to be had. */
static long in_thread(void)
{
	pthread_t thread;
	long sum = 0;

	if (pthread_create(&thread, NULL, use, &sum) != 0)
		return -1;
	(void)pthread_join(thread, NULL);
	return sum;
}

static int files(long times)
{
	const struct rlimit limit = {FILES, FILES};
	int opened[FILES];
	int count = 0;
	int code;
	long sum = 0;
	long mine = 0;

	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 1;
	while (count < FILES && (opened[count] = open("/dev/null", O_RDONLY)) >= 0)
		count++;
	code = errno;
	for (long i = 0; i < times; i++) {
		sum += in_thread();
		(void)use(&mine);
		sum += mine;
	}
	for (int i = 0; i < count; i++)
		(void)close(opened[i]);
	printf("{\"opened\": %d, \"refused\": %d, \"sum\": %ld}\n", count, code == EMFILE, sum);
	return 0;
}

/* The addresses that this program has by now. */
static unsigned long used_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;

	if (file) {
		(void)!fscanf(file, "%lu", &pages);
		(void)fclose(file);
	}
	return pages * (unsigned long)sysconf(_SC_PAGESIZE);
}

/* How much there was is not told: it is less where somebody else has some of it. */
static int addresses(long times)
{
	static void *pieces[MOST_PIECES];
	struct rlimit limit = {0, 0};
	long refused = 0;
	long sum = 0;
	long mine = 0;

	limit.rlim_cur = limit.rlim_max = used_bytes() + MORE_BYTES;
	if (setrlimit(RLIMIT_AS, &limit) < 0)
		return 1;
	for (long i = 0; i < times; i++) {
		int count = 0;

		errno = 0;
		while (count < MOST_PIECES && (pieces[count] = hide(malloc(PIECE_BYTES))))
			count++;
		refused += count > 0 && count < MOST_PIECES && errno == ENOMEM;
		refused += in_thread() == -1;
		while (count > 0)
			free(pieces[--count]);
		(void)use(&mine);
		sum += mine + in_thread();
	}
	printf("{\"refused\": %ld, \"sum\": %ld}\n", refused, sum);
	return 0;
}

int main(int argc, char **argv)
{
	long times = argc > 2 ? strtol(argv[2], NULL, 10) : 1;

	if (argc > 1 && strcmp(argv[1], "files") == 0)
		return files(times);
	if (argc > 1 && strcmp(argv[1], "addresses") == 0)
		return addresses(times);
	return 2;
}

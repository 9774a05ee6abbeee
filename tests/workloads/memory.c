/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * memory [BLOCKS] [POOLED] [MAPPED]: asks for so many blocks and gives them back, has so many
 * of a pool of its own, maps memory so many times in all ways, waits for a child that it does not
 * have, and says what it was told, and how many descriptors it has open.
 */

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"
#include "wick/wick.h"

static int count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = -1; /* that of the folder itself */
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		count += entry->d_name[0] != '.';
	if (dir)
		(void)closedir(dir);
	return count;
}

static __attribute__((noinline)) void take(unsigned long count)
{
	unsigned long i;

	for (i = 0; i < count; i++) {
		void *volatile block = malloc(i % 100 + 1);

		free(block);
	}
}

/* The first block lies where the memory of the pool does. */
static __attribute__((noinline)) void take_of_pool(unsigned long count)
{
	static char *volatile pool;
	unsigned long i;

	pool = malloc(64 * 1024);
	for (i = 0; pool && i < count; i++) {
		wick_alloc(pool + i % 1024 * 64, 64);
		wick_free(pool + i % 1024 * 64);
	}
	free(pool);
}

static char *map(void *at, size_t size, int flags)
{
	char *range =
		mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (range == MAP_FAILED)
		abort();
	return range;
}

static void expect(bool is_so)
{
	if (!is_so)
		abort();
}

/* 18 events a round: + for a block that is there, - for one that is gone. */
static __attribute__((noinline)) void take_ranges(unsigned long count)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (; count > 0; count--) {
		char *range = map(NULL, 10 * page, 0); /* + */

		expect(munmap(range + 1, page) < 0);                        /* refused */
		expect(munmap(range + 4 * page, 2 * page) == 0);            /* - + + */
		(void)map(range + 7 * page, 2 * page, MAP_FIXED);           /* - + + + */
		expect(munmap(range, 10 * page) == 0);                      /* - - - - */
		range = map(NULL, 2 * page, 0);                             /* + */
		expect(mremap(range, 2 * page, page, 0) == range);          /* - + */
		expect(mremap(range, page, SIZE_MAX / 2, 0) == MAP_FAILED); /* - + */
		expect(munmap(range, page) == 0);                           /* - */
	}
}

int main(int argc, char **argv)
{
	unsigned long blocks = (unsigned long)argument(argc, argv, 1, 1000);
	int waited;

	take(blocks);
	take_of_pool((unsigned long)argument(argc, argv, 2, 0));
	take_ranges((unsigned long)argument(argc, argv, 3, 0));
	waited = wait(NULL) < 0 ? errno : 0;
	(void)printf("{\"blocks\": %lu, \"no_child\": %s, \"descriptors\": %d}\n", blocks,
		     waited == ECHILD ? "true" : "false", count_descriptors());
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * memory [BLOCKS] [POOLED]: asks for so many blocks and gives them back, has so many of a
 * pool of its own, waits for a child that it does not have, and says what it was told, and
 * how many descriptors it has open.
 */

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

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

int main(int argc, char **argv)
{
	unsigned long blocks = (unsigned long)argument(argc, argv, 1, 1000);
	int waited;

	take(blocks);
	take_of_pool((unsigned long)argument(argc, argv, 2, 0));
	waited = wait(NULL) < 0 ? errno : 0;
	(void)printf("{\"blocks\": %lu, \"no_child\": %s, \"descriptors\": %d}\n", blocks,
		     waited == ECHILD ? "true" : "false", count_descriptors());
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * memory [BLOCKS]: asks for so many blocks and gives them back, waits for a child that it
 * does not have, and says what it was told, and how many descriptors it has open.
 */

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "burn.h"

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

int main(int argc, char **argv)
{
	unsigned long blocks = (unsigned long)argument(argc, argv, 1, 1000);
	int waited;

	take(blocks);
	waited = wait(NULL) < 0 ? errno : 0;
	(void)printf("{\"blocks\": %lu, \"no_child\": %s, \"descriptors\": %d}\n", blocks,
		     waited == ECHILD ? "true" : "false", count_descriptors());
	return 0;
}

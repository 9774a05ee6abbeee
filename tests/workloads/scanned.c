/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scanned BLOCKS [keep|exec]: has BLOCKS blocks that it can reach, says "ready", and
 *	keep	makes as many again, and as many, and waits
 *	exec	becomes `sleep 60` when it gets SIGUSR1
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct block {
	struct block *next;
	char content[24];
};

static struct block *volatile first;

static void make(long count)
{
	for (long i = 0; i < count; i++) {
		struct block *block = calloc(1, sizeof(*block));

		if (!block)
			exit(1);
		block->next = first;
		first = block;
	}
}

static void become_another(int signal)
{
	(void)signal;
	(void)execlp("sleep", "sleep", "60", (char *)NULL);
	_exit(1);
}

int main(int argc, char **argv)
{
	long blocks = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
	const char *mode = argc > 2 ? argv[2] : "";

	make(blocks);
	if (strcmp(mode, "exec") == 0)
		(void)signal(SIGUSR1, become_another);
	(void)puts("ready");
	(void)fflush(stdout);
	if (strcmp(mode, "keep") == 0)
		make(2 * blocks);
	for (;;)
		(void)pause();
}

/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * misuse twice|foreign: frees a block a second time, or what is none. The C library ends it
 * by that; a child has freed what it inherited before, as it may.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLED static __attribute__((noinline))

/* Compilers know what free() does, and what it should not be given. */
static void (*volatile give_back)(void *) = free;

CALLED char *make_block(void)
{
	return malloc(100);
}

CALLED void free_first(char *block)
{
	give_back(block);
}

CALLED void free_again(char *block)
{
	give_back(block);
}

CALLED void free_foreign(char *place)
{
	give_back(place + 1);
}

int main(int argc, char **argv)
{
	char *block = make_block();
	pid_t child = fork();

	if (child == 0) {
		free_first(block);
		exit(0);
	}
	(void)waitpid(child, NULL, 0);
	if (argc > 1 && strcmp(argv[1], "foreign") == 0)
		free_foreign(block);
	free_first(block);
	free_again(block);
	return 0;
}

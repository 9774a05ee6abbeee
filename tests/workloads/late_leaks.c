/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocates a table and waits; for each line it reads it loses ten blocks of 101 bytes, and keeps
 * ten of 211 in the table, whose block is older than who attaches in between can know. It answers
 * each line, and ends with its input. A thread of its own keeps one of 307 bytes on its stack.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 10

static pthread_barrier_t lines[2];

static __attribute__((noinline)) void lose(void)
{
	for (int i = 0; i < COUNT; i++) {
		volatile char *block = malloc(101);

		block[0] = 1;
	}
}

static __attribute__((noinline)) void keep(void **table)
{
	for (int i = 0; i < COUNT; i++) {
		free(table[i]);
		table[i] = malloc(211);
	}
}

/* What lose() has left below would be found there. */
static __attribute__((noinline)) void wipe(void)
{
	char room[4096];

	memset(room, 0, sizeof(room));
	__asm__ volatile("" : : "r"(room) : "memory");
}

static void *hold(void *argument)
{
	char *volatile block = NULL;

	for (;;) {
		(void)pthread_barrier_wait(&lines[0]);
		free(block);
		block = malloc(307);
		(void)pthread_barrier_wait(&lines[1]);
	}
	return argument;
}

int main(void)
{
	void **volatile table = calloc(COUNT, sizeof(*table));
	pthread_t thread;
	char line[16];

	if (!table || pthread_barrier_init(&lines[0], NULL, 2) != 0 ||
	    pthread_barrier_init(&lines[1], NULL, 2) != 0 ||
	    pthread_create(&thread, NULL, hold, NULL) != 0)
		return 1;
	setvbuf(stdout, NULL, _IONBF, 0);
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		(void)pthread_barrier_wait(&lines[0]);
		(void)pthread_barrier_wait(&lines[1]);
		lose();
		keep(table);
		wipe();
		puts("done");
	}
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * churn [ROUNDS]: four threads that allocate in all portable ways, hand blocks to each other
 * and check what is in them; for programs that are linked with an allocator of their own.
 * Says as JSON how many blocks there were, and what the allocator makes of 41 bytes.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "burn.h"

#define THREADS 4
#define BLOCKS 64

struct worker {
	pthread_t thread;
	int number;
	long rounds;
	long blocks;
	long damaged;
	uint32_t state;
};

static pthread_barrier_t barrier;
static unsigned char *held[THREADS][BLOCKS]; /* by who has them now */
static size_t sizes[THREADS][BLOCKS];

static uint32_t next(struct worker *worker)
{
	worker->state = worker->state * 1664525 + 1013904223;
	return worker->state >> 8;
}

static NOINLINE unsigned char *take(struct worker *worker, size_t size)
{
	void *block = NULL;

	switch (next(worker) % 5) {
	case 0:
		block = calloc(1, size);
		break;
	case 1:
		block = realloc(malloc(size / 2 + 1), size);
		worker->blocks++;
		break;
	case 2:
		block = aligned_alloc(64, (size + 63) / 64 * 64);
		break;
	case 3:
		if (posix_memalign(&block, 256, size) != 0)
			block = NULL;
		break;
	default:
		block = malloc(size);
	}
	if (!block || malloc_usable_size(block) < size)
		abort();
	worker->blocks++;
	memset(block, (int)(size & 0xff), size);
	return block;
}

static NOINLINE void give_back(struct worker *worker, int who, int at)
{
	const unsigned char *block = held[who][at];

	for (size_t i = 0; block && i < sizes[who][at]; i++)
		worker->damaged += block[i] != (sizes[who][at] & 0xff);
	free(held[who][at]);
	held[who][at] = NULL;
}

/* Each frees what another one took the round before. */
static void *run(void *argument)
{
	struct worker *worker = argument;

	for (long round = 0; round < worker->rounds; round++) {
		int other = (worker->number + (int)(round % THREADS)) % THREADS;

		for (int i = 0; i < BLOCKS; i++) {
			give_back(worker, other, i);
			sizes[other][i] = next(worker) % 600 + 1;
			held[other][i] = take(worker, sizes[other][i]);
		}
		(void)pthread_barrier_wait(&barrier);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct worker workers[THREADS];
	long blocks = 0;
	long damaged = 0;

	(void)pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){
			.number = i, .state = (uint32_t)i, .rounds = argument(argc, argv, 1, 100)};
		if (pthread_create(&workers[i].thread, NULL, run, &workers[i]) != 0)
			return 1;
	}
	for (int i = 0; i < THREADS; i++) {
		(void)pthread_join(workers[i].thread, NULL);
		blocks += workers[i].blocks;
		damaged += workers[i].damaged;
	}
	for (int i = 0; i < THREADS; i++)
		for (int j = 0; j < BLOCKS; j++)
			give_back(&workers[0], i, j);
	(void)printf("{\"blocks\": %ld, \"damaged\": %ld, ", blocks, damaged + workers[0].damaged);
	held[0][0] = malloc(41);
	(void)printf("\"usable\": %zu}\n", malloc_usable_size(held[0][0]));
	free(held[0][0]);
	return 0;
}

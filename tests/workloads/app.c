/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * app [ROUNDS | --serve]: what examples in documents call ./app. It computes, waits for a lock and
 * for a file, takes memory from malloc() and from a pool of its own, and forgets some of it. Each
 * round takes about 30 ms of CPU time and 30 ms of waiting:
 *
 *	main
 *	└ answer
 *	  ├ parse		60 % of the CPU time
 *	  │ └ json_number	of that a third
 *	  ├ render		40 %
 *	  ├ load_table		2 MiB for the round, 100 blocks of 1,000 bytes for good
 *	  └ save		waits 15 ms for the lock that the thread "writer" sleeps with
 *
 * Without arguments, or with ones that it does not know, it is one round; --serve goes on until it
 * is ended.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))
#define STEPS UINT64_C(1200000) /* about a millisecond */
#define LOST_BLOCKS 100
#define LOST_BYTES 1000
#define POOL_BLOCKS 64
#define POOL_BYTES 256

static volatile uint64_t sink;
static void *volatile seen; /* a block that nobody looks at would not be allocated */
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_held;
static uint8_t pool[POOL_BLOCKS][POOL_BYTES];
static size_t pool_used;

/* A macro: an inlined function would be a frame of its own. */
#define WORK(milliseconds)                                                                         \
	do {                                                                                       \
		uint64_t x_ = sink | 1;                                                            \
		for (uint64_t i_ = 0; i_ < (milliseconds)*STEPS; i_++) {                           \
			x_ = x_ * UINT64_C(6364136223846793005) + 1442695040888963407u;            \
			__asm__ volatile("" : "+r"(x_));                                           \
		}                                                                                  \
		sink += x_;                                                                        \
	} while (0)

static void sleep_ms(long milliseconds)
{
	const struct timespec time = {.tv_nsec = milliseconds * 1000000};

	(void)nanosleep(&time, NULL); /* shorter by a signal is fine */
}

static NOINLINE void json_number(void)
{
	WORK(6);
}

static NOINLINE void parse(void)
{
	WORK(12);
	json_number();
	sink++;
}

static NOINLINE void render(void)
{
	WORK(12);
	sink++;
}

static NOINLINE void *pool_get(size_t size)
{
	return size <= POOL_BYTES && pool_used < POOL_BLOCKS ? pool[pool_used++] : NULL;
}

static NOINLINE void pool_put(void *block)
{
	pool_used -= block != NULL;
	sink++;
}

static NOINLINE void *load_table(void)
{
	char *table = malloc(2 << 20);

	for (int i = 0; i < LOST_BLOCKS; i++)
		seen = malloc(LOST_BYTES);
	seen = NULL;
	if (table)
		memset(table, 1, 2 << 20);
	return table;
}

static void *writer(void *unused)
{
	(void)prctl(PR_SET_NAME, "writer"); /* cannot fail */
	(void)pthread_mutex_lock(&table_lock);
	atomic_store(&is_held, true);
	sleep_ms(15);
	(void)pthread_mutex_unlock(&table_lock);
	return unused;
}

static NOINLINE void save(void)
{
	pthread_t thread;

	atomic_store(&is_held, false);
	if (pthread_create(&thread, NULL, writer, NULL) != 0)
		return;
	while (!atomic_load(&is_held))
		sleep_ms(1);
	(void)pthread_mutex_lock(&table_lock);
	(void)pthread_mutex_unlock(&table_lock);
	(void)pthread_join(thread, NULL);
	sleep_ms(15);
}

static NOINLINE void answer(void)
{
	void *table = load_table();
	void *block = pool_get(100);

	parse();
	render();
	save();
	pool_put(block);
	free(table);
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1;

	if (argc > 1 && strcmp(argv[1], "--serve") == 0) {
		for (;;) {
			answer();
			sleep_ms(100); /* whoever is measured beside it has the CPUs */
		}
	}
	do
		answer();
	while (--rounds > 0);
	return 0;
}

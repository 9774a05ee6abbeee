/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory over time, in known ways; names that a page must not take for markup.
 *
 *	0 ms     keep_some() allocates 10,000 blocks of 100 bytes, which stay
 *	100 ms   rise() allocates 40 blocks of 100,000 bytes and frees them 20 ms later
 *	120 ms   grow() keeps 2,000 bytes every 2 ms, 50 times, in a thread
 *	         called <b>tide</b>, while pass() allocates and frees 5,000 blocks of 50 bytes
 *
 * At the peak there are 5,000,000 bytes, at the end 1,100,000, of these functions.
 */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "burn.h"

static void *volatile kept[10000];

static void nap(long ms)
{
	struct timespec time = {0, ms * 1000000};

	(void)nanosleep(&time, NULL);
}

static NOINLINE void keep_some(void)
{
	for (int i = 0; i < 10000; i++)
		kept[i] = malloc(100);
}

static NOINLINE void rise(void)
{
	void *volatile blocks[40];

	for (int i = 0; i < 40; i++)
		blocks[i] = malloc(100000);
	nap(20);
	for (int i = 0; i < 40; i++)
		free(blocks[i]);
}

static NOINLINE void pass(void)
{
	for (int i = 0; i < 100; i++) {
		void *volatile block = malloc(50);

		free(block);
	}
}

static void *grow(void *unused)
{
	(void)pthread_setname_np(pthread_self(), "<b>tide</b>"); /* it fits */
	for (int i = 0; i < 50; i++) {
		kept[i] = malloc(2000);
		nap(2);
		pass();
	}
	return unused;
}

int main(void)
{
	pthread_t thread;

	keep_some();
	nap(100);
	rise();
	if (pthread_create(&thread, NULL, grow, NULL) != 0)
		return 1;
	(void)pthread_join(thread, NULL);
	return 0;
}

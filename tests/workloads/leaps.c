/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls of the allocator that a handler of a signal leaves, where the program itself brought the
 * signal about: with addresses that are none. Says as JSON how often, and whether errno and the
 * mask of signals are what they were.
 *
 * leaps TIMES [deep]
 *
 *	deep	blocks are taken further down: what lies on the stack of a call that was left stays
 */
#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "burn.h"

#define NOWHERE ((void *)(uintptr_t)32)

static sigjmp_buf back;

static void on_signal(int number)
{
	siglongjmp(back, number);
}

/* The compiler must not know what becomes of a block. */
static void *hide(void *block)
{
	__asm__ volatile("" : "+r"(block) : : "memory");
	return block;
}

static NOINLINE int leave(int way)
{
	/* Of no size that a block may have, and not at the beginning of a page. */
	static _Alignas(64) uint64_t small[8] = {0, 0, 0, 3};

	if (way == 0)
		free(hide(NOWHERE));
	else if (way == 1)
		(void)hide(realloc(hide(NOWHERE), 100));
	else if (way == 2)
		(void)posix_memalign(hide(NOWHERE), 64, 100);
	else if (way == 3)
		(void)malloc_usable_size(hide(NOWHERE));
	else
		free(hide(small + 4)); /* which the C library ends the program for */
	return 0;
}

static NOINLINE long take_blocks(void)
{
	long sum = 0;

	for (size_t i = 1; i <= 50; i++) {
		char *block = hide(malloc(i));

		memset(block, 1, i);
		sum += block[i - 1];
		free(block);
	}
	return sum;
}

/*
 * Calls from below a room that nothing is written to: what lies there stays, also of a call that
 * was left further up in it.
 */
#define BELOW(name, type, bytes, parameters, call)                                                 \
	static NOINLINE type name parameters                                                       \
	{                                                                                          \
		char room[bytes];                                                                  \
		type result;                                                                       \
                                                                                                   \
		__asm__ volatile("" : : "r"(room) : "memory");                                     \
		result = call;                                                                     \
		__asm__ volatile("" : : "r"(room) : "memory");                                     \
		return result;                                                                     \
	}                                                                                          \
	_Static_assert(1, "takes a semicolon")

BELOW(leave_deep, int, 1024, (int way), leave(way));
BELOW(take_deep, long, 4096, (void), take_blocks());

static bool is_same(const sigset_t *one, const sigset_t *other)
{
	for (int number = 1; number < NSIG; number++)
		if (sigismember(one, number) != sigismember(other, number))
			return false;
	return true;
}

int main(int argc, char **argv)
{
	const struct sigaction action = {.sa_handler = on_signal};
	long times = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
	long (*take)(void) = argc > 2 ? take_deep : take_blocks;
	int (*leave_by)(int) = argc > 2 ? leave_deep : leave;
	volatile long left[5] = {0};
	volatile long sum = 0;
	volatile long errors = 0;
	sigset_t before;
	sigset_t after;

	(void)sigemptyset(&before);
	(void)sigemptyset(&after);
	if (sigaction(SIGSEGV, &action, NULL) < 0 || sigaction(SIGABRT, &action, NULL) < 0 ||
	    sigprocmask(SIG_SETMASK, NULL, &before) < 0)
		return 1;
	for (volatile long i = 0; i < times * 5; i++) {
		if (sigsetjmp(back, 1) == 0)
			(void)leave_by((int)(i % 5));
		else
			left[i % 5]++;
		errno = 77;
		sum += take();
		errors += errno != 77;
	}
	if (sigprocmask(SIG_SETMASK, NULL, &after) < 0)
		return 1;
	printf("{\"left\": [%ld, %ld, %ld, %ld, %ld], \"sum\": %ld, \"errors\": %ld, \"mask\": "
	       "%d}\n",
	       left[0], left[1], left[2], left[3], left[4], sum, errors, is_same(&before, &after));
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that is asked for and given back in known ways; says so as JSON: for each function
 * that allocates how many blocks, how many bytes, and how many bytes are left at the end.
 *
 * blocks calls		each function of the allocator, in a function of its own
 * blocks peak		a peak of known size, held by two functions
 * blocks paths		a block of 1000 + P bytes on each of 64 ways P, again and again in any
 *order: left() or right() six times, by the bits of P, the lowest first blocks deep N	a block from
 *N frames deep blocks threads N	N threads one after the other, with memory that their
 *destructors free blocks across	blocks that another thread frees blocks forks
 *children by fork, vfork and posix_spawn, each with blocks of its own blocks handler	blocks of a
 *signal handler blocks ends HOW	100,000 blocks, and then exit, _exit, abort, kill or segv
 * blocks child		a child by fork that has its blocks when a byte comes
 * blocks storm		without end, as long as its parent lives
 * blocks wait WAY	waits for a byte from standard input first
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

#define TIMES 100

static void *volatile kept[TIMES];
static const char *separator = "{";

/* The compiler must not know what becomes of a block. */
static void *hide(void *block)
{
	__asm__ volatile("" : "+r"(block) : : "memory");
	return block;
}

static void say(const char *name, long blocks, long bytes, long live)
{
	printf("%s\"%s\": {\"blocks\": %ld, \"bytes\": %ld, \"live\": %ld}", separator, name,
	       blocks, bytes, live);
	separator = ", ";
}

/* TIMES blocks by an expression; every fourth one stays. */
#define BY(name, size, expression)                                                                 \
	static NOINLINE void name(void)                                                            \
	{                                                                                          \
		for (int i = 0; i < TIMES; i++) {                                                  \
			void *block = hide(expression);                                            \
                                                                                                   \
			if (i % 4)                                                                 \
				free(block);                                                       \
			else                                                                       \
				kept[i] = block;                                                   \
		}                                                                                  \
		say(#name, TIMES, (long)(TIMES * (size)), (long)(TIMES / 4 * (size)));             \
	}                                                                                          \
	_Static_assert(1, "takes a semicolon")

static void *aligned(size_t alignment, size_t size)
{
	void *block = NULL;

	return posix_memalign(&block, alignment, size) == 0 ? block : NULL;
}

BY(by_malloc, 100, malloc(100));
BY(by_calloc, 120, calloc(3, 40));
BY(by_realloc_of_none, 130, realloc(NULL, 130));
BY(by_posix_memalign, 140, aligned(64, 140));
BY(by_aligned_alloc, 192, aligned_alloc(64, 192));
BY(by_memalign, 160, memalign(32, 160));
BY(by_valloc, 170, valloc(170));
BY(by_pvalloc, 180, pvalloc(180));
BY(by_strdup, 11, strdup("ten letters" + 1));

/* Blocks that grow, and are gone at last: two allocations each, the larger one stays for some. */
static NOINLINE void by_realloc(void)
{
	for (int i = 0; i < TIMES; i++) {
		void *block = hide(realloc(NULL, 50));

		block = hide(realloc(block, 5000));
		if (i % 4)
			free(block);
		else
			kept[i] = block;
	}
	say("by_realloc", 2l * TIMES, TIMES * 5050l, TIMES / 4 * 5000l);
}

static NOINLINE void by_reallocarray(void)
{
	for (int i = 0; i < TIMES; i++)
		free(hide(reallocarray(NULL, 10, 7)));
	say("by_reallocarray", TIMES, TIMES * 70l, 0);
}

/* A block that becomes none is gone. */
static NOINLINE void by_realloc_to_none(void)
{
	for (int i = 0; i < TIMES; i++)
		kept[i] = hide(realloc(hide(malloc(60)), 0));
	say("by_realloc_to_none", TIMES, TIMES * 60l, 0);
}

/* One that cannot grow stays as it was. */
static NOINLINE void by_failing_realloc(void)
{
	volatile size_t too_much = (size_t)-1 >> 1;
	int refused = 0;

	for (int i = 0; i < TIMES; i++) {
		void *block = hide(malloc(70));

		errno = 0;
		kept[i] = block;
		refused += realloc(hide(block), too_much) == NULL && errno == ENOMEM;
	}
	say("by_failing_realloc", TIMES, TIMES * 70l, TIMES * 70l);
	printf(", \"refused\": %d", refused);
}

static int calls(void)
{
	by_malloc();
	by_calloc();
	by_realloc_of_none();
	by_posix_memalign();
	by_aligned_alloc();
	by_memalign();
	by_valloc();
	by_pvalloc();
	by_strdup();
	by_realloc();
	by_reallocarray();
	by_realloc_to_none();
	by_failing_realloc();
	return 0;
}

static NOINLINE void *first_part(void)
{
	return hide(malloc(1000000));
}

static NOINLINE void *second_part(void)
{
	return hide(malloc(2000000));
}

static NOINLINE void *third_part(void)
{
	return hide(malloc(500000));
}

static int peak(void)
{
	void *first = first_part();
	void *second = second_part();

	(void)burn_until(CLOCK_MONOTONIC, clock_now_ns(CLOCK_MONOTONIC) + 20 * NS_PER_MS);
	free(first);
	kept[0] = third_part();
	(void)burn_until(CLOCK_MONOTONIC, clock_now_ns(CLOCK_MONOTONIC) + 20 * NS_PER_MS);
	free(second);
	say("first_part", 1, 1000000, 0);
	say("second_part", 1, 2000000, 0);
	say("third_part", 1, 500000, 500000);
	return 0;
}

static NOINLINE void *right(uint32_t path, int level);

static NOINLINE void *at_the_end(uint32_t path)
{
	return hide(malloc(1000 + path));
}

static NOINLINE void *left(uint32_t path, int level)
{
	uint32_t turn = path >> level & 1;

	if (level == 6)
		return hide(at_the_end(path));
	return hide(turn ? right(path, level + 1) : left(path, level + 1));
}

static NOINLINE void *right(uint32_t path, int level)
{
	uint32_t turn = path >> level & 1;

	if (level == 6)
		return hide(at_the_end(path));
	return hide(turn ? right(path, level + 1) : left(path, level + 1));
}

static int paths(void)
{
	uint32_t state = 1;
	long bytes = 0;

	for (int i = 0; i < 20000; i++) {
		uint32_t path;

		state = state * 1664525 + 1013904223;
		path = state >> 26;
		bytes += 1000 + (long)path;
		free(left(path, 0));
	}
	say("at_the_end", 20000, bytes, 0);
	return 0;
}

static NOINLINE void *dive(long depth)
{
	void *block = depth > 0 ? dive(depth - 1) : malloc(77);

	return hide(block);
}

static int deep(long depth)
{
	kept[0] = dive(depth);
	say("dive", 1, 77, 77);
	return 0;
}

static pthread_key_t key;

static NOINLINE void late_free(void *block)
{
	free(block);
}

static NOINLINE void *of_thread(void *argument)
{
	pthread_setspecific(key, hide(malloc(300)));
	for (int i = 0; i < TIMES; i++)
		free(hide(malloc(31)));
	return argument;
}

static int threads(long count)
{
	pthread_key_create(&key, late_free);
	for (long i = 0; i < count; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, of_thread, NULL);
		pthread_join(thread, NULL);
	}
	say("of_thread", count * (TIMES + 1), count * (TIMES * 31l + 300), 0);
	return 0;
}

static NOINLINE void *take_over(void *argument)
{
	(void)argument;
	for (int i = 0; i < TIMES; i++)
		free(kept[i]);
	return NULL;
}

static NOINLINE void hand_over(void)
{
	for (int i = 0; i < TIMES; i++)
		kept[i] = hide(malloc(90));
}

static int across(void)
{
	pthread_t thread;

	for (int round = 0; round < 10; round++) {
		hand_over();
		pthread_create(&thread, NULL, take_over, NULL);
		pthread_join(thread, NULL);
	}
	say("hand_over", 10l * TIMES, 10l * TIMES * 90, 0);
	return 0;
}

static NOINLINE void of_child(void)
{
	for (int i = 0; i < TIMES; i++)
		free(hide(malloc(200)));
}

static NOINLINE void run_vfork(void)
{
	pid_t child = vfork();

	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
}

static int forks(void)
{
	char *const arguments[] = {(char *)(uintptr_t) "cat", (char *)(uintptr_t) "/dev/null",
				   NULL};
	pid_t child;

	by_malloc();
	fflush(stdout);
	for (int i = 0; i < 5; i++) {
		child = fork();
		if (child == 0) {
			of_child();
			_exit(0);
		}
		waitpid(child, NULL, 0);
		run_vfork();
		if (posix_spawnp(&child, "cat", NULL, NULL, arguments, environ) == 0)
			waitpid(child, NULL, 0);
	}
	say("of_child", 5l * TIMES, 5l * TIMES * 200, 0);
	return 0;
}

static volatile sig_atomic_t handled;

static NOINLINE void on_alarm(int number)
{
	(void)number;
	for (int i = 0; i < 10; i++)
		free(hide(malloc(400)));
	handled++;
}

static int handler(void)
{
	const struct itimerval often = {{0, 2000}, {0, 2000}};
	const struct itimerval never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = on_alarm};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (handled < 50)
		(void)burn_until(CLOCK_MONOTONIC, clock_now_ns(CLOCK_MONOTONIC) + NS_PER_MS);
	setitimer(ITIMER_REAL, &never, NULL);
	say("on_alarm", handled * 10l, handled * 4000l, 0);
	return 0;
}

static NOINLINE void many(void)
{
	for (int i = 0; i < 100000; i++)
		kept[0] = hide(malloc(10));
}

static int ends(const char *how)
{
	many();
	say("many", 100000, 1000000, 1000000);
	puts("}");
	fflush(stdout);
	if (strcmp(how, "_exit") == 0)
		_exit(0);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "kill") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(how, "segv") == 0)
		*(volatile int *)(uintptr_t)8 = 1;
	exit(0);
}

/* Whoever looks on is ready, by a byte from standard input. */
static void wait_for_byte(void)
{
	char byte;

	if (read(STDIN_FILENO, &byte, 1) < 0)
		perror("read");
}

/* A child that has blocks when the next byte comes. */
static int child(void)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		wait_for_byte();
		by_calloc();
		_exit(0);
	}
	by_malloc();
	say("by_calloc", TIMES, TIMES * 120L, TIMES / 4 * 120L);
	return waitpid(pid, &status, 0) == pid && status == 0 ? 0 : 1;
}

/* Pairs of malloc() and free(), until nobody waits for us any more. */
static int storm(void)
{
	while (getppid() > 1)
		for (int i = 0; i < 100000; i++)
			free(hide(malloc(64)));
	return 0;
}

int main(int argc, char **argv)
{
	bool waits = argc > 1 && strcmp(argv[1], "wait") == 0;
	const char *way = argc > 1 + waits ? argv[1 + waits] : "calls";
	const char *detail = argc > 2 + waits ? argv[2 + waits] : NULL;
	long number = detail ? atol(detail) : 20;
	static char buffer[4096]; /* or the first to say something would allocate it */
	int r;

	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	if (waits)
		wait_for_byte();
	if (strcmp(way, "peak") == 0)
		r = peak();
	else if (strcmp(way, "paths") == 0)
		r = paths();
	else if (strcmp(way, "deep") == 0)
		r = deep(number);
	else if (strcmp(way, "threads") == 0)
		r = threads(number);
	else if (strcmp(way, "across") == 0)
		r = across();
	else if (strcmp(way, "forks") == 0)
		r = forks();
	else if (strcmp(way, "child") == 0)
		r = child();
	else if (strcmp(way, "storm") == 0)
		r = storm();
	else if (strcmp(way, "handler") == 0)
		r = handler();
	else if (strcmp(way, "ends") == 0)
		r = ends(detail ? detail : "exit");
	else
		r = calls();
	puts("}");
	return r;
}

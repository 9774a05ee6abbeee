/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that is asked for and given back in known ways; says so as JSON: for each function
 * that allocates how many blocks, how many bytes, and how many bytes are left at the end.
 *
 * blocks calls: each function of the allocator, in a function of its own
 * blocks refused: calls that cannot succeed, and what becomes of errno
 * blocks peak: a peak of known size, held by two functions
 * blocks paths [TURNS]: a block of 1000 + P bytes on each of 2^TURNS (64) ways P, again and again
 * in any order: left() or right() so many times, by the bits of P, the lowest first blocks lives:
 * blocks of three functions that live 1 : 3 : 6, by the work done meanwhile blocks deep N: a block
 * from N frames deep blocks threads N: N threads one after the other, with memory that their
 * destructors free blocks across: blocks that another thread frees blocks forks: children by fork,
 * vfork and posix_spawn, each with blocks of its own blocks handler: blocks of a signal handler
 * blocks ends HOW: 100,000 blocks, and then return, exit, _exit, quick_exit, abort, kill,
 * segv, exec, pthread_exit, or memory that is taken without end (oom)
 * blocks child: a child by fork that has its blocks when a byte comes
 * blocks storm: without end, as long as its parent lives
 * blocks wait WAY: waits for a byte from standard input first
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

/* New in C23: where nobody has them they are free(). */
void free_sized(void *block, size_t size) __attribute__((weak));
void free_aligned_sized(void *block, size_t alignment, size_t size) __attribute__((weak));

static NOINLINE void by_free_sized(void)
{
	for (int i = 0; i < TIMES; i++) {
		void *block = hide(malloc(80));

		free_sized ? free_sized(block, 80) : free(block);
	}
	say("by_free_sized", TIMES, TIMES * 80l, 0);
}

static NOINLINE void by_free_aligned_sized(void)
{
	for (int i = 0; i < TIMES; i++) {
		void *block = hide(aligned_alloc(64, 128));

		free_aligned_sized ? free_aligned_sized(block, 64, 128) : free(block);
	}
	say("by_free_aligned_sized", TIMES, TIMES * 128l, 0);
}

static NOINLINE void by_usable_size(void)
{
	size_t usable = 0;

	for (int i = 0; i < TIMES; i++) {
		char *block = hide(malloc(41));

		usable = malloc_usable_size(block);
		memset(block, 1, usable);
		free(hide(block));
	}
	say("by_usable_size", TIMES, TIMES * 41l, 0);
	printf(", \"usable\": %zu", usable + malloc_usable_size(NULL));
}

/* What must fail does so with the right errno; blocks of one byte in between are counted. */
static int refused(void)
{
	volatile size_t huge = (size_t)-1 >> 1;
	volatile size_t odd = 3;
	static char untouched;
	void *block = &untouched;
	int right = 0;
	int kept_errno = 0;

#define REFUSED(expression, expected)                                                              \
	do {                                                                                       \
		errno = 0;                                                                         \
		right += hide(expression) == NULL && errno == (expected);                          \
		errno = 77;                                                                        \
		free(hide(malloc(1)));                                                             \
		free(NULL);                                                                        \
		kept_errno += errno == 77;                                                         \
	} while (0)

	REFUSED(malloc(huge), ENOMEM);
	REFUSED(calloc(huge, 2), ENOMEM);
	REFUSED(calloc(huge, 8), ENOMEM);
	REFUSED(realloc(NULL, huge), ENOMEM);
	REFUSED(reallocarray(NULL, huge, 4), ENOMEM);
	REFUSED(reallocarray(NULL, huge, 1), ENOMEM);
	REFUSED(aligned_alloc(64, huge), ENOMEM);
	REFUSED(memalign(64, huge), ENOMEM);
	REFUSED(valloc(huge), ENOMEM);
	REFUSED(pvalloc(huge), ENOMEM);
	errno = 77;
	right += posix_memalign(&block, 64, huge) == ENOMEM;
	right += posix_memalign(&block, odd, 8) == EINVAL;
	right += errno == 77 || errno == ENOMEM; /* C libraries differ */
	right += block == &untouched;
	say("refused", 10, 10, 0);
	printf(", \"right\": %d, \"kept_errno\": %d", right, kept_errno);
	return 0;
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
	by_free_sized();
	by_free_aligned_sized();
	by_usable_size();
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

static int turns = 6; /* of a way */

static NOINLINE void *right(uint32_t path, int level);

static NOINLINE void *at_the_end(uint32_t path)
{
	return hide(malloc(1000 + path));
}

static NOINLINE void *left(uint32_t path, int level)
{
	uint32_t turn = path >> level & 1;

	if (level == turns)
		return hide(at_the_end(path));
	return hide(turn ? right(path, level + 1) : left(path, level + 1));
}

static NOINLINE void *right(uint32_t path, int level)
{
	uint32_t turn = path >> level & 1;

	if (level == turns)
		return hide(at_the_end(path));
	return hide(turn ? right(path, level + 1) : left(path, level + 1));
}

static int paths(int bits)
{
	uint32_t state = 1;
	long bytes = 0;

	turns = bits;
	for (int i = 0; i < 20000; i++) {
		uint32_t path;

		state = state * 1664525 + 1013904223;
		path = state >> (32 - turns);
		bytes += 1000 + (long)path;
		free(left(path, 0));
	}
	say("at_the_end", 20000, bytes, 0);
	return 0;
}

#define ROUNDS 40

static NOINLINE void *short_life(void)
{
	return hide(malloc(101));
}

static NOINLINE void *middle_life(void)
{
	return hide(malloc(102));
}

static NOINLINE void *long_life(void)
{
	return hide(malloc(103));
}

/* As many instructions every time, and nearly as long. */
static NOINLINE void work(int parts)
{
	for (int i = 0; i < parts * 100000; i++)
		__asm__ volatile("" ::: "memory");
}

/* One block of each at a time; of 10 parts of the work they see 1, 3 and 6. */
static int lives(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		void *block = short_life();

		work(1);
		free(block);
		block = middle_life();
		work(3);
		free(block);
		block = long_life();
		work(6);
		free(block);
	}
	say("short_life", ROUNDS, ROUNDS * 101l, 0);
	say("middle_life", ROUNDS, ROUNDS * 102l, 0);
	say("long_life", ROUNDS, ROUNDS * 103l, 0);
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

static NOINLINE void *end_later(void *argument)
{
	usleep(20000);
	exit(0);
	return argument;
}

/* Takes what there is, until the kernel has enough of it. */
static void take_all(void)
{
	for (;;) {
		char *block = hide(malloc(1 << 20));

		if (!block)
			_exit(9);
		memset(block, 1, 1 << 20);
	}
}

static int ends(const char *how, char **argv)
{
	char *const again[] = {argv[0], (char *)(uintptr_t) "deep", NULL};
	pthread_t thread;

	many();
	say("many", 100000, 1000000, 1000000);
	puts("}");
	fflush(stdout);
	if (strcmp(how, "return") == 0)
		return 0;
	if (strcmp(how, "_exit") == 0)
		_exit(0);
	if (strcmp(how, "quick_exit") == 0)
		quick_exit(0);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "kill") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(how, "segv") == 0)
		*(volatile int *)(uintptr_t)8 = 1;
	if (strcmp(how, "exec") == 0)
		execv("/proc/self/exe", again);
	if (strcmp(how, "pthread_exit") == 0 && !pthread_create(&thread, NULL, end_later, NULL))
		pthread_exit(NULL);
	if (strcmp(how, "oom") == 0)
		take_all();
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
	if (strcmp(way, "ends") == 0) /* it says all before it ends */
		return ends(detail ? detail : "exit", argv);
	if (strcmp(way, "peak") == 0)
		r = peak();
	else if (strcmp(way, "paths") == 0)
		r = paths(detail ? (int)number : 6);
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
	else if (strcmp(way, "lives") == 0)
		r = lives();
	else if (strcmp(way, "refused") == 0)
		r = refused();
	else
		r = calls();
	puts("}");
	return r;
}

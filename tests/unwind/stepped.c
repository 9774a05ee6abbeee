/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program that the stepper steps through: the shapes of functions that
 * compilers make, compiled in every way, each called from others.
 *
 * ENTER and LEAVE keep the shadow stack. They are left out where they would
 * change the shape: leaves, early exits, tail calls.
 */
#include <alloca.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "stepped.h"

#define NOINLINE __attribute__((noinline, noipa_or_none))
#if defined(__clang__)
#define noipa_or_none noinline
#else
#define noipa_or_none noipa
#endif
#define BARRIER() __asm__ volatile("" ::: "memory")

static struct shadow *shadow;
static volatile long sink;
/* Pointers that the compiler cannot look through. */
static long (*volatile indirect)(long);

#define ENTER()                                                                                    \
	do {                                                                                       \
		shadow->returns[shadow->depth] = (uint64_t)__builtin_return_address(0);            \
		BARRIER();                                                                         \
		shadow->depth++;                                                                   \
		BARRIER();                                                                         \
	} while (0)

#define LEAVE()                                                                                    \
	do {                                                                                       \
		BARRIER();                                                                         \
		shadow->depth--;                                                                   \
		BARRIER();                                                                         \
	} while (0)

static NOINLINE long leaf(long x)
{
	return x * 3 + 1;
}

static NOINLINE long leaf_with_frame(long x)
{
	volatile long local[20];

	for (int i = 0; i < 20; i++)
		local[i] = x + i;
	return local[3] + local[(unsigned long)x % 20];
}

static NOINLINE long middle(long x)
{
	ENTER();
	long r = leaf(x) + leaf_with_frame(x) + leaf(x + 1);
	LEAVE();
	return r;
}

static NOINLINE long with_alloca(long x)
{
	ENTER();
	volatile char *memory = alloca((unsigned long)(x % 7 + 1) * 100);

	memory[0] = (char)x;
	long r = middle(x) + memory[0];
	LEAVE();
	return r;
}

static NOINLINE long with_array_of_size(long x)
{
	ENTER();
	volatile long values[x % 13 + 2];

	values[1] = x;
	long r = leaf(values[1]) + with_alloca(x);
	LEAVE();
	return r;
}

static NOINLINE long large_frame(long x)
{
	ENTER();
	volatile char memory[20000];

	memory[x % 20000] = (char)x;
	long r = middle(x) + memory[x % 20000];
	LEAVE();
	return r;
}

static NOINLINE long huge_frame(long x)
{
	ENTER();
	volatile char memory[300000];

	memory[x % 300000] = (char)x;
	long r = large_frame(x) + memory[x % 300000];
	LEAVE();
	return r;
}

static NOINLINE long aligned_frame(long x)
{
	ENTER();
	volatile long values[16] __attribute__((aligned(128)));

	values[x % 16] = x;
	long r = middle(x) + values[x % 16];
	LEAVE();
	return r;
}

static NOINLINE long aligned_with_alloca(long x)
{
	ENTER();
	volatile long values[8] __attribute__((aligned(64)));
	volatile char *memory = alloca((unsigned long)(x % 5 + 1) * 48);

	values[x % 8] = x;
	memory[1] = 1;
	long r = middle(x) + values[x % 8] + memory[1];
	LEAVE();
	return r;
}

static NOINLINE long tail_end(long x)
{
	return leaf_with_frame(x) + 1;
}

static NOINLINE long tail_middle(long x)
{
	return tail_end(x + 1);
}

static NOINLINE long tail_start(long x)
{
	if (middle(x) == 12345)
		return 0;
	return tail_middle(x + 1);
}

static NOINLINE long tail_indirect(long x)
{
	return indirect(x + 2);
}

/* The frame is made on one path only. */
static NOINLINE long shrink_wrapped(long x)
{
	if (x < 10)
		return x;
	long a = leaf(x);
	long b = leaf(a + x);
	long c = leaf_with_frame(b);

	return a + b + c + middle(a);
}

static NOINLINE long early_exits(long x)
{
	if (x == 1)
		return leaf(x);
	if (x == 2)
		return middle(x) + 7;
	if (x % 3 == 0) {
		long a = middle(x);

		return a + middle(a);
	}
	return tail_middle(x);
}

static NOINLINE long many_values(long x)
{
	ENTER();
	long a = leaf(x), b = leaf(a), c = leaf(b), d = leaf(c), e = leaf(d), f = leaf(e),
	     g = leaf(f), h = leaf(g), i = leaf(h), j = leaf(i), k = leaf(j), l = leaf(k);

	long r = middle(a) + a + b * c + d * e + f * g + h * i + j * k + l;
	LEAVE();
	return r;
}

static NOINLINE double with_doubles(double x)
{
	double a = x + 1, b = x * 2, c = x - 3, d = x / 4;

	sink += middle((long)a);
	double e = a * b + c * d;

	sink += middle((long)e);
	return a + b + c + d + e;
}

static NOINLINE long with_variable_arguments(int n, ...)
{
	va_list arguments;
	long sum = 0;

	va_start(arguments, n);
	for (int i = 0; i < n; i++)
		sum += leaf(va_arg(arguments, long));
	va_end(arguments);
	return sum;
}

struct large {
	long values[12];
};

static NOINLINE struct large returns_a_struct(long x)
{
	struct large large = {{0}};

	for (int i = 0; i < 12; i++)
		large.values[i] = leaf(x + i);
	return large;
}

static NOINLINE long many_arguments(long a, long b, long c, long d, long e, long f, long g, long h,
				    long i, struct large j)
{
	return a + b * c + d * e + f * g + h * i + j.values[3] + leaf(a);
}

static NOINLINE long switched(long x)
{
	switch (x % 9) {
	case 0:
		return leaf(x);
	case 1:
		return middle(x) + 1;
	case 2:
		return leaf_with_frame(x) * 2;
	case 3:
		return middle(x) * middle(x + 1);
	case 4:
		return 4;
	case 5:
		return tail_start(x);
	case 6:
		return with_alloca(x) + 1;
	default:
		return shrink_wrapped(x + 20);
	}
}

static NOINLINE long recursive(long depth)
{
	ENTER();
	long r = depth == 0 ? middle(depth) : recursive(depth - 1) + leaf(depth);
	LEAVE();
	return r;
}

static int compare(const void *a, const void *b)
{
	ENTER();
	long x = *(const long *)a;
	long y = *(const long *)b;
	long r = leaf(x) - leaf(y);
	LEAVE();
	return r < 0 ? -1 : r > 0;
}

static NOINLINE void library_calls(long x)
{
	char text[64];
	long values[12];
	struct timespec now;
	struct timeval day;

	ENTER();
	for (int i = 0; i < 12; i++)
		values[i] = (i * 7919 + x) % 12;
	qsort(values, 12, sizeof(values[0]), compare);
	snprintf(text, sizeof(text), "%ld %s %5.2f", values[0], "text", (double)x);
	sink += (long)strlen(text);
	char *copy = malloc(100 + (size_t)x);

	memcpy(copy, text, sizeof(text));
	copy = realloc(copy, 5000);
	sink += copy[2];
	free(copy);
	clock_gettime(CLOCK_MONOTONIC, &now);
	gettimeofday(&day, NULL);
	sink += now.tv_nsec + day.tv_usec + getppid();
	LEAVE();
}

/* A handler may come between the two halves of ENTER, and puts the first back. */
static void handler(int number)
{
	uint64_t interrupted = shadow->returns[shadow->depth];

	ENTER();
	sink += leaf(number);
	LEAVE();
	shadow->returns[shadow->depth] = interrupted;
}

static void alternate_handler(int number)
{
	uint64_t interrupted = shadow->returns[shadow->depth];

	ENTER();
	sink += middle(number);
	LEAVE();
	shadow->returns[shadow->depth] = interrupted;
}

static NOINLINE void signals(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = handler};

	ENTER();
	sigaction(SIGUSR1, &action, NULL);
	action.sa_handler = alternate_handler;
	action.sa_flags = SA_ONSTACK;
	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR2, &action, NULL);
	shadow->handler = (uint64_t)handler;
	shadow->alternate_handler = (uint64_t)alternate_handler;
	raise(SIGUSR1);
	raise(SIGUSR2);
	shadow->handlers_ready = 1;
	LEAVE();
}

static NOINLINE void everything(long x)
{
	ENTER();
	sink += with_array_of_size(x) + huge_frame(x) + aligned_frame(x) + aligned_with_alloca(x);
	sink += tail_start(x) + tail_indirect(x) + shrink_wrapped(x) + shrink_wrapped(x + 20);
	for (long i = 0; i < 9; i++)
		sink += early_exits(i) + switched(i);
	sink += many_values(x) + (long)with_doubles((double)x) + recursive(5);
	sink += with_variable_arguments(3, x, x + 1, x + 2);
	sink += many_arguments(1, 2, 3, 4, 5, 6, 7, 8, 9, returns_a_struct(x));
	library_calls(x);
	LEAVE();
}

int main(void)
{
	shadow = mmap(NULL, sizeof(*shadow), PROT_READ | PROT_WRITE, MAP_SHARED, SHADOW_FD, 0);
	if (shadow == MAP_FAILED)
		return 1;
	ENTER();
	indirect = shrink_wrapped;
	everything(3);
	signals();
	everything(14);
	LEAVE();
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwind_bench: what a frame of a walk inside the process costs, against glibc's
 * backtrace() and libunwind's unw_backtrace(), at the same place in one run.
 *
 * libunwind exports a backtrace() of its own that would silently take the place
 * of glibc's, so it is opened by name and glibc's is asked for in libc.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../tests/unit/own_modules.h"
#include "unwind/arch/native.h"

#define DEPTH 30
#define FRAMES 256
#define ROUNDS 20000
#define REPEATS 7

static struct unwind_own own = {.pac_mask = UNWIND_PAC_MASK};
static struct unwind_thread thread;
static void *frames[FRAMES];
static uint64_t pcs[FRAMES];
static int (*glibc_backtrace)(void **, int);
static int (*libunwind_backtrace)(void **, int);

static uint64_t cpu_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now); /* cannot fail */
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static __attribute__((noinline)) int walk_ours(void)
{
	struct unwind_frame frame;
	struct unwind_trace trace = {.pcs = pcs, .capacity = FRAMES};

	unwind_capture(&frame);
	unwind_own_walk(&own, &thread, &frame, &trace);
	return trace.end == UNWIND_ROOT ? (int)trace.count : -(int)trace.end;
}

static int walk_cached(void)
{
	thread.no_cache = false;
	thread.no_anchors = true;
	return walk_ours();
}

static int walk_uncached(void)
{
	thread.no_cache = true;
	thread.no_anchors = true;
	return walk_ours();
}

static int walk_anchored(void)
{
	thread.no_cache = false;
	thread.no_anchors = false;
	return walk_ours();
}

static int walk_glibc(void)
{
	return glibc_backtrace(frames, FRAMES);
}

static int walk_libunwind(void)
{
	return libunwind_backtrace(frames, FRAMES);
}

/* Returns the nanoseconds of a stack. */
static double measure(const char *name, int (*walk)(void), int rounds)
{
	double best = 1e18;
	int count = walk();

	for (int repeat = 0; repeat < REPEATS; repeat++) {
		uint64_t start = cpu_ns();

		for (int i = 0; i < rounds; i++)
			(void)walk();
		double ns = (double)(cpu_ns() - start) / rounds;

		if (ns < best)
			best = ns;
	}
	printf("%-28s %4d frames %9.1f ns a stack %7.2f ns a frame\n", name, count, best,
	       best / count);
	return best;
}

/* What one frame more costs when it is unchanged, from stacks of two depths. */
static void measure_unchanged(bool is_deep)
{
	static double shallow_ns;
	static int shallow_frames;
	double ns = measure("wick, stack unchanged", walk_anchored, ROUNDS);
	int count = walk_anchored();

	if (is_deep)
		printf("%-28s %40.2f ns a frame\n", "wick, an unchanged frame",
		       (ns - shallow_ns) / (count - shallow_frames));
	shallow_ns = ns;
	shallow_frames = count;
}

static void measure_all(void)
{
	measure_unchanged(true);
	(void)measure("wick, rules cached", walk_cached, ROUNDS);
	(void)measure("wick, nothing cached", walk_uncached, ROUNDS);
	if (libunwind_backtrace)
		(void)measure("libunwind unw_backtrace()", walk_libunwind, ROUNDS);
	else
		printf("libunwind is not installed\n");
	if (glibc_backtrace)
		(void)measure("glibc backtrace()", walk_glibc, ROUNDS / 20);
}

/* Functions of different shapes, so that each frame has a rule of its own. */
static __attribute__((noinline)) long descend(int depth);

#define SHAPE(number, bytes)                                                                       \
	static __attribute__((noinline)) long shape_##number(int depth)                            \
	{                                                                                          \
		volatile char room[bytes];                                                         \
                                                                                                   \
		room[0] = (char)depth;                                                             \
		return descend(depth) + room[0];                                                   \
	}

SHAPE(0, 8)
SHAPE(1, 40)
SHAPE(2, 100)
SHAPE(3, 200)
SHAPE(4, 300)
SHAPE(5, 24)

static __attribute__((noinline)) long descend(int depth)
{
	static long (*const shapes[])(int) = {shape_0, shape_1, shape_2, shape_3, shape_4, shape_5};

	if (depth == DEPTH / 2 - 5)
		measure_unchanged(false);
	if (depth == 0) {
		measure_all();
		return 0;
	}
	return shapes[depth % 6](depth - 1) + 1;
}

int main(void)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW);
	void *libunwind = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);

	if (libc)
		*(void **)&glibc_backtrace = dlsym(libc, "backtrace");
	if (libunwind)
		*(void **)&libunwind_backtrace = dlsym(libunwind, "unw_backtrace");
	if (glibc_backtrace)
		(void)glibc_backtrace(frames, FRAMES); /* loads libgcc */
	(void)unwind_own_publish(&own, own_modules_build(1));
	thread.stack = preload_own_stack();
	return descend(DEPTH / 2) < 0;
}

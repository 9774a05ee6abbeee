/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * threads_bench: how much faster two threads answer than one. Each has a symbolizer of its
 * own for the same file and half of its address space. The addresses come on standard
 * input. Both ways run in turns; the best of ROUNDS counts.
 *
 * On a machine with other work wall time says little: "by CPU" is what it would be if each
 * thread had a CPU for itself, that is with the time of the slower one.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <wick/symbolize.h>

#include "base/clock.h"
#include "base/vec.h"

#define ROUNDS 7
#define THREADS 2

struct part {
	const char *path;
	const uint64_t *addresses;
	size_t count;
	uint64_t cpu_ns;
	uint64_t frames; /* found: so that nothing is left out */
};

static void *answer(void *self)
{
	struct part *part = self;
	uint64_t start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct wick_symbolizer *symbolizer = NULL;
	struct wick_symbol symbol;

	if (wick_symbolizer_open_file(part->path, 0, NULL, &symbolizer, NULL) < 0)
		return NULL;
	part->frames = 0;
	for (size_t i = 0; i < part->count; i++)
		if (wick_symbolize(symbolizer, part->addresses[i], &symbol) >= 0)
			part->frames += symbol.frame_count;
	wick_symbolizer_close(symbolizer);
	part->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
	return NULL;
}

/* Returns the wall time; *ret_cpu_ns is that of the slowest thread. */
static uint64_t run(struct part *parts, size_t count, uint64_t *ret_cpu_ns)
{
	uint64_t start_ns = clock_monotonic_ns();
	pthread_t threads[THREADS];

	for (size_t i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, answer, &parts[i]) != 0)
			exit(1);
	*ret_cpu_ns = 0;
	for (size_t i = 0; i < count; i++) {
		(void)pthread_join(threads[i], NULL); /* it was started */
		if (parts[i].cpu_ns > *ret_cpu_ns)
			*ret_cpu_ns = parts[i].cpu_ns;
	}
	return clock_monotonic_ns() - start_ns;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a;
	const uint64_t *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void keep_least(uint64_t *least, uint64_t value)
{
	*least = value < *least ? value : *least;
}

int main(int argc, char **argv)
{
	uint64_t wall[2] = {UINT64_MAX, UINT64_MAX}, cpu[2] = {UINT64_MAX, UINT64_MAX}, took;
	VEC(uint64_t) addresses = {0};
	struct part whole, halves[THREADS];
	uint64_t address;

	if (argc != 2) {
		(void)fprintf(stderr, "usage: threads_bench FILE < ADDRESSES\n");
		return 2;
	}
	while (scanf("%" SCNx64, &address) == 1)
		if (vec_push(&addresses, address) < 0)
			return 1;
	if (addresses.count == 0)
		return 1;
	qsort(addresses.items, addresses.count, sizeof(*addresses.items), compare);
	whole = (struct part){argv[1], addresses.items, addresses.count, 0, 0};
	halves[0] = (struct part){argv[1], addresses.items, addresses.count / 2, 0, 0};
	halves[1] = (struct part){argv[1], addresses.items + addresses.count / 2,
				  addresses.count - addresses.count / 2, 0, 0};
	for (int i = 0; i < ROUNDS; i++) {
		keep_least(&wall[0], run(&whole, 1, &took));
		keep_least(&cpu[0], took);
		keep_least(&wall[1], run(halves, THREADS, &took));
		keep_least(&cpu[1], took);
		if (halves[0].frames + halves[1].frames != whole.frames)
			return 1;
	}
	(void)printf(
		"%zu addresses: one thread %.3f s, two %.3f s; %.2f times as fast, by CPU %.2f\n",
		addresses.count, (double)wall[0] / NS_PER_SEC, (double)wall[1] / NS_PER_SEC,
		(double)wall[0] / (double)wall[1], (double)cpu[0] / (double)cpu[1]);
	vec_fini(&addresses);
	return 0;
}

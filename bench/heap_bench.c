/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heap_bench: how many events of a heap the analysis takes in a second of CPU, and what memory
 * that needs.
 *
 *	heap_bench THREADS STACKS SIZES LIVE [EVENTS]
 *
 * Threads take turns of about 16 events; each keeps LIVE / THREADS blocks and replaces one
 * after the other, in the order that a shuffled free list would give. Prints one line.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/number.h"
#include "heap/analysis.h"
#include "heap/report.h"
#include "model/dictionary.h"
#include "model/heap_event.h"

#define BATCH 4096u
#define TURN_NS 1600u
#define MAX_THREADS 64u

struct maker {
	uint64_t random;
	uint64_t now_ns;
	uint64_t threads, stacks, sizes, slots;
	uint64_t *live; /* by slot of all threads: an address or 0 */
	uint64_t next;  /* address that was never used */
};

static uint64_t draw(struct maker *maker)
{
	maker->random ^= maker->random << 13;
	maker->random ^= maker->random >> 7;
	maker->random ^= maker->random << 17;
	return maker->random;
}

static void make_batch(struct maker *maker, uint32_t thread, struct heap_event *events)
{
	uint64_t start_ns = maker->now_ns + thread * 100;

	for (size_t i = 0; i < BATCH; i++) {
		uint64_t *place = &maker->live[thread * maker->slots + draw(maker) % maker->slots];

		events[i] = (struct heap_event){.time_ns = start_ns + i / 16 * TURN_NS + i % 16 * 6,
						.stack = UINT32_MAX};
		if (*place) {
			events[i].address = *place;
			events[i].op = HEAP_FREE;
			*place = 0;
			continue;
		}
		*place = events[i].address = maker->next;
		maker->next += 16;
		events[i].size = 1 + draw(maker) % maker->sizes;
		events[i].stack = (uint32_t)(1 + draw(maker) % maker->stacks);
	}
}

static void check(int r)
{
	if (r == 0)
		return;
	(void)fputs("heap_bench: out of memory\n", stderr);
	exit(1);
}

/* CPU time of the analysis alone. */
static uint64_t feed(struct maker *maker, struct heap_analysis *analysis, uint64_t events)
{
	static struct heap_event made[MAX_THREADS][BATCH];
	uint64_t took_ns = 0;

	for (uint64_t done = 0; done < events; done += BATCH * maker->threads) {
		uint64_t start_ns;

		for (uint32_t i = 0; i < maker->threads; i++)
			make_batch(maker, i, made[i]);
		maker->now_ns += BATCH / 16 * TURN_NS;
		start_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		for (uint32_t i = 0; i < maker->threads; i++)
			check(heap_analysis_batch(analysis,
						  &(struct heap_batch){i, BATCH, made[i]}));
		check(heap_analysis_until(analysis, maker->now_ns));
		took_ns += clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start_ns;
	}
	return took_ns;
}

int main(int argc, char **argv)
{
	uint64_t numbers[5] = {0, 0, 0, 0, 20000000};
	struct maker maker = {.random = 88172645463325252u, .now_ns = NS_PER_SEC, .next = 4096};
	struct dictionary dictionary;
	struct heap_analysis *analysis;
	struct rusage usage;
	uint64_t took_ns;

	for (int i = 1; i < argc && i < 6; i++)
		if (number_parse_u64(argv[i], &numbers[i - 1]) < 0)
			argc = 0;
	if (argc < 5 || numbers[0] == 0 || numbers[0] > MAX_THREADS || numbers[1] == 0 ||
	    numbers[2] == 0 || numbers[3] < numbers[0]) {
		(void)fputs("usage: heap_bench THREADS STACKS SIZES LIVE [EVENTS]\n", stderr);
		return 2;
	}
	maker.threads = numbers[0];
	maker.stacks = numbers[1];
	maker.sizes = numbers[2];
	maker.slots = numbers[3] / numbers[0] * 2; /* half of them are taken */
	maker.live = calloc(maker.slots * maker.threads, sizeof(*maker.live));
	check(maker.live ? dictionary_init(&dictionary) : -1);
	for (uint32_t i = 0; i < maker.threads; i++)
		(void)dictionary_thread(&dictionary, &(struct thread){.tid = i + 1, .comm = "t"});
	check(heap_analysis_new(&(struct heap_config){.dictionary = &dictionary}, &analysis));
	took_ns = feed(&maker, analysis, numbers[4]);
	check(heap_analysis_finish(analysis));
	(void)getrusage(RUSAGE_SELF, &usage); /* cannot fail */
	printf("events %" PRIu64 " cpu_ns %" PRIu64 " peak_kib %ld live %.0f\n",
	       heap_analysis_report(analysis)->quality.events, took_ns, usage.ru_maxrss,
	       heap_analysis_report(analysis)->totals.live.blocks);
	heap_analysis_free(analysis);
	dictionary_fini(&dictionary);
	free(maker.live);
	return 0;
}

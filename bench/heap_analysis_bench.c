/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heap_analysis_bench: how many events of a heap the analysis takes in a second of CPU, and what
 * memory that needs.
 *
 *	heap_analysis_bench THREADS STACKS SIZES LIVE [EVENTS]
 *
 * Threads take turns of about 16 events. Half of the blocks are freed within the next few events,
 * the others replace one of LIVE / THREADS that are kept. Addresses come again as an allocator
 * gives them, the last one freed of a size first, and some stacks allocate much more than others.
 * Prints one line.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/number.h"
#include "heap/analysis.h"
#include "heap/report.h"
#include "model/dictionary.h"
#include "model/heap_event.h"
#include "proc/process_info.h"

#define BATCH 4096u
#define TURN_NS 1600u
#define MAX_THREADS 64u

#define BINS 64u
#define SHORT 8u

/* What a thread's allocator knows. */
struct arena_of {
	uint64_t *kept; /* by slot: an address with its bin in the low bits; 0: none */
	uint64_t temporary[SHORT];
	size_t temporaries;
	uint64_t *freed[BINS]; /* stacks of addresses */
	size_t freed_count[BINS];
};

struct maker {
	uint64_t random;
	uint64_t now_ns;
	uint64_t threads, stacks, sizes, slots;
	uint64_t next; /* address that was never used */
	struct arena_of arenas[MAX_THREADS];
};

static uint64_t draw(struct maker *maker)
{
	maker->random ^= maker->random << 13;
	maker->random ^= maker->random >> 7;
	maker->random ^= maker->random << 17;
	return maker->random;
}

/* An address with its bin in the low bits, and an event for it. */
static uint64_t allocate(struct maker *maker, struct arena_of *arena, struct heap_event *event)
{
	double where = (double)(draw(maker) >> 11) * 0x1p-53;
	uint64_t bin;
	uint64_t address;

	event->size = 1 + draw(maker) % maker->sizes;
	bin = event->size * (BINS - 1) / maker->sizes;
	if (arena->freed_count[bin] > 0) {
		address = arena->freed[bin][--arena->freed_count[bin]];
	} else {
		address = maker->next;
		maker->next += BINS;
	}
	event->address = address;
	event->stack = (uint32_t)((double)maker->stacks * where * where * where);
	return address + bin;
}

static void release(struct maker *maker, struct arena_of *arena, uint64_t place,
		    struct heap_event *event)
{
	uint64_t bin = place % BINS;

	event->op = HEAP_FREE;
	event->stack = UINT32_MAX;
	event->address = place - bin;
	if (arena->freed_count[bin] < maker->slots + SHORT)
		arena->freed[bin][arena->freed_count[bin]++] = event->address;
}

static void make_batch(struct maker *maker, uint32_t thread, struct heap_event *events)
{
	struct arena_of *arena = &maker->arenas[thread];
	uint64_t start_ns = maker->now_ns + thread * 100;

	for (size_t i = 0; i < BATCH; i++) {
		uint64_t *place = &arena->kept[draw(maker) % maker->slots];
		uint64_t choice = draw(maker) >> 60;

		events[i] =
			(struct heap_event){.time_ns = start_ns + i / 16 * TURN_NS + i % 16 * 6};
		if (choice < 8 && arena->temporaries > 0 &&
		    (choice < 4 || arena->temporaries == SHORT)) {
			release(maker, arena, arena->temporary[--arena->temporaries], &events[i]);
		} else if (choice < 8 && arena->temporaries < SHORT) {
			arena->temporary[arena->temporaries++] = allocate(maker, arena, &events[i]);
		} else if (*place) {
			release(maker, arena, *place, &events[i]);
			*place = 0;
		} else {
			*place = allocate(maker, arena, &events[i]);
		}
	}
}

static void check(int r)
{
	if (r == 0)
		return;
	(void)fputs("heap_analysis_bench: out of memory\n", stderr);
	exit(1);
}

/* What it has is there until the end. Pages that are not touched cost nothing. */
static void make_arena(const struct maker *maker, struct arena_of *arena)
{
	arena->kept = calloc(maker->slots, sizeof(*arena->kept));
	check(arena->kept ? 0 : -1);
	for (size_t i = 0; i < BINS; i++) {
		arena->freed[i] = malloc((maker->slots + SHORT) * sizeof(uint64_t));
		check(arena->freed[i] ? 0 : -1);
	}
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
	static struct maker maker = {
		.random = 88172645463325252u, .now_ns = NS_PER_SEC, .next = 4096};
	struct dictionary dictionary;
	struct heap_analysis *analysis;
	uint64_t took_ns;

	for (int i = 1; i < argc && i < 6; i++)
		if (number_parse_u64(argv[i], &numbers[i - 1]) < 0)
			argc = 0;
	if (argc < 5 || numbers[0] == 0 || numbers[0] > MAX_THREADS || numbers[1] == 0 ||
	    numbers[2] == 0 || numbers[3] < numbers[0]) {
		(void)fputs("usage: heap_analysis_bench THREADS STACKS SIZES LIVE [EVENTS]\n",
			    stderr);
		return 2;
	}
	maker.threads = numbers[0];
	maker.stacks = numbers[1];
	maker.sizes = numbers[2];
	maker.slots = numbers[3] / numbers[0] * 2; /* half of them are taken */
	check(dictionary_init(&dictionary));
	for (uint32_t i = 0; i < maker.threads; i++)
		make_arena(&maker, &maker.arenas[i]);
	for (uint32_t i = 0; i < maker.threads; i++)
		(void)dictionary_thread(&dictionary, &(struct thread){.tid = i + 1, .comm = "t"});
	check(heap_analysis_new(&(struct heap_config){.dictionary = &dictionary}, &analysis));
	took_ns = feed(&maker, analysis, numbers[4]);
	check(heap_analysis_finish(analysis));
	printf("events %" PRIu64 " cpu_ns %" PRIu64 " peak_kib %" PRIu64 " live %.0f\n",
	       heap_analysis_report(analysis)->quality.events, took_ns, process_peak_bytes() / 1024,
	       heap_analysis_report(analysis)->totals.live.blocks);
	heap_analysis_free(analysis);
	dictionary_fini(&dictionary);
	return 0;
}

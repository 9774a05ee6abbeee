/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/uprobe/probe_cost.h"

#include <unistd.h>

#include "base/clock.h"
#include "engine/ebpf/heap_probes.h"
#include "proc/maps.h"

#define CALLS 1000u
#define ROUNDS 5u /* the best round counts: others may be using our CPU */

/* The function to probe. */
static __attribute__((noinline)) uint32_t target(uint32_t value)
{
	__asm__ volatile("" : "+r"(value));
	return value + 1;
}

static uint64_t best_call_ns(void)
{
	uint64_t best_ns = UINT64_MAX;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint64_t start_ns = clock_monotonic_ns();
		uint64_t taken_ns;
		uint32_t value = 0;

		while (value < CALLS)
			value = target(value);
		taken_ns = clock_monotonic_ns() - start_ns;
		best_ns = taken_ns < best_ns ? taken_ns : best_ns;
	}
	return best_ns / CALLS;
}

static uint64_t measure(struct walker *walker, uint64_t offset, bool returns)
{
	struct heap_probe probe = {offset, BPF_HEAP_COOKIE(BPF_HEAP_NOTHING, returns, 0)};
	struct heap_places places = {"/proc/self/exe", &probe, 1};
	struct heap_links links;
	uint64_t ns;

	if (heap_links_attach(walker, &places, getpid(), &links, NULL) < 0)
		return 0;
	ns = best_call_ns();
	heap_links_detach(&links);
	return ns;
}

void probe_cost_measure(struct walker *walker, struct probe_cost *ret)
{
	uint64_t address = (uint64_t)(uintptr_t)target;
	struct maps maps = {0};
	const struct map_region *region = NULL;

	*ret = (struct probe_cost){0};
	if (maps_read(&maps, 0, MAPS_EXECUTABLE_ONLY, NULL) == 0)
		region = maps_find(&maps, address);
	if (region) {
		uint64_t offset = address - region->start + region->file_offset;
		uint64_t both_ns = measure(walker, offset, true);

		ret->entry_ns = measure(walker, offset, false);
		ret->return_ns = both_ns > ret->entry_ns ? both_ns - ret->entry_ns : 0;
	}
	maps_fini(&maps);
}

double probe_cost_pairs(uint64_t allocations, uint64_t frees, uint64_t elapsed_ns)
{
	/* A program that only allocates or only frees costs half as much as one that does both. */
	return elapsed_ns > 0 ? (double)(allocations + frees) / 2 * NS_PER_SEC / (double)elapsed_ns
			      : 0;
}

bool probe_cost_is_too_much(double pairs_per_second)
{
	return pairs_per_second > HIT_COST_MANY_PAIRS;
}

uint64_t probe_cost_pair_ns(const struct probe_cost *cost, bool sampled)
{
	return 2 * cost->entry_ns + (sampled ? 0 : cost->return_ns);
}

double probe_cost_share(double pairs_per_second, uint64_t pair_ns)
{
	return pairs_per_second * (double)pair_ns / NS_PER_SEC;
}

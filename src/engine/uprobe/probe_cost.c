/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/uprobe/probe_cost.h"

#include <unistd.h>

#include "base/clock.h"
#include "engine/ebpf/heap_probes.h"
#include "proc/maps.h"

#define CALLS 1000u
#ifdef __x86_64__
#define JUMP "jmp"
#else
#define JUMP "b"
#endif
#define ROUNDS 5u /* the best round counts: others may be using our CPU */

/* A function to probe, whose first instruction the CPU must execute. */
static __attribute__((noinline)) uint32_t stepped_target(uint32_t value)
{
	__asm__ volatile("" : "+r"(value));
	return value + 1;
}

/* A function to probe, whose first instruction the kernel emulates. */
static __attribute__((noinline)) uint32_t emulated_target(uint32_t value)
{
	__asm__ volatile(JUMP " 1f\n1:" : "+r"(value));
	return value + 1;
}

static uint64_t best_call_ns(uint32_t (*target)(uint32_t))
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

/* What a call takes with a probe. 0: there can be none. */
static uint64_t measure(struct walker *walker, const struct maps *maps,
			uint32_t (*target)(uint32_t), bool returns)
{
	uint64_t address = (uint64_t)(uintptr_t)target;
	const struct map_region *region = maps_find(maps, address);
	struct heap_probe probe = {.cookie = BPF_HEAP_COOKIE(BPF_HEAP_NOTHING, returns, 0)};
	struct heap_places places = {"/proc/self/exe", &probe, 1};
	struct heap_links links;
	uint64_t ns;

	if (!region)
		return 0;
	probe.offset = address - region->start + region->file_offset;
	if (heap_links_attach(walker, &places, getpid(), &links, NULL) < 0)
		return 0;
	ns = best_call_ns(target);
	heap_links_detach(&links);
	return ns;
}

void probe_cost_measure(struct walker *walker, uint32_t stepped, struct probe_cost *ret)
{
	struct maps maps = {0};

	*ret = (struct probe_cost){0};
	if (maps_read(&maps, 0, MAPS_EXECUTABLE_ONLY, NULL) == 0) {
		uint64_t stepped_ns = stepped ? measure(walker, &maps, stepped_target, false) : 0;
		uint64_t emulated_ns = measure(walker, &maps, emulated_target, false);
		uint64_t both_ns = measure(walker, &maps, emulated_target, true);

		ret->entry_ns = (stepped_ns * stepped + emulated_ns * (2 - stepped)) / 2;
		ret->return_ns = both_ns > emulated_ns ? both_ns - emulated_ns : 0;
	}
	maps_fini(&maps);
}

uint64_t probe_cost_run_ns(uint64_t timed_ns, uint64_t timed_runs, uint64_t runs)
{
	return timed_runs > 0 ? (uint64_t)((double)timed_ns / (double)timed_runs * (double)runs)
			      : 0;
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

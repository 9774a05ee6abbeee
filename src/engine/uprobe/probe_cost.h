/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_UPROBE_PROBE_COST_H
#define WICK_ENGINE_UPROBE_PROBE_COST_H

/* probe_cost: the cost of a probe hit, and of a rate of hits. */

#include <stdbool.h>
#include <stdint.h>

struct walker;

/* Above this many pairs of allocation and free per second, recording needs --force. */
#define HIT_COST_MANY_PAIRS 200000.0

/* Without the work of the BPF programs. */
struct probe_cost {
	uint64_t entry_ns;
	uint64_t return_ns;
};

/*
 * Measures at functions of our own. All 0 if that is not possible. Of the probes at malloc() and
 * free() the kernel cannot emulate the instructions of this many (0 to 2).
 */
void probe_cost_measure(struct walker *walker, uint32_t stepped, struct probe_cost *ret);

/*
 * How long the programs ran for all their runs, if only some of the runs were timed. 0: unknown.
 */
uint64_t probe_cost_run_ns(uint64_t timed_ns, uint64_t timed_runs, uint64_t runs);

/* Pairs per second, from the number of calls in a time. */
double probe_cost_pairs(uint64_t allocations, uint64_t frees, uint64_t elapsed_ns);
bool probe_cost_is_too_much(double pairs_per_second);
/* The minimum cost of a pair: two entries, and a return if all blocks are recorded. */
uint64_t probe_cost_pair_ns(const struct probe_cost *cost, bool sampled);
/* Share of one CPU; 1 is all of it. */
double probe_cost_share(double pairs_per_second, uint64_t pair_ns);

#endif

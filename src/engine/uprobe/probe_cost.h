/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_UPROBE_PROBE_COST_H
#define WICK_ENGINE_UPROBE_PROBE_COST_H

/*
 * probe_cost: what probes cost whoever runs into them, and what that comes to at a rate.
 */

#include <stdbool.h>
#include <stdint.h>

struct walker;

/* Above so many pairs of allocation and free a second somebody must want it. */
#define HIT_COST_MANY_PAIRS 200000.0

/* Without what programs do there. */
struct probe_cost {
	uint64_t entry_ns;
	uint64_t return_ns;
};

/* Measured at a function of our own. All 0 when it cannot be done. */
void probe_cost_measure(struct walker *walker, struct probe_cost *ret);

/* Pairs a second, of so many calls in a time. */
double probe_cost_pairs(uint64_t allocations, uint64_t frees, uint64_t elapsed_ns);
bool probe_cost_is_too_much(double pairs_per_second);
/* The least that a pair costs: two entries, and a return where all blocks are told of. */
uint64_t probe_cost_pair_ns(const struct probe_cost *cost, bool sampled);
/* Of a second of one CPU, 1 for all of it. */
double probe_cost_share(double pairs_per_second, uint64_t pair_ns);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_BREAKER_H
#define WICK_RECORD_BREAKER_H

/*
 * breaker: lets go when the whole host is short of CPU time, whoever uses it.
 *
 * It opens when the host was too busy for two stretches in a row, and closes when it was
 * well below that for five: a host at its limit does not switch sampling on and off.
 */

#include <stdbool.h>
#include <stdint.h>

struct breaker {
	double limit;     /* busy share of all CPUs, 0.9 for 90 %; 0: none */
	bool open;        /* nothing is to be sampled */
	uint32_t against; /* stretches in a row that speak for the other state */
	double busy;      /* in the last stretch */
	uint64_t last_busy_ns;
	uint64_t last_total_ns;
};

void breaker_init(struct breaker *breaker, double limit);

/* CPU time of all CPUs since boot, busy and in all. Returns whether the state changed. */
bool breaker_look(struct breaker *breaker, uint64_t busy_ns, uint64_t total_ns);

#endif

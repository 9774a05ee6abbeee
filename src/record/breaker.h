/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_BREAKER_H
#define WICK_RECORD_BREAKER_H

/*
 * breaker: pauses sampling when the whole host is short of CPU time, whatever uses it.
 *
 * It opens when the host was too busy for two periods in a row, and closes when it was well below
 * the limit for five. So sampling does not flap on a host near its limit.
 */

#include <stdbool.h>
#include <stdint.h>

struct breaker {
	double limit;     /* busy share of all CPUs, 0.9 for 90 %; 0: no limit */
	bool open;        /* sampling must pause */
	uint32_t against; /* consecutive periods that call for the other state */
	double busy;      /* in the last period */
	uint64_t last_busy_ns;
	uint64_t last_total_ns;
};

void breaker_init(struct breaker *breaker, double limit);

/* Takes the CPU time of all CPUs since boot, busy and total. Returns whether the state changed. */
bool breaker_look(struct breaker *breaker, uint64_t busy_ns, uint64_t total_ns);

#endif

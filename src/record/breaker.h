/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_BREAKER_H
#define WICK_RECORD_BREAKER_H

/*
 * breaker: pauses sampling when the whole host is short of CPU time, whatever uses it.
 *
 * It opens when the host was too busy for two periods in a row, and closes when it was well below
 * the limit for five. So sampling does not flap on a host near its limit. A slow breaker, for
 * recorders that run all the time, judges the mean of ten periods, and closes after sixty.
 */

#include <stdbool.h>
#include <stdint.h>

#define BREAKER_MEAN_MAX 10

struct breaker {
	bool slow;
	double limit;     /* busy share of all CPUs, 0.9 for 90 %; 0: no limit */
	bool open;        /* sampling must pause */
	uint32_t against; /* consecutive periods that call for the other state */
	double busy;      /* in the last period, or on average */
	uint64_t last_busy_ns;
	uint64_t last_total_ns;
	/* Of a slow one: the last periods. */
	uint64_t periods;
	uint64_t busy_ns[BREAKER_MEAN_MAX];
	uint64_t total_ns[BREAKER_MEAN_MAX];
};

void breaker_init(struct breaker *breaker, double limit);
void breaker_init_slow(struct breaker *breaker, double limit);

/* Takes the CPU time of all CPUs since boot, busy and total. Returns whether the state changed. */
bool breaker_look(struct breaker *breaker, uint64_t busy_ns, uint64_t total_ns);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PIPELINE_BUDGET_H
#define WICK_PIPELINE_BUDGET_H

/*
 * budget: the rate that keeps what sampling costs below a share of the target's time.
 *
 * It looks at stretches of time, one after the other: what they cost in the target and
 * in the recorder. The rate falls at once when that is too much, by as much as it takes,
 * and rises slowly when there is room, so that it does not swing. Rates below the one that
 * was asked for are primes.
 */

#include <stdbool.h>
#include <stdint.h>

#define BUDGET_LEAST_HZ 10u

struct budget {
	double share;      /* of the time that may be spent, 0.02 for 2 %; 0: no limit */
	uint32_t asked_hz; /* the rate never rises above that */
	uint32_t hz;
	uint32_t calm;    /* stretches in a row with room to spare */
	double own_share; /* of the recorder, evened out: it works in bursts */
	double spent;     /* of late, as a share */
	/* Of late: what sampling cost the target, and the samples that were due for it. */
	double cost_ns;
	double due;
};

struct budget_stretch {
	uint64_t target_ns; /* its time that samples stand for */
	uint64_t cost_ns;   /* of that, by what sampling costs */
	uint64_t wall_ns;   /* of one CPU, or of all that are watched */
	uint64_t own_ns;    /* CPU time of the recorder */
};

/* Begins below the rate that is asked for when that might be too much: it can only rise. */
void budget_init(struct budget *budget, double share, uint32_t asked_hz);

/* Looks at a stretch. Returns the rate from now on. */
uint32_t budget_look(struct budget *budget, const struct budget_stretch *stretch);

/* Halves the rate for another reason; it rises again as there is room. */
uint32_t budget_halve(struct budget *budget);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_BUDGET_H
#define WICK_RECORD_BUDGET_H

/*
 * budget: finds the rate at which sampling costs less than a given share of the target's time.
 *
 * It examines one period after another: what sampling cost in the target and in the recorder. The
 * rate falls when that is too much for several periods in a row, or at once when it is far too
 * much. It rises slowly when there is room, so that it does not oscillate. One-time work of the
 * recorder, such as building the tables of a large program, does not lower the rate. The rate never
 * falls below a floor: ten samples a second say nothing about a single process. Rates below the
 * requested one are primes.
 */

#include <stdbool.h>
#include <stdint.h>

/* Floors for each kind of target: the samples of a machine come from all its CPUs. */
#define BUDGET_PROCESS_HZ 97u
#define BUDGET_MACHINE_HZ 10u
#define BUDGET_AGENT_HZ 1u

struct budget {
	double share;      /* share of the time that sampling may use, 0.02 for 2 %; 0: no limit */
	uint32_t asked_hz; /* the rate never rises above this */
	uint32_t floor_hz; /* and never falls below this */
	uint32_t hz;
	uint32_t hot;  /* consecutive periods that cost too much */
	uint32_t calm; /* consecutive periods with room to spare */
	/* The share of the recorder: a mean of several periods, because it works in bursts. */
	double own_share;
	uint32_t own_periods; /* how many, for now */
	uint32_t own_most_periods;
	double spent; /* recent cost, as a share */
	/* Recently: what sampling cost the target, and the number of samples due in that time. */
	double cost_ns;
	double due;
};

struct budget_stretch {
	uint64_t target_ns; /* time of the target that the samples represent */
	uint64_t cost_ns;   /* of that, the cost of sampling */
	uint64_t wall_ns;   /* of one CPU, or of all that are watched */
	uint64_t own_ns;    /* CPU time of the recorder */
};

/*
 * Starts below the requested rate if that might cost too much, so that the first change is upwards.
 * If the requested rate is not above the floor, the floor of a machine applies.
 */
void budget_init(struct budget *budget, double share, uint32_t asked_hz, uint32_t floor_hz);

/*
 * The same for a recorder that runs all the time, whose periods are seconds. It hands over what it
 * has once a minute, which is a tenth of a second of work at once: the mean is that of a minute.
 */
void budget_init_slow(struct budget *budget, double share, uint32_t asked_hz, uint32_t floor_hz);

/* Evaluates a period. Returns the rate to use from now on. */
uint32_t budget_look(struct budget *budget, const struct budget_stretch *stretch);

/* Whether sampling costs too much even at the floor: the rate cannot fall further. */
bool budget_is_exhausted(const struct budget *budget);

/* Halves the rate for another reason; it rises again when there is room. */
uint32_t budget_halve(struct budget *budget);

#endif

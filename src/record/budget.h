/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_BUDGET_H
#define WICK_RECORD_BUDGET_H

/*
 * budget: the rate that keeps what sampling costs below a share of the target's time.
 *
 * It looks at stretches of time, one after the other: what they cost in the target and
 * in the recorder. The rate falls when that is too much for some stretches in a row, or at
 * once when it is far too much, and rises slowly when there is room, so that it does not
 * swing. Work of the recorder that comes once, for example the tables of a large program,
 * is no reason to sample less. The rate never falls below a floor: a profile of ten samples a
 * second says nothing about one process. Rates below the one that was asked for are primes.
 */

#include <stdbool.h>
#include <stdint.h>

/* Floors, by what is recorded: the samples of a machine are those of all its CPUs. */
#define BUDGET_PROCESS_HZ 97u
#define BUDGET_MACHINE_HZ 10u
#define BUDGET_AGENT_HZ 1u

struct budget {
	double share;      /* of the time that may be spent, 0.02 for 2 %; 0: no limit */
	uint32_t asked_hz; /* the rate never rises above that */
	uint32_t floor_hz; /* and never falls below this */
	uint32_t hz;
	uint32_t hot;     /* stretches in a row that cost too much */
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

/*
 * Begins below the rate that is asked for when that might be too much: it can only rise. For a
 * rate that is not above the floor the floor is that of a machine.
 */
void budget_init(struct budget *budget, double share, uint32_t asked_hz, uint32_t floor_hz);

/* Looks at a stretch. Returns the rate from now on. */
uint32_t budget_look(struct budget *budget, const struct budget_stretch *stretch);

/* Whether it costs too much at the floor: the rate will not fall any more. */
bool budget_is_exhausted(const struct budget *budget);

/* Halves the rate for another reason; it rises again as there is room. */
uint32_t budget_halve(struct budget *budget);

#endif

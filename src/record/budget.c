/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/budget.h"

/*
 * The cost at which the rate falls, at which it may rise, and the target, as parts of the budget.
 */
#define TOO_MUCH 1.08
#define TOO_LITTLE 0.85
#define AIM 0.97
/* The rate falls after this many periods of too much, or at once above this cost. */
#define HOT_STRETCHES 3u
#define FAR_TOO_MUCH 3.0
/* The rate rises after this many calm periods, by this much at a time. */
#define CALM_STRETCHES 4u
#define RISE_MOST 2.0
#define RISE_LEAST_HZ 8 /* beyond the next prime */
/* The recorder's share is the mean of about so many periods; a slow one begins with the first. */
#define OWN_PERIODS 4u
#define OWN_SLOW_PERIODS 60u
/*
 * The most that a period can add to that, in budgets: more is work that a lower rate would not
 * save.
 */
#define OWN_STEP 0.75
/* This many due samples are enough to know the cost of one; fewer arrive in clumps. */
#define DUE_ENOUGH 150.0

/* The assumed cost of a sample before it has been measured: a deep stack on a busy machine. */
#define CAUTIOUS_NS 20000.0

static bool is_prime(uint32_t n)
{
	for (uint32_t i = 2; i * i <= n; i++)
		if (n % i == 0)
			return false;
	return n > 1;
}

/*
 * The next lower rate that is a prime: programs have round periods, and sampling must not run in
 * step with them.
 */
static uint32_t bounded_hz(const struct budget *budget, double wanted_hz)
{
	uint32_t hz = wanted_hz < budget->asked_hz ? (uint32_t)wanted_hz : budget->asked_hz;

	if (wanted_hz >= budget->asked_hz)
		return hz;
	while (!is_prime(hz) && hz > budget->floor_hz)
		hz--;
	return hz > budget->floor_hz ? hz : budget->floor_hz;
}

/* A user who asks for no more than the floor wants a low cost, so the rate may go below it. */
static uint32_t usable_floor(uint32_t asked_hz, uint32_t floor_hz)
{
	if (floor_hz < asked_hz)
		return floor_hz;
	return asked_hz < BUDGET_MACHINE_HZ ? asked_hz : BUDGET_MACHINE_HZ;
}

void budget_init(struct budget *budget, double share, uint32_t asked_hz, uint32_t floor_hz)
{
	*budget = (struct budget){
		.share = share,
		.asked_hz = asked_hz,
		.floor_hz = usable_floor(asked_hz, floor_hz),
		.hz = asked_hz,
		.own_periods = OWN_PERIODS,
		.own_most_periods = OWN_PERIODS,
	};
	if (share > 0)
		budget->hz = bounded_hz(budget, share * 1e9 / CAUTIOUS_NS);
}

void budget_init_slow(struct budget *budget, double share, uint32_t asked_hz, uint32_t floor_hz)
{
	budget_init(budget, share, asked_hz, floor_hz);
	budget->own_most_periods = OWN_SLOW_PERIODS;
}

/* Updates the recorder's share. If the target hardly runs, it is relative to the machine. */
static void add_own_share(struct budget *budget, const struct budget_stretch *stretch)
{
	uint64_t base_ns =
		stretch->target_ns > stretch->wall_ns ? stretch->target_ns : stretch->wall_ns;
	double share = (double)stretch->own_ns / (double)base_ns;
	double most = OWN_STEP * budget->own_periods * budget->share;

	if (budget->share > 0 && share > most)
		share = most;
	budget->own_share += (share - budget->own_share) / budget->own_periods;
	if (budget->own_periods < budget->own_most_periods)
		budget->own_periods++;
}

/*
 * The target's share at the current rate, from the cost of a due sample. If the target hardly ran,
 * the period says little: then enough of the earlier figures is kept.
 */
static double target_share(struct budget *budget, const struct budget_stretch *stretch)
{
	double due = (double)stretch->target_ns * budget->hz / 1e9;
	double kept = due < DUE_ENOUGH ? DUE_ENOUGH - due : 0;

	kept = kept < budget->due ? kept / budget->due : 1;
	budget->cost_ns = budget->cost_ns * kept + (double)stretch->cost_ns;
	budget->due = budget->due * kept + due;
	return budget->cost_ns / budget->due * budget->hz / 1e9;
}

/* The recorder's share was measured at the previous rate: scale it to the new one. */
static void set_rate(struct budget *budget, double wanted_hz)
{
	uint32_t hz = bounded_hz(budget, wanted_hz);

	if (hz < budget->hz)
		budget->own_share *= (double)hz / budget->hz;
	budget->hz = hz;
	budget->calm = 0;
	budget->hot = 0;
}

uint32_t budget_look(struct budget *budget, const struct budget_stretch *stretch)
{
	double part;

	if (stretch->target_ns == 0)
		return budget->hz;
	add_own_share(budget, stretch);
	budget->spent = target_share(budget, stretch) + budget->own_share;
	/* Without a budget there is always room: only budget_halve() has lowered the rate. */
	part = budget->share > 0 ? budget->spent / budget->share : 0;
	budget->calm = part < TOO_LITTLE ? budget->calm + 1 : 0;
	budget->hot = part > TOO_MUCH ? budget->hot + 1 : 0;
	if (budget->hz > budget->floor_hz &&
	    (budget->hot >= HOT_STRETCHES || part > FAR_TOO_MUCH)) {
		set_rate(budget, budget->hz * AIM / part);
	} else if (budget->calm >= CALM_STRETCHES && budget->hz < budget->asked_hz) {
		double rise = part > 0 && AIM / part < RISE_MOST ? AIM / part : RISE_MOST;

		set_rate(budget, budget->hz * rise + RISE_LEAST_HZ);
	}
	return budget->hz;
}

bool budget_is_exhausted(const struct budget *budget)
{
	return budget->hz <= budget->floor_hz && budget->hot >= HOT_STRETCHES;
}

uint32_t budget_halve(struct budget *budget)
{
	set_rate(budget, budget->hz / 2.0);
	return budget->hz;
}

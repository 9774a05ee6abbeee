/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/budget.h"

/* Where the rate falls, where it may rise, and what it aims at, as parts of the budget. */
#define TOO_MUCH 1.08
#define TOO_LITTLE 0.85
#define AIM 0.97
/* So many stretches of too much before it falls; so much is a reason to fall at once. */
#define HOT_STRETCHES 3u
#define FAR_TOO_MUCH 3.0
/* So many calm stretches before it rises, and how much at once. */
#define CALM_STRETCHES 4u
#define RISE_MOST 2.0
#define RISE_LEAST_HZ 8 /* beyond the next prime */
/* How much of the last stretch is in the recorder's share. */
#define OWN_WEIGHT 0.25
/* What a stretch can add to that, in budgets: more is work that no lower rate would save. */
#define OWN_MOST 3.0
/* So many samples that were due tell what one costs; fewer come in clumps. */
#define DUE_ENOUGH 150.0

/* What a sample may cost before anybody has measured it: a deep stack on a busy machine. */
#define CAUTIOUS_NS 20000.0

static bool is_prime(uint32_t n)
{
	for (uint32_t i = 2; i * i <= n; i++)
		if (n % i == 0)
			return false;
	return n > 1;
}

/* The rate below that: a prime, for programs have round periods, and must not be met in step. */
static uint32_t bounded_hz(const struct budget *budget, double wanted_hz)
{
	uint32_t hz = wanted_hz < budget->asked_hz ? (uint32_t)wanted_hz : budget->asked_hz;

	if (wanted_hz >= budget->asked_hz)
		return hz;
	while (!is_prime(hz) && hz > budget->floor_hz)
		hz--;
	return hz > budget->floor_hz ? hz : budget->floor_hz;
}

/* Who asks for no more than the floor wants to cost little: that is the reason to go below it. */
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
	};
	if (share > 0)
		budget->hz = bounded_hz(budget, share * 1e9 / CAUTIOUS_NS);
}

/* The recorder's part. Next to a target that hardly runs it is measured by the machine. */
static double own_share(const struct budget *budget, const struct budget_stretch *stretch)
{
	uint64_t base_ns =
		stretch->target_ns > stretch->wall_ns ? stretch->target_ns : stretch->wall_ns;
	double share = (double)stretch->own_ns / (double)base_ns;

	return budget->share > 0 && share > OWN_MOST * budget->share ? OWN_MOST * budget->share
								     : share;
}

/*
 * The target's part at the rate of now, by what a sample that was due cost. A target that
 * hardly ran says little: as much of what was known before is kept as makes enough of it.
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

/* What was known of the recorder was at the rate before: it follows the rate. */
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
	budget->own_share += OWN_WEIGHT * (own_share(budget, stretch) - budget->own_share);
	budget->spent = target_share(budget, stretch) + budget->own_share;
	if (budget->share <= 0)
		return budget->hz;
	part = budget->spent / budget->share;
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

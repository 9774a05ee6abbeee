/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/significance.h"

#include <math.h>

#include "model/function_cost.h"

/* With fewer slices their differences say little; only counts are used. */
#define MIN_SLICES 16u

#define ROUNDING 1e-12 /* a double has 16 digits, a limit few */

/* Half the mean squared difference of neighbours is the variance; here, of their sum. */
static double of_slices(double squared_steps, uint32_t slices)
{
	if (slices < MIN_SLICES)
		return 0;
	return squared_steps / 2 * slices / (slices - 1);
}

/* The variance of the weight of that many samples, each present by chance. */
static double of_samples(double weight, double samples)
{
	return samples > 0 ? weight * weight / samples : 0;
}

struct estimate estimate_share(const struct cost *part, const struct cost_table *table)
{
	double whole = (double)table->whole.weight;
	double samples = (double)table->whole.samples;
	double counted = (double)part->samples;
	struct estimate share = {.variance = INFINITY};
	double p;
	double likely;
	double weighed;
	double timed;

	if (whole > 0 && table->exact)
		return (struct estimate){.value = (double)part->weight / whole};
	if (whole <= 0 || samples <= 0)
		return share;
	p = (double)part->weight / whole;
	/* Seeing none or all of the samples does not prove that there are never others. */
	likely = (p * samples + 0.5) / (samples + 1);
	weighed = (1 - p) * (1 - p) * of_samples((double)part->weight, counted) +
		  p * p * of_samples(whole - (double)part->weight, samples - counted);
	timed = of_slices(part->steps - 2 * p * part->joint + p * p * table->whole.steps,
			  table->slices);
	share.value = p;
	share.grain = 1 / samples;
	share.variance =
		fmax(likely * (1 - likely) / samples, fmax(weighed, timed) / (whole * whole));
	return share;
}

struct estimate estimate_amount(const struct cost *part, const struct cost_table *table)
{
	double samples = (double)table->whole.samples;
	struct estimate amount = {.value = (double)part->weight, .variance = INFINITY};

	if (table->exact)
		amount.variance = 0;
	if (table->exact || samples <= 0)
		return amount;
	amount.grain = (double)table->whole.weight / samples;
	amount.variance = fmax(amount.grain * amount.grain * ((double)part->samples + 0.5),
			       fmax(of_samples((double)part->weight, (double)part->samples),
				    of_slices(part->steps, table->slices)));
	return amount;
}

struct estimate estimate_scaled(struct estimate estimate, double factor)
{
	return (struct estimate){
		.value = estimate.value * factor,
		.variance = estimate.variance * factor * factor,
		.grain = estimate.grain * factor,
	};
}

double significance_more(const struct estimate *before, const struct estimate *after, double factor,
			 double offset)
{
	double excess = after->value - factor * before->value - offset;
	double half_sample = (after->grain + factor * before->grain) / 2;
	double deviation = sqrt(after->variance + factor * factor * before->variance);

	if (!(deviation > 0)) /* a value just at the limit must not exceed it by rounding */
		return excess > half_sample + ROUNDING * fabs(after->value) ? 1 : 0;
	return erfc((half_sample - excess) / deviation / M_SQRT2) / 2;
}

double significance_differ(const struct estimate *before, const struct estimate *after)
{
	double change = fabs(after->value - before->value);
	double half_sample = (after->grain + before->grain) / 2;
	double deviation = sqrt(after->variance + before->variance);

	if (change <= half_sample)
		return 0;
	return deviation > 0 ? erf((change - half_sample) / deviation / M_SQRT2) : 1;
}

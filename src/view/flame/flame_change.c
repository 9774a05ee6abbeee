/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/flame/flame_change.h"

#include <math.h>

#include "model/function_cost.h"
#include "model/significance.h"

#define LEVELS FLAME_CHANGE_LEVELS
#define LIKELY 0.9

const double flame_change_steps[LEVELS] = {0.0005, 0.005, 0.02, 0.05};

static const char *const colors[2][LEVELS] = {{"d1", "d2", "d3", "d4"}, {"m1", "m2", "m3", "m4"}};

static struct estimate estimate(const struct cost *cost, const struct cost_table *table,
				bool absolute)
{
	return absolute ? estimate_amount(cost, table) : estimate_share(cost, table);
}

static const char *color_of(double points, bool likely)
{
	const char *color = "same";
	int i;

	for (i = 0; likely && i < LEVELS; i++)
		if (fabs(points) >= flame_change_steps[i])
			color = colors[points > 0][i];
	return color;
}

struct flame_change flame_change_of(const struct flame_sides *box, const struct flame_sides *whole,
				    bool absolute, const char *unit)
{
	bool exact = whole->before_samples == 0 && whole->after_samples == 0;
	const struct cost costs[2] = {
		{.weight = box->before, .samples = box->before_samples},
		{.weight = box->after, .samples = box->after_samples},
	};
	const struct cost_table tables[2] = {
		{.whole = {.weight = whole->before, .samples = whole->before_samples},
		 .exact = exact},
		{.whole = {.weight = whole->after, .samples = whole->after_samples},
		 .exact = exact},
	};
	struct estimate before = estimate(&costs[0], &tables[0], absolute);
	struct estimate after = estimate(&costs[1], &tables[1], absolute);
	double points = after.value - before.value;

	if (absolute) /* relative to the side that is not empty */
		points /= (double)(whole->before > 0  ? whole->before
				   : whole->after > 0 ? whole->after
						      : 1);
	return (struct flame_change){
		.color = color_of(points, significance_differ(&before, &after) >= LIKELY),
		.mark = box->before == 0  ? "new "
			: box->after == 0 ? "gone "
					  : "",
		.sign = (char)(points > 0   ? '+'
			       : points < 0 ? '-'
					    : 0),
		.text = absolute ? quantity_change(box->after - box->before, unit)
				 : quantity_points(points),
		.relative = quantity_relative(before.value, after.value),
	};
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/timeline/growth.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/id_index.h"
#include "base/scope.h"
#include "heap/report.h"
#include "heap/timeline/findings.h"

#define WINDOWS 20u
#define SURE_Z 4.0         /* standard deviations of Kendall's count of pairs */
#define SMALLEST_PART 0.15 /* share of the rise that each half must have */
#define SMALLEST_RISE 0.02 /* share of the total rise: smaller rises do not count */
#define LARGEST_RISE 0.6   /* share of the total rise: a larger one is a step */
#define FEWEST_RISES 5u
#define LONG_NS (60u * NS_PER_SEC) /* growth over this time is fully trusted */
#define UNSURE (GROWTH_SURE - 0.01)
#define LATE_SHARE 20u /* programs free everything in this last part of a run */

/* A period divided into windows. */
struct stretch {
	const double *live;
	size_t first; /* step */
	size_t end;
	double low[WINDOWS];   /* minimum of each window */
	double floor[WINDOWS]; /* minimum of it and all later windows */
	double rise;           /* of the floor */
};

struct line {
	double slope;
	double error; /* sum of squares */
};

static void cut(struct stretch *stretch, const double *live, size_t first, size_t end)
{
	*stretch = (struct stretch){.live = live, .first = first, .end = end};
	for (size_t i = 0; i < WINDOWS; i++) {
		size_t from = first + (end - first) * i / WINDOWS;
		size_t to = first + (end - first) * (i + 1) / WINDOWS;

		stretch->low[i] = live[from];
		for (size_t k = from; k < to; k++)
			stretch->low[i] = fmin(stretch->low[i], live[k]);
	}
	for (size_t i = WINDOWS; i-- > 0;)
		stretch->floor[i] = i + 1 < WINDOWS ? fmin(stretch->low[i], stretch->floor[i + 1])
						    : stretch->low[i];
	stretch->rise = stretch->floor[WINDOWS - 1] - stretch->floor[0];
}

/* How significantly later windows hold more than earlier ones, in standard deviations. */
static double trend_z(const struct stretch *stretch)
{
	const double n = WINDOWS;
	double more = 0;

	for (size_t i = 0; i < WINDOWS; i++)
		for (size_t k = i + 1; k < WINDOWS; k++)
			more += (stretch->low[k] > stretch->low[i]) -
				(stretch->low[k] < stretch->low[i]);
	return more / sqrt(n * (n - 1) * (2 * n + 5) / 18);
}

static struct line fit(const double *x, const double *y, size_t count)
{
	double n = (double)count;
	double sum_x = 0, sum_y = 0, xx = 0, xy = 0, yy = 0;
	struct line line = {0};

	for (size_t i = 0; i < count; i++) {
		sum_x += x[i];
		sum_y += y[i];
	}
	for (size_t i = 0; i < count; i++) {
		double dx = x[i] - sum_x / n;
		double dy = y[i] - sum_y / n;

		xx += dx * dx;
		xy += dx * dy;
		yy += dy * dy;
	}
	line.slope = xx > 0 ? xy / xx : 0;
	line.error = fmax(0, yy - line.slope * xy);
	return line;
}

/* Whether a curve that levels off fits much better than a line. */
static bool is_bent(const struct stretch *stretch)
{
	static const double spans[] = {0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5};
	double x[WINDOWS];
	double straight;
	double best = INFINITY;

	for (size_t i = 0; i < WINDOWS; i++)
		x[i] = (double)i / WINDOWS;
	straight = fit(x, stretch->low, WINDOWS).error;
	for (size_t k = 0; k < sizeof(spans) / sizeof(spans[0]); k++) {
		struct line bent;

		for (size_t i = 0; i < WINDOWS; i++)
			x[i] = 1 - exp(-(double)i / WINDOWS / spans[k]);
		bent = fit(x, stretch->low, WINDOWS);
		if (bent.slope > 0)
			best = fmin(best, bent.error);
	}
	/* Ignores rounding errors. */
	return best < 0.5 * straight && sqrt(straight / WINDOWS) > 1e-4 * stretch->rise;
}

/* The slope of its last third, relative to the overall slope. */
static double last_slope(const struct stretch *stretch)
{
	double x[WINDOWS];
	size_t from = WINDOWS * 2 / 3;
	double whole;

	for (size_t i = 0; i < WINDOWS; i++)
		x[i] = (double)i;
	whole = fit(x, stretch->low, WINDOWS).slope;
	return whole > 0 ? fit(x, stretch->low + from, WINDOWS - from).slope / whole : 0;
}

struct rises {
	unsigned int count;
	double largest;
	unsigned int
		longest_still; /* longest run of windows without a rise, before the last rise */
	unsigned int still;    /* windows since the last rise */
};

static struct rises count_rises(const struct stretch *stretch)
{
	struct rises rises = {0};

	for (size_t i = 1; i < WINDOWS; i++) {
		double rise = stretch->floor[i] - stretch->floor[i - 1];

		if (rise <= SMALLEST_RISE * stretch->rise) {
			rises.still++;
			continue;
		}
		rises.count++;
		rises.largest = fmax(rises.largest, rise);
		if (rises.still > rises.longest_still)
			rises.longest_still = rises.still;
		rises.still = 0;
	}
	return rises;
}

/* Whether more than half of the memory was freed at some time. */
static bool was_released(const struct stretch *stretch)
{
	double most = stretch->low[0];
	double fall = 0;
	double least = most;

	for (size_t i = 0; i < WINDOWS; i++) {
		most = fmax(most, stretch->low[i]);
		least = fmin(least, stretch->low[i]);
		fall = fmax(fall, most - stretch->low[i]);
	}
	return fall > (most - least) / 2;
}

static enum growth_kind judge_stretch(const struct stretch *stretch, bool is_part)
{
	struct rises rises = count_rises(stretch);
	double first_half = stretch->floor[WINDOWS / 2] - stretch->floor[0];

	if (stretch->rise <= 0 || trend_z(stretch) < SURE_Z)
		return GROWTH_NONE;
	if (rises.still >= 4 && rises.still > 2 * rises.longest_still)
		return GROWTH_LEVELLED;
	if (first_half > (1 - SMALLEST_PART) * stretch->rise)
		return GROWTH_LEVELLED;
	if (first_half < SMALLEST_PART * stretch->rise || rises.count < FEWEST_RISES ||
	    rises.largest > LARGEST_RISE * stretch->rise)
		return GROWTH_NONE;
	if (is_bent(stretch)) {
		double last = last_slope(stretch);

		if (last < 0.4)
			return GROWTH_LEVELLED;
		if (last < 0.75 || is_part)
			return GROWTH_SLOWS;
	}
	return GROWTH_UNBOUNDED;
}

/* Longer observation gives more confidence. */
static double confidence_of(const struct stretch *stretch, uint64_t step_ns)
{
	uint64_t watched_ns = (stretch->end - stretch->first) * step_ns;
	double long_enough = fmin(1, (double)watched_ns / (double)LONG_NS);
	double confidence = (1 - exp(-trend_z(stretch) / 2)) * (0.46 + 0.54 * long_enough);

	return watched_ns < GROWTH_SHORTEST_NS ? fmin(confidence, UNSURE) : confidence;
}

static double rate_between(const struct stretch *stretch, size_t from, size_t to, uint64_t step_ns)
{
	double x[WINDOWS];
	double seconds = (double)(stretch->end - stretch->first) * (double)step_ns /
			 (double)NS_PER_SEC / WINDOWS;

	for (size_t i = from; i < to; i++)
		x[i] = (double)i * seconds;
	return fit(x + from, stretch->low + from, to - from).slope;
}

/* Finds a change of rate: two lines fit much better than one, and one is three times as steep. */
static void find_change(const struct stretch *stretch, uint64_t step_ns, struct growth *growth)
{
	double x[WINDOWS];
	double best = INFINITY;
	double straight;
	size_t at = 0;

	for (size_t i = 0; i < WINDOWS; i++)
		x[i] = (double)i;
	straight = fit(x, stretch->low, WINDOWS).error;
	for (size_t i = 4; i + 4 <= WINDOWS; i++) {
		double error = fit(x, stretch->low, i).error +
			       fit(x + i, stretch->low + i, WINDOWS - i).error;

		if (error < best) {
			best = error;
			at = i;
		}
	}
	if (at > 0 && best < 0.1 * straight) {
		double before = rate_between(stretch, 0, at, step_ns);
		double after = rate_between(stretch, at, WINDOWS, step_ns);
		double small = fmin(fabs(before), fabs(after));
		double large = fmax(fabs(before), fabs(after));

		if (large < 3 * small)
			return;
		growth->before_bytes_per_second = before;
		growth->after_bytes_per_second = after;
		growth->change_ns =
			(stretch->first + (stretch->end - stretch->first) * at / WINDOWS) * step_ns;
	}
}

/* Leaves out the frees at the end of the program. */
static size_t without_the_end(const double *live, size_t count)
{
	double most = 0;
	size_t end = count;

	for (size_t i = 0; i < count; i++)
		most = fmax(most, live[i]);
	while (end > 0 && live[end - 1] < most / 2)
		end--;
	return count - end <= count / LATE_SHARE ? end : count;
}

struct growth growth_judge(const double *live_bytes, size_t count, uint64_t step_ns)
{
	struct growth growth = {0};
	struct stretch stretch;
	size_t end = without_the_end(live_bytes, count);
	size_t first = 0;

	while (first < end && live_bytes[first] <= 0)
		first++;
	if (end - first < WINDOWS)
		return growth;
	cut(&stretch, live_bytes, first, end);
	growth.kind = judge_stretch(&stretch, false);
	find_change(&stretch, step_ns, &growth);
	if (growth.kind != GROWTH_UNBOUNDED && !was_released(&stretch) &&
	    end - first >= 2 * WINDOWS) {
		struct stretch half;

		cut(&half, live_bytes, first + (end - first) / 2, end);
		if (judge_stretch(&half, true) == GROWTH_UNBOUNDED) {
			growth.kind = GROWTH_UNBOUNDED;
			stretch = half;
		}
	}
	growth.from_ns = stretch.first * step_ns;
	growth.to_ns = stretch.end * step_ns;
	growth.bytes_per_second = rate_between(&stretch, 0, WINDOWS, step_ns);
	if (growth.kind == GROWTH_UNBOUNDED)
		growth.confidence = confidence_of(&stretch, step_ns);
	return growth;
}

/* Changes sorted by group, then by time. */
struct change {
	uint32_t group;
	uint32_t step;
	double bytes;
};

static int compare_changes(const void *a, const void *b)
{
	const struct change *x = a;
	const struct change *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->step < y->step ? -1 : x->step > y->step;
}

/* Lists the changes of sites that are in a group. Returns their number. */
static size_t list_changes(const struct heap_report *report, const struct heap_groups *groups,
			   double *held, struct change *changes)
{
	const struct heap_history *history = &report->site_history;
	const struct heap_timeline *timeline = &report->timeline;
	size_t count = 0;

	for (size_t i = 0; i < history->moments.count; i++) {
		const struct heap_moment *moment = &history->moments.items[i];
		uint64_t step = moment->time_ns / timeline->step_ns;

		step = step > 0 ? step - 1 : 0; /* times are ends of steps */
		if (step >= timeline->steps.count)
			step = timeline->steps.count - 1;
		if (groups->of_site[moment->id] != ID_NONE)
			changes[count++] =
				(struct change){groups->of_site[moment->id], (uint32_t)step,
						moment->live_bytes - held[moment->id]};
		held[moment->id] = moment->live_bytes;
	}
	return count;
}

/* Turns the changes of one group into its levels. */
static void follow(const struct change *changes, size_t count, double *live, size_t steps)
{
	double bytes = 0;
	size_t used = 0;

	for (size_t step = 0; step < steps; step++) {
		for (; used < count && changes[used].step <= step; used++)
			bytes += changes[used].bytes;
		live[step] = bytes;
	}
}

int growth_find(const struct heap_report *report, const struct heap_groups *groups,
		struct growth *ret)
{
	size_t steps = report->timeline.steps.count;
	size_t moments = report->site_history.moments.count;
	SCOPED(mem) double *live = calloc(steps + 1, sizeof(*live));
	SCOPED(mem) double *held = calloc(report->sites.sites.count + 1, sizeof(*held));
	SCOPED(mem) struct change *changes = calloc(moments + 1, sizeof(*changes));
	size_t count;

	if (!live || !held || !changes)
		return -ENOMEM;
	for (size_t i = 0; i < groups->count; i++)
		ret[i] = (struct growth){0};
	if (steps == 0)
		return 0;
	count = list_changes(report, groups, held, changes);
	qsort(changes, count, sizeof(*changes), compare_changes);
	for (size_t at = 0; at < count;) {
		uint32_t group = changes[at].group;
		size_t end = at;

		while (end < count && changes[end].group == group)
			end++;
		/* Most sites change only a few times, which shows nothing. */
		if (end - at >= FEWEST_RISES) {
			follow(changes + at, end - at, live, steps);
			ret[group] = growth_judge(live, steps, report->timeline.step_ns);
		}
		at = end;
	}
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/timeline/findings.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/scope.h"
#include "heap/report.h"

#define TOLERANCE 0.05  /* of the peak */
#define NEAR 0.25       /* share of the tolerance: how far the ends of a plateau may deviate */
#define EXPLAINED 0.5   /* share of the change between two plateaus that must happen between them */
#define ALIKE 4.0       /* slopes that differ by no more than this factor are alike */
#define JUMP 3.0        /* a jump is this many times as steep as the slope around it */
#define KEPT_FOR_END 4u /* findings reserved for the end of the recording */

struct search {
	const struct heap_report *report;
	struct heap_findings *findings;
	double tolerance; /* bytes */
	size_t shortest;  /* plateau, in steps */
	size_t limit;     /* of findings */
	double *before;   /* by site */
	double *after;
	double *changes; /* by group */
	const struct heap_groups *groups;
};

/* A range of steps; first is the step after it became level. */
struct plateau {
	size_t first;
	size_t end; /* one past the last step */
	double level;
};

const char *heap_finding_name(enum heap_finding_kind kind)
{
	static const char *const names[] = {
		[HEAP_PLATEAU] = "plateau",
		[HEAP_STEP] = "step",
		[HEAP_SPIKE] = "spike",
		[HEAP_GROWTH] = "growth",
	};

	return names[kind];
}

void heap_findings_fini(struct heap_findings *findings)
{
	vec_fini(&findings->items);
	vec_fini(&findings->growths);
}

static uint64_t end_of(const struct search *search, size_t step)
{
	return (step + 1) * search->report->timeline.step_ns;
}

/* The live bytes at the start of a step. */
static double live_before(const struct search *search, size_t step)
{
	return step > 0 ? search->report->timeline.steps.items[step - 1].live.bytes : 0;
}

static double mean_of(const struct heap_step *steps, size_t from, size_t end)
{
	double sum = 0;

	for (size_t i = from; i < end; i++)
		sum += steps[i].live.bytes;
	return sum / (double)(end - from);
}

/* The average rise per step in a range. Compares halves, because the ends are noise. */
static double slope_of(const struct search *search, size_t from, size_t end)
{
	const struct heap_step *steps = search->report->timeline.steps.items;
	size_t half = (end - from) / 2;

	return half == 0 ? 0
			 : (mean_of(steps, end - half, end) - mean_of(steps, from, from + half)) /
				   (double)(end - from - half);
}

/* Whether a whole range is close to a line with this slope, without jumps. */
static bool is_straight(const struct search *search, size_t from, size_t end, double slope)
{
	const struct heap_step *steps = search->report->timeline.steps.items;
	double low = steps[from].live.bytes;
	double high = low;

	for (size_t i = from; i < end; i++) {
		double off = steps[i].live.bytes - slope * (double)(i - from);

		low = fmin(low, off);
		high = fmax(high, off);
	}
	return high - low <= search->tolerance;
}

/* Whether a range has the same slope as the larger range around it. */
static bool goes_on(const struct search *search, size_t length, double own, size_t from, size_t end)
{
	double whole = slope_of(search, from, end);

	return end - from >= length + length / 4 && own * whole > 0 && own / whole < ALIKE &&
	       whole / own < ALIKE && is_straight(search, from, end, whole);
}

/* Whether a range is only part of a slope. There may be a jump on one side. */
static bool is_slope(const struct search *search, size_t from, size_t end)
{
	size_t count = search->report->timeline.steps.count;
	size_t length = end - from;
	size_t first = from > length ? from - length : 0;
	size_t last = count - end > length ? end + length : count;
	double own = slope_of(search, from, end);

	return goes_on(search, length, own, first, last) ||
	       goes_on(search, length, own, first, end) || goes_on(search, length, own, from, last);
}

/* Removes the ends of a plateau that lead to it and away from it. */
static struct plateau without_ends(const struct search *search, size_t first, size_t end)
{
	const struct heap_step *steps = search->report->timeline.steps.items;
	double level = mean_of(steps, first, end);
	double most = NEAR * search->tolerance;

	while (end - first > 1 && fabs(steps[first].live.bytes - level) > most)
		first++;
	while (end - first > 1 && fabs(steps[end - 1].live.bytes - level) > most)
		end--;
	return (struct plateau){first, end, mean_of(steps, first, end)};
}

/* The end of the range starting at a step that stays within the tolerance. */
static size_t level_until(const struct search *search, size_t from)
{
	const struct heap_step *steps = search->report->timeline.steps.items;
	size_t count = search->report->timeline.steps.count;
	double low = steps[from].live.bytes;
	double high = low;

	for (; from < count; from++) {
		low = fmin(low, steps[from].live.bytes);
		high = fmax(high, steps[from].live.bytes);
		if (high - low > search->tolerance)
			break;
	}
	return from;
}

/* Whether the change from one plateau to the next happens between them, not within them. */
static bool is_apart(const struct search *search, const struct plateau *last,
		     const struct plateau *next)
{
	const struct heap_step *steps = search->report->timeline.steps.items;
	double way = next->level - last->level;
	double before = live_before(search, last->end);

	return fabs(way) <= search->tolerance ||
	       (steps[next->first].live.bytes - before) / way >= EXPLAINED;
}

/* Finds the next plateau. False: none. */
static bool find_plateau(const struct search *search, const struct plateau *last,
			 struct plateau *ret)
{
	size_t count = search->report->timeline.steps.count;

	for (size_t from = last->end; from < count; from++) {
		size_t end = level_until(search, from);

		if (end - from < search->shortest)
			continue;
		if (is_slope(search, from, end)) {
			from += (end - from) /
				16; /* starting points in between give much the same */
			continue;
		}
		*ret = without_ends(search, from, end);
		if (ret->end - ret->first >= search->shortest && is_apart(search, last, ret))
			return true;
	}
	return false;
}

/* Keeps the groups with the largest differences in the direction of the change. */
static void add_cause(struct heap_finding *finding, uint32_t group, double bytes)
{
	double sign = finding->change_bytes < 0 ? -1 : 1;
	struct heap_cause cause = {group, bytes};

	if (bytes * sign <= 0)
		return;
	for (uint32_t i = 0; i < HEAP_CAUSES; i++) {
		if (i == finding->cause_count) {
			finding->causes[finding->cause_count++] = cause;
			return;
		}
		if (cause.bytes * sign > finding->causes[i].bytes * sign) {
			struct heap_cause next = finding->causes[i];

			finding->causes[i] = cause;
			cause = next;
		}
	}
}

/* What each site held at the peak, which is exact. */
static void hold_at_peak(const struct heap_report *report, double *held)
{
	for (size_t i = 0; i < report->sites.sites.count; i++)
		held[i] = 0;
	for (size_t i = 0; i < report->sites.shares.count; i++) {
		const struct heap_share *share = &report->sites.shares.items[i];

		held[share->site] +=
			heap_level_at_peak(&share->level, report->totals.peak_number).bytes;
	}
}

/*
 * What each site held in a spike that is not the overall peak. It may come and go within a step, so
 * that the end of the step does not show it; then the sites that had their own peak in it count.
 */
static void hold_in_spike(const struct heap_report *report, const struct heap_finding *spike,
			  uint64_t top_ns, double *held)
{
	heap_history_at(&report->site_history, top_ns, held, report->sites.sites.count);
	for (size_t i = 0; i < report->sites.sites.count; i++) {
		const struct heap_site *site = &report->sites.sites.items[i];

		if (site->most_ns >= spike->from_ns && site->most_ns < spike->to_ns)
			held[i] = site->most_bytes;
	}
}

static void explain(const struct search *search, struct heap_finding *finding, uint64_t before_ns,
		    uint64_t after_ns)
{
	const struct heap_report *report = search->report;
	const struct heap_groups *groups = search->groups;
	size_t sites = report->sites.sites.count;
	size_t count = groups ? groups->count : sites;

	heap_history_at(&report->site_history, before_ns, search->before, sites);
	if (finding->kind != HEAP_SPIKE)
		heap_history_at(&report->site_history, after_ns, search->after, sites);
	else if (report->totals.peak_ns >= finding->from_ns &&
		 report->totals.peak_ns <= finding->to_ns)
		hold_at_peak(report, search->after);
	else
		hold_in_spike(report, finding, after_ns, search->after);
	for (size_t i = 0; i < count; i++)
		search->changes[i] = 0;
	for (uint32_t i = 0; i < sites; i++) {
		uint32_t group = groups ? groups->of_site[i] : i;

		if (group != ID_NONE)
			search->changes[group] += search->after[i] - search->before[i];
	}
	for (uint32_t i = 0; i < count; i++)
		add_cause(finding, i, search->changes[i]);
}

static int add_finding(struct search *search, struct heap_finding finding, uint64_t before_ns,
		       uint64_t after_ns)
{
	if (search->findings->items.count >= search->limit)
		return 0;
	if (finding.kind != HEAP_PLATEAU)
		explain(search, &finding, before_ns, after_ns);
	return vec_push(&search->findings->items, finding);
}

/*
 * Finds spikes in a range of steps, above the levels on either side; before_ns is when it was
 * level.
 */
static int find_spikes(struct search *search, size_t from, size_t end, double level,
		       uint64_t before_ns)
{
	const struct heap_step *steps = search->report->timeline.steps.items;
	int r = 0;

	while (from < end && r == 0) {
		size_t top = from;
		size_t last = from;

		if (steps[from].most_bytes <= level + 2 * search->tolerance) {
			from++;
			continue;
		}
		while (last < end && steps[last].most_bytes > level + 2 * search->tolerance) {
			if (steps[last].most_bytes > steps[top].most_bytes)
				top = last;
			last++;
		}
		r = add_finding(
			search,
			(struct heap_finding){.kind = HEAP_SPIKE,
					      .from_ns = end_of(search, from) -
							 search->report->timeline.step_ns,
					      .to_ns = end_of(search, last - 1),
					      .level_bytes = steps[top].most_bytes,
					      .change_bytes = steps[top].most_bytes - level},
			before_ns, end_of(search, top));
		from = last;
	}
	return r;
}

/* The next step with a jump; the end if there is none. */
static size_t find_jump(const struct search *search, size_t from, size_t end, double slope)
{
	const struct heap_step *steps = search->report->timeline.steps.items;

	for (; from < end; from++) {
		double change = steps[from].live.bytes - live_before(search, from);

		if (change / slope > JUMP && fabs(change) > 2 * search->tolerance)
			break;
	}
	return from;
}

/* Adds the change to a level in the step before end: a step or, upwards, growth. */
static int add_change(struct search *search, size_t from, size_t end, double before, double level)
{
	bool grows = level > before && end - from > search->shortest + 1;
	uint64_t before_ns = from > 0 ? end_of(search, from - 1) : 0;

	if (from >= end || fabs(level - before) <= search->tolerance)
		return 0;
	return add_finding(search,
			   (struct heap_finding){.kind = grows ? HEAP_GROWTH : HEAP_STEP,
						 .from_ns = before_ns,
						 .to_ns = end_of(search, end - 1),
						 .level_bytes = level,
						 .change_bytes = level - before},
			   before_ns, end_of(search, end - 1));
}

/*
 * Adds the changes from the last plateau to a level. Separates jumps from the slopes around them.
 */
static int add_way(struct search *search, const struct plateau *last, size_t end, double level)
{
	size_t from = last->end;
	double before = last->level;
	double slope = (level - before) / (double)(end - from);
	int r = 0;

	while (r == 0 && end - from > search->shortest + 1) {
		size_t jump = find_jump(search, from, end, slope);

		if (jump == end)
			break;
		r = add_change(search, from, jump, before, live_before(search, jump));
		before = live_before(search, jump + 1);
		if (r == 0)
			r = add_change(search, jump, jump + 1, live_before(search, jump), before);
		from = jump + 1;
	}
	return r < 0 ? r : add_change(search, from, end, before, level);
}

/* Adds what is between two plateaus, and the second plateau. */
static int add_plateau(struct search *search, const struct plateau *last,
		       const struct plateau *next)
{
	uint64_t before_ns = last->end > 0 ? end_of(search, last->end - 1) : 0;
	/* A range that is level at the end of its first step may have been anything within it. */
	int r = find_spikes(search, last->end, next->first + 1, fmax(last->level, next->level),
			    before_ns);

	if (r == 0)
		r = add_way(search, last, next->first + 1, next->level);
	if (r == 0)
		r = add_finding(search,
				(struct heap_finding){.kind = HEAP_PLATEAU,
						      .from_ns = end_of(search, next->first),
						      .to_ns = end_of(search, next->end - 1),
						      .level_bytes = next->level},
				0, 0);
	return r < 0 ? r
		     : find_spikes(search, next->first + 1, next->end, next->level,
				   end_of(search, next->first));
}

/* Adds what follows the last plateau. It need not come down again or become level. */
static int add_end(struct search *search, const struct plateau *last)
{
	const struct heap_timeline *timeline = &search->report->timeline;
	size_t count = timeline->steps.count;
	uint64_t before_ns = last->end > 0 ? end_of(search, last->end - 1) : 0;
	double level;
	int r;

	if (last->end >= count)
		return 0;
	level = timeline->steps.items[count - 1].live.bytes;
	r = find_spikes(search, last->end, count, fmax(last->level, level), before_ns);
	return r < 0 ? r : add_way(search, last, count, level);
}

static int find_all(struct search *search)
{
	struct plateau last = {0};
	struct plateau next;
	int r = 0;

	while (r == 0 && find_plateau(search, &last, &next)) {
		r = add_plateau(search, &last, &next);
		last = next;
	}
	search->limit += KEPT_FOR_END;
	return r < 0 ? r : add_end(search, &last);
}

static int compare_live(const void *a, const void *b)
{
	const struct heap_growth *x = a;
	const struct heap_growth *y = b;

	if (x->live_bytes != y->live_bytes)
		return x->live_bytes < y->live_bytes ? 1 : -1;
	return x->site < y->site ? -1 : x->site > y->site;
}

static int compare_slope(const void *a, const void *b)
{
	const struct heap_growth *x = a;
	const struct heap_growth *y = b;

	if (x->trend.bytes_per_second != y->trend.bytes_per_second)
		return x->trend.bytes_per_second < y->trend.bytes_per_second ? 1 : -1;
	return compare_live(a, b);
}

static int find_growth(struct search *search)
{
	const struct heap_report *report = search->report;
	struct heap_trend trends[HEAP_GROWTHS_MAX];
	uint32_t ids[HEAP_GROWTHS_MAX];
	uint64_t end_ns = report->timeline.steps.count * report->timeline.step_ns;
	struct heap_growth *items;
	size_t count;

	for (uint32_t i = 0; i < report->sites.sites.count; i++)
		if (report->sites.sites.items[i].live_bytes > 0 &&
		    vec_push(&search->findings->growths,
			     (struct heap_growth){
				     i, report->sites.sites.items[i].live_bytes, {0}}) < 0)
			return -ENOMEM;
	items = search->findings->growths.items;
	count = search->findings->growths.count;
	if (count == 0)
		return 0;
	qsort(items, count, sizeof(*items), compare_live);
	if (count > HEAP_GROWTHS_MAX)
		count = HEAP_GROWTHS_MAX;
	for (size_t i = 0; i < count; i++)
		ids[i] = items[i].site;
	if (heap_history_trends(&report->site_history, 0, end_ns, ids, count, trends) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		items[i].trend = trends[i];
	qsort(items, count, sizeof(*items), compare_slope);
	search->findings->growths.count = count;
	return 0;
}

int heap_findings_make(const struct heap_report *report, const struct heap_groups *groups,
		       struct heap_findings *ret)
{
	size_t sites = report->sites.sites.count;
	size_t count = groups ? groups->count : sites;
	SCOPED(mem) double *numbers = calloc(2 * sites + count + 1, sizeof(*numbers));
	struct search search = {.report = report,
				.findings = ret,
				.tolerance = report->totals.peak.bytes * TOLERANCE,
				.shortest = report->timeline.steps.count / 50,
				.limit = HEAP_FINDINGS_MAX - KEPT_FOR_END,
				.groups = groups};

	*ret = (struct heap_findings){0};
	if (!numbers)
		return -ENOMEM;
	search.before = numbers;
	search.after = numbers + sites;
	search.changes = numbers + 2 * sites;
	if (search.shortest < 3)
		search.shortest = 3;
	if (find_all(&search) < 0)
		return -ENOMEM;
	return find_growth(&search);
}

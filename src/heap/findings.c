/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/findings.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/scope.h"
#include "heap/report.h"

#define TOLERANCE 0.05  /* of the peak */
#define KEPT_FOR_END 4u /* findings: how it ends is told however much came before */

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

/* A stretch of steps; first is the step after it began to be level. */
struct plateau {
	size_t first;
	size_t end; /* the step behind the last */
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

/* The next plateau from a step on. False when there is none. */
static bool find_plateau(const struct search *search, size_t from, struct plateau *ret)
{
	const struct heap_step *steps = search->report->timeline.steps.items;
	size_t count = search->report->timeline.steps.count;

	for (; from < count; from++) {
		double low = steps[from].live.bytes;
		double high = low;
		double sum = 0;
		size_t end = from;

		for (; end < count; end++) {
			double live = steps[end].live.bytes;

			low = fmin(low, live);
			high = fmax(high, live);
			if (high - low > search->tolerance)
				break;
			sum += live;
		}
		if (end - from >= search->shortest) {
			*ret = (struct plateau){from, end, sum / (double)(end - from)};
			return true;
		}
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

/* What each site held at the peak: that is known to the byte. */
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
 * What each site held in a spike that is not the peak of all. It may come and go within a step,
 * whose end does not show it; then those sites do that held their most in it.
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

/* Spikes in a stretch of steps, above levels on either side; before_ns is when it was level. */
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

/* What lies between two plateaus, and the second. */
static int add_plateau(struct search *search, const struct plateau *last,
		       const struct plateau *next)
{
	uint64_t before_ns = last->end > 0 ? end_of(search, last->end - 1) : 0;
	/* What is level at the end of its first step may have been anything within it. */
	int r = find_spikes(search, last->end, next->first + 1, fmax(last->level, next->level),
			    before_ns);

	if (r == 0 && fabs(next->level - last->level) > search->tolerance)
		r = add_finding(search,
				(struct heap_finding){.kind = HEAP_STEP,
						      .from_ns = before_ns,
						      .to_ns = end_of(search, next->first),
						      .level_bytes = next->level,
						      .change_bytes = next->level - last->level},
				before_ns, end_of(search, next->first));
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

/* What follows the last plateau. It need not come down again, nor become level. */
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
	if (r < 0 || fabs(level - last->level) <= search->tolerance)
		return r;
	return add_finding(
		search,
		(struct heap_finding){.kind = level > last->level &&
							      count - last->end > search->shortest
						      ? HEAP_GROWTH
						      : HEAP_STEP,
				      .from_ns = before_ns,
				      .to_ns = end_of(search, count - 1),
				      .level_bytes = level,
				      .change_bytes = level - last->level},
		before_ns, end_of(search, count - 1));
}

static int find_all(struct search *search)
{
	struct plateau last = {0};
	struct plateau next;
	int r = 0;

	while (r == 0 && find_plateau(search, last.end, &next)) {
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

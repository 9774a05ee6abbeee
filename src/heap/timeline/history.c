/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/timeline/history.h"

#include <errno.h>

#include "base/clock.h"
#include "base/scope.h"

void heap_history_fini(struct heap_history *history)
{
	vec_fini(&history->moments);
	vec_fini(&history->changed);
	vec_fini(&history->latest);
}

/* Leaves one row for each id in a period. */
static int coarsen(struct heap_history *history)
{
	size_t kept = 0;

	history->latest.count = 0;
	for (size_t i = 0; i < history->moments.count; i++) {
		struct heap_moment moment = history->moments.items[i];
		struct heap_moment *known;

		while (history->latest.count <= moment.id)
			if (vec_push(&history->latest, SIZE_MAX) < 0)
				return -ENOMEM;
		known = history->latest.items[moment.id] < kept
				? &history->moments.items[history->latest.items[moment.id]]
				: NULL;
		/* The end of a step belongs to it. */
		if (known && (known->time_ns - 1) / history->stretch_ns ==
				     (moment.time_ns - 1) / history->stretch_ns) {
			moment.allocated_bytes += known->allocated_bytes;
			moment.freed_bytes += known->freed_bytes;
			*known = moment;
			continue;
		}
		history->latest.items[moment.id] = kept;
		history->moments.items[kept++] = moment;
	}
	history->moments.count = kept;
	return 0;
}

int heap_history_add(struct heap_history *history, const struct heap_moment *moment,
		     uint64_t step_ns)
{
	if (history->moments.count >= history->limit) {
		if (history->stretch_ns < step_ns * 2)
			history->stretch_ns = step_ns * 2;
		if (coarsen(history) < 0)
			return -ENOMEM;
		while (history->moments.count > history->limit / 2 &&
		       history->stretch_ns < moment->time_ns) {
			history->stretch_ns *= 2;
			if (coarsen(history) < 0)
				return -ENOMEM;
		}
		/* With one row for each id, coarser periods would not help. */
		if (history->moments.count > history->limit / 2)
			history->limit = history->moments.count * 2;
	}
	return vec_push(&history->moments, *moment);
}

void heap_history_at(const struct heap_history *history, uint64_t time_ns, double *live_bytes,
		     size_t count)
{
	for (size_t i = 0; i < count; i++)
		live_bytes[i] = 0;
	for (size_t i = 0; i < history->moments.count; i++) {
		const struct heap_moment *moment = &history->moments.items[i];

		if (moment->time_ns <= time_ns && moment->id < count)
			live_bytes[moment->id] = moment->live_bytes;
	}
}

/* Integrals over time of a value that changes in steps: seconds and bytes. */
struct fit {
	double from; /* start of the current value */
	double value;
	double time, time_time, bytes, bytes_bytes, time_bytes;
};

static void fit_until(struct fit *fit, double to, double value)
{
	double length = to - fit->from;

	if (length > 0) {
		double time = (to * to - fit->from * fit->from) / 2;

		fit->time += time;
		fit->time_time += (to * to * to - fit->from * fit->from * fit->from) / 3;
		fit->bytes += fit->value * length;
		fit->bytes_bytes += fit->value * fit->value * length;
		fit->time_bytes += fit->value * time;
		fit->from = to;
	}
	fit->value = value;
}

static struct heap_trend fit_end(struct fit *fit, double end)
{
	struct heap_trend trend = {0};
	double together;
	double times;
	double values;

	fit_until(fit, end, 0);
	together = end * fit->time_bytes - fit->time * fit->bytes;
	times = end * fit->time_time - fit->time * fit->time;
	values = end * fit->bytes_bytes - fit->bytes * fit->bytes;
	if (times > 0)
		trend.bytes_per_second = together / times;
	if (times > 0 && values > 0)
		trend.fit = together * together / (times * values);
	return trend;
}

int heap_history_trends(const struct heap_history *history, uint64_t begin_ns, uint64_t end_ns,
			const uint32_t *ids, size_t count, struct heap_trend *trends)
{
	SCOPED(mem) struct fit *fits = calloc(count + 1, sizeof(*fits));
	SCOPED(mem) uint32_t *places = NULL; /* by id: index in ids, plus one */
	uint32_t highest = 0;
	double scale = 1.0 / (double)NS_PER_SEC;

	for (size_t i = 0; i < count; i++)
		if (ids[i] >= highest)
			highest = ids[i] + 1;
	places = calloc((size_t)highest + 1, sizeof(*places));
	if (!fits || !places)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		places[ids[i]] = (uint32_t)i + 1;
	for (size_t i = 0; i < history->moments.count; i++) {
		const struct heap_moment *moment = &history->moments.items[i];
		uint32_t place = moment->id < highest ? places[moment->id] : 0;
		uint64_t at_ns = moment->time_ns > begin_ns ? moment->time_ns - begin_ns : 0;

		if (place > 0 && moment->time_ns <= end_ns)
			fit_until(&fits[place - 1], (double)at_ns * scale, moment->live_bytes);
	}
	for (size_t i = 0; i < count; i++)
		trends[i] = fit_end(&fits[i], (double)(end_ns - begin_ns) * scale);
	return 0;
}

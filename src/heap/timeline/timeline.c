/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/timeline/timeline.h"

#include <errno.h>

#include "base/clock.h"

void heap_timeline_init(struct heap_timeline *timeline, uint64_t step_ns)
{
	*timeline = (struct heap_timeline){.step_ns = step_ns, .end_ns = step_ns};
}

void heap_timeline_fini(struct heap_timeline *timeline)
{
	vec_fini(&timeline->steps);
}

static void merge(struct heap_step *step, const struct heap_step *next)
{
	step->live = next->live;
	if (next->most_bytes > step->most_bytes)
		step->most_bytes = next->most_bytes;
	if (next->least_bytes < step->least_bytes)
		step->least_bytes = next->least_bytes;
	step->allocated.bytes += next->allocated.bytes;
	step->allocated.blocks += next->allocated.blocks;
	step->freed.bytes += next->freed.bytes;
	step->freed.blocks += next->freed.blocks;
}

/* Merges steps in pairs. If their number is odd, the last becomes the current one. */
static void merge_pairs(struct heap_timeline *timeline)
{
	size_t count = timeline->steps.count;

	for (size_t i = 0; i + 1 < count; i += 2) {
		struct heap_step step = timeline->steps.items[i];

		merge(&step, &timeline->steps.items[i + 1]);
		timeline->steps.items[i / 2] = step;
	}
	if (count % 2 == 1) {
		struct heap_step step = timeline->steps.items[count - 1];

		merge(&step, &timeline->now);
		timeline->now = step;
	}
	timeline->steps.count = count / 2;
	timeline->step_ns *= 2;
	timeline->end_ns = (timeline->steps.count + 1) * timeline->step_ns;
}

/* Ends the current step. */
static int end_step(struct heap_timeline *timeline)
{
	struct heap_sum live = timeline->now.live;

	if (vec_push(&timeline->steps, timeline->now) < 0)
		return -ENOMEM;
	timeline->now = (struct heap_step){
		.live = live, .most_bytes = live.bytes, .least_bytes = live.bytes};
	timeline->end_ns += timeline->step_ns;
	return 0;
}

int heap_timeline_advance(struct heap_timeline *timeline, uint64_t time_ns)
{
	while (time_ns / timeline->step_ns >= HEAP_MAX_STEPS)
		merge_pairs(timeline);
	while (time_ns >= timeline->end_ns)
		if (end_step(timeline) < 0)
			return -ENOMEM;
	return 0;
}

double heap_steps_rate(const struct heap_step *steps, size_t count, uint64_t step_ns, size_t step,
		       size_t reach, double (*of)(const struct heap_step *step))
{
	size_t first = step > reach ? step - reach : 0;
	double sum = 0;
	double weights = 0;

	for (size_t i = first; i <= step + reach && i < count; i++) {
		double weight = (double)(reach + 1 - (i > step ? i - step : step - i));

		sum += weight * of(&steps[i]);
		weights += weight;
	}
	return weights > 0 ? sum / weights * (double)NS_PER_SEC / (double)step_ns : 0;
}

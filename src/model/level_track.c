/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/level_track.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"

void level_track_fini(struct level_track *track)
{
	vec_fini(&track->points);
}

static int by_time(const void *a, const void *b)
{
	const struct level_point *x = a;
	const struct level_point *y = b;

	return (x->since_ns > y->since_ns) - (x->since_ns < y->since_ns);
}

static bool is_sorted(const struct level_track *track)
{
	for (size_t i = 1; i < track->points.count; i++)
		if (track->points.items[i].since_ns < track->points.items[i - 1].since_ns)
			return false;
	return true;
}

void level_track_finish(struct level_track *track)
{
	/* Mostly they are; then equal times keep the order in which they were added. */
	if (!is_sorted(track))
		qsort(track->points.items, track->points.count, sizeof(*track->points.items),
		      by_time);
}

/* Keeps one of the points in each interval. */
static void thin(struct level_track *track)
{
	size_t kept = 0;

	level_track_finish(track);
	for (size_t i = 0; i < track->points.count; i++) {
		const struct level_point *point = &track->points.items[i];
		struct level_point *before = kept > 0 ? &track->points.items[kept - 1] : NULL;

		if (before &&
		    before->since_ns / track->stretch_ns == point->since_ns / track->stretch_ns) {
			before->last = point->last;
			if (point->most > before->most)
				before->most = point->most;
		} else {
			track->points.items[kept++] = *point;
		}
	}
	track->points.count = kept;
}

int level_track_add(struct level_track *track, struct level_point point)
{
	if (vec_push(&track->points, point) < 0)
		return -ENOMEM;
	while (track->points.count > LEVEL_TRACK_POINTS) {
		track->stretch_ns = track->stretch_ns > 0 ? track->stretch_ns * 2 : NS_PER_MS;
		thin(track);
	}
	return 0;
}

void level_track_fold(const struct level_track *track, uint64_t begin_ns, uint64_t step_ns,
		      struct level_step *steps, size_t count)
{
	bool is_last = track->kind == LEVEL_GAUGE;
	struct level_step now = {0};
	size_t at = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t end_ns = begin_ns + (i + 1) * step_ns;

		steps[i] = now;
		while (at < track->points.count && track->points.items[at].since_ns < end_ns) {
			const struct level_point *point = &track->points.items[at++];

			if (!steps[i].known || is_last || point->most > steps[i].level)
				steps[i].level = is_last ? point->last : point->most;
			now = (struct level_step){.level = point->last, .known = true};
			steps[i].known = true;
		}
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/timeline/timeline_levels.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/json.h"
#include "base/quantity.h"
#include "base/scope.h"
#include "base/text.h"
#include "model/profile.h"

/* Gauges come with the samples, which may be filtered: see timeline_gauges.h. */
static bool is_shown(const struct level_track *track)
{
	return track->kind != LEVEL_GAUGE && track->points.count > 0;
}

static bool is_any_shown(const struct profile *profile)
{
	for (size_t i = 0; i < profile->time.tracks.count; i++)
		if (is_shown(&profile->time.tracks.items[i]))
			return true;
	return false;
}

static int64_t highest_of(const struct level_track *track)
{
	int64_t highest = 0;

	for (size_t i = 0; i < track->points.count; i++)
		if (track->points.items[i].most > highest)
			highest = track->points.items[i].most;
	return highest;
}

/* An ended process has no memory: the last value before its end counts. */
static int64_t last_of(const struct level_track *track)
{
	size_t last = track->points.count - 1;

	while (track->kind == LEVEL_RESIDENT && last > 0 && track->points.items[last].last == 0)
		last--;
	return track->points.items[last].last;
}

static void put_line(const struct profile *profile, const struct level_track *track,
		     const struct level_step *levels, struct timeline_steps steps,
		     struct bytes *out)
{
	int64_t highest = highest_of(track);
	const char *unit = profile_text(profile, track->unit);

	bytes_printf(out, "%8s %9s  ", quantity_of(last_of(track), unit).text,
		     quantity_of(highest, unit).text);
	for (uint64_t at = 0; at < steps.count; at++)
		bytes_printf(out, "%s",
			     levels[at].known
				     ? quantity_bar((uint64_t)levels[at].level, (uint64_t)highest)
				     : " ");
	bytes_printf(out, track->kind == LEVEL_HEAP ? "  live heap" : "  resident (");
	if (track->kind == LEVEL_HEAP && steps.from_ns > 0)
		bytes_printf(out, ", allocated since then");
	if (track->kind == LEVEL_RESIDENT) {
		text_put_terminal(out, profile_text(profile, track->process_comm));
		bytes_printf(out, "/%" PRIu32 ")", track->pid);
	}
	bytes_put_u8(out, '\n');
}

int timeline_levels_put_text(const struct profile *profile, struct timeline_steps steps,
			     struct bytes *out)
{
	SCOPED(mem) struct level_step *levels = calloc(steps.count + 1, sizeof(*levels));

	if (!levels)
		return -ENOMEM;
	if (!is_any_shown(profile))
		return 0;
	bytes_printf(out, "\n%8s %9s  %s\n", "last", "highest",
		     "memory, each scaled to its highest");
	for (size_t i = 0; i < profile->time.tracks.count; i++) {
		const struct level_track *track = &profile->time.tracks.items[i];

		if (!is_shown(track))
			continue;
		level_track_fold(track, 0, steps.step_ns, levels, steps.count);
		put_line(profile, track, levels, steps, out);
	}
	return 0;
}

static void put_object(const struct profile *profile, const struct level_track *track,
		       const struct level_step *steps, uint64_t count, struct json *json)
{
	json_open_object(json, NULL);
	json_string(json, "name", profile_text(profile, track->name));
	json_string(json, "unit", profile_text(profile, track->unit));
	if (track->kind == LEVEL_RESIDENT) {
		json_string(json, "process", profile_text(profile, track->process_comm));
		json_u64(json, "pid", track->pid);
	}
	json_i64(json, "last", last_of(track));
	json_i64(json, "highest", highest_of(track));
	json_open_array(json, "steps");
	for (uint64_t at = 0; at < count; at++)
		if (steps[at].known)
			json_i64(json, NULL, steps[at].level);
		else
			json_string(json, NULL, NULL);
	json_close(json);
	json_close(json);
}

int timeline_levels_put_json(const struct profile *profile, struct timeline_steps steps,
			     struct json *json)
{
	SCOPED(mem) struct level_step *levels = calloc(steps.count + 1, sizeof(*levels));

	if (!levels)
		return -ENOMEM;
	if (!is_any_shown(profile))
		return 0;
	json_open_array(json, "levels");
	for (size_t i = 0; i < profile->time.tracks.count; i++) {
		const struct level_track *track = &profile->time.tracks.items[i];

		if (!is_shown(track))
			continue;
		level_track_fold(track, 0, steps.step_ns, levels, steps.count);
		put_object(profile, track, levels, steps.count, json);
	}
	json_close(json);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/timeline/timeline_gauges.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/json.h"
#include "base/quantity.h"
#include "base/text.h"
#include "export/export.h"
#include "export/gauges.h"
#include "model/profile.h"

void timeline_gauges_fini(struct timeline_gauges *gauges)
{
	size_t i;

	for (i = 0; i < gauges->tracks.count; i++)
		vec_fini(&gauges->tracks.items[i].steps);
	vec_fini(&gauges->tracks);
}

static const struct gauge_track *find(const struct timeline_gauges *gauges, const char *name,
				      uint32_t pid)
{
	size_t i;

	for (i = 0; i < gauges->tracks.count; i++)
		if (gauges->tracks.items[i].pid == pid &&
		    strcmp(gauges->tracks.items[i].name, name) == 0)
			return &gauges->tracks.items[i];
	return NULL;
}

int timeline_gauges_add(struct timeline_gauges *gauges, const struct profile *profile,
			const struct export_sample *sample, uint64_t step)
{
	uint32_t pid = profile->threads.items[sample->thread].pid;
	const struct gauge_track *known = find(gauges, sample->event, pid);
	struct gauge_track *track;

	if (!known &&
	    vec_push(&gauges->tracks, (struct gauge_track){.name = sample->event, .pid = pid}) < 0)
		return -ENOMEM;
	track = &gauges->tracks.items[known ? (size_t)(known - gauges->tracks.items)
					    : gauges->tracks.count - 1];
	while (track->steps.count <= step)
		if (vec_push(&track->steps, (struct gauge_step){0}) < 0)
			return -ENOMEM;
	/* 0 means no report: time 0 counts as 1. */
	if (sample->since_ns >= track->steps.items[step].since_ns)
		track->steps.items[step] = (struct gauge_step){
			sample->since_ns > 0 ? sample->since_ns : 1, (int64_t)sample->weight};
	return 0;
}

/*
 * Updates the level from the previous step to the end of this one. False before the first report.
 */
static bool next_level(const struct gauge_track *track, uint64_t step, int64_t *level)
{
	if (step >= track->steps.count || track->steps.items[step].since_ns == 0)
		return false;
	*level = track->steps.items[step].level;
	return true;
}

static void put_track(const struct gauge_track *track, const struct profile_gauge *gauge,
		      uint64_t steps, struct bytes *out)
{
	int64_t floor = gauge->lowest < 0 ? gauge->lowest : 0;
	bool known = false;
	int64_t level = 0;
	uint64_t at;

	for (at = 0; at < steps; at++) {
		known = next_level(track, at, &level) || known;
		bytes_printf(out, "%s",
			     known ? quantity_bar((uint64_t)level - (uint64_t)floor,
						  (uint64_t)gauge->highest - (uint64_t)floor)
				   : " ");
	}
}

void timeline_gauges_put_text(const struct timeline_gauges *gauges, const struct profile *profile,
			      uint64_t steps, struct bytes *out)
{
	size_t i;

	if (gauges->tracks.count == 0)
		return;
	bytes_printf(out, "\n%7s  %9s  %s\n", "last", "highest",
		     "gauges, each scaled to its highest");
	for (i = 0; i < profile->gauges.count; i++) {
		const struct profile_gauge *gauge = &profile->gauges.items[i];
		const char *name = profile_text(profile, gauge->name);
		const char *unit = profile_text(profile, gauge->unit);
		const struct gauge_track *track = find(gauges, name, gauge->pid);

		if (!track)
			continue; /* another gauge is shown */
		bytes_printf(out, "%7s  %9s  ", quantity_of(gauge->last, unit).text,
			     quantity_of(gauge->highest, unit).text);
		put_track(track, gauge, steps, out);
		bytes_printf(out, "  ");
		text_put_terminal(out, name);
		bytes_printf(out, " (");
		text_put_terminal(out, profile_text(profile, gauge->process_comm));
		bytes_printf(out, "/%" PRIu32 ")\n", gauge->pid);
	}
}

void timeline_gauges_put_json(const struct timeline_gauges *gauges, const struct profile *profile,
			      uint64_t steps, struct json *json)
{
	size_t i;

	if (gauges->tracks.count == 0)
		return;
	json_open_array(json, "gauges");
	for (i = 0; i < profile->gauges.count; i++) {
		const struct profile_gauge *gauge = &profile->gauges.items[i];
		const struct gauge_track *track =
			find(gauges, profile_text(profile, gauge->name), gauge->pid);
		bool known = false;
		int64_t level = 0;
		uint64_t at;

		if (!track)
			continue;
		json_open_object(json, NULL);
		gauge_put_json(profile, gauge, json);
		json_open_array(json, "steps");
		for (at = 0; at < steps; at++) {
			known = next_level(track, at, &level) || known;
			if (known)
				json_i64(json, NULL, level);
			else
				json_string(json, NULL, NULL);
		}
		json_close(json);
		json_close(json);
	}
	json_close(json);
}

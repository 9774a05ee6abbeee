/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/samples/sample_levels.h"

#include <errno.h>
#include <stddef.h>

void sample_levels_fini(struct sample_levels *levels)
{
	for (size_t i = 0; i < levels->tracks.count; i++)
		level_track_fini(&levels->tracks.items[i]);
	vec_fini(&levels->tracks);
}

int sample_levels_add(struct sample_levels *levels, enum level_kind kind, uint32_t event,
		      uint32_t process, struct level_point point)
{
	size_t i = 0;

	while (i < levels->tracks.count &&
	       (levels->tracks.items[i].kind != kind || levels->tracks.items[i].event != event ||
		levels->tracks.items[i].process != process))
		i++;
	if (i == levels->tracks.count &&
	    vec_push(&levels->tracks,
		     (struct level_track){.kind = kind, .event = event, .process = process}) < 0)
		return -ENOMEM;
	return level_track_add(&levels->tracks.items[i], point);
}

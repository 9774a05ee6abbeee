/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_TIMELINE_TIMELINE_LEVELS_H
#define WICK_VIEW_TIMELINE_TIMELINE_LEVELS_H

/*
 * timeline_levels: memory over time in a timeline: what is live of the heap, and what processes
 * had. A column shows the highest in it.
 */

#include <stdint.h>

struct bytes;
struct json;
struct profile;

/* Steps of what is shown, all equally long. */
struct timeline_steps {
	uint64_t step_ns;
	uint64_t count;
	uint64_t from_ns; /* where the first begins: blocks from before do not count */
};

/* Appends a line for each that the profile has, which has its scale for itself. 0 or -ENOMEM. */
int timeline_levels_put_text(const struct profile *profile, struct timeline_steps steps,
			     struct bytes *out);

/* Appends the key "levels" where there are any. 0 or -ENOMEM. */
int timeline_levels_put_json(const struct profile *profile, struct timeline_steps steps,
			     struct json *json);

#endif

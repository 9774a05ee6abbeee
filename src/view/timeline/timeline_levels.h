/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_TIMELINE_TIMELINE_LEVELS_H
#define WICK_VIEW_TIMELINE_TIMELINE_LEVELS_H

/*
 * timeline_levels: memory in a timeline: the live heap and the resident memory of processes. A
 * column shows its highest level.
 */

#include <stdint.h>

struct bytes;
struct json;
struct profile;

/* The steps of the timeline, all of equal length. */
struct timeline_steps {
	uint64_t step_ns;
	uint64_t count;
	uint64_t from_ns; /* start of the first step: blocks allocated before it do not count */
};

/* Appends a line for each level of the profile, each with its own scale. 0 or -ENOMEM. */
int timeline_levels_put_text(const struct profile *profile, struct timeline_steps steps,
			     struct bytes *out);

/* Appends the key "levels" if there are any. 0 or -ENOMEM. */
int timeline_levels_put_json(const struct profile *profile, struct timeline_steps steps,
			     struct json *json);

#endif

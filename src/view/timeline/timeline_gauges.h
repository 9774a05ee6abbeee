/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_TIMELINE_TIMELINE_GAUGES_H
#define WICK_VIEW_TIMELINE_TIMELINE_GAUGES_H

/*
 * timeline_gauges: the gauges that programs reported, step by step. A level holds until the next
 * report: a step shows the level at its end.
 */

#include <stdint.h>

#include "base/vec.h"

struct bytes;
struct export_sample;
struct json;
struct profile;

struct gauge_step {
	uint64_t since_ns; /* time of the last report in this step; 0: none */
	int64_t level;
};

/* A gauge of one process. */
struct gauge_track {
	const char *name; /* borrowed from the samples */
	uint32_t pid;
	VEC(struct gauge_step) steps;
};

struct timeline_gauges {
	VEC(struct gauge_track) tracks;
};

void timeline_gauges_fini(struct timeline_gauges *gauges);

/* Adds a level that was reported in a step. 0 or -ENOMEM. */
int timeline_gauges_add(struct timeline_gauges *gauges, const struct profile *profile,
			const struct export_sample *sample, uint64_t step);

/* Appends a line for each gauge of the profile, each with its own scale. */
void timeline_gauges_put_text(const struct timeline_gauges *gauges, const struct profile *profile,
			      uint64_t steps, struct bytes *out);

/* Appends the key "gauges" if there are any. */
void timeline_gauges_put_json(const struct timeline_gauges *gauges, const struct profile *profile,
			      uint64_t steps, struct json *json);

#endif

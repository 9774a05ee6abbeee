/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_TIMELINE_TIMELINE_H
#define WICK_VIEW_TIMELINE_TIMELINE_H

/*
 * timeline: what threads or processes did over time, in steps of equal length.
 *
 * JSON has the keys title, duration_ns, from_ns, step_ns, steps, samples, lost, value {name, unit,
 * total}, by, rows [{name, process, pid, tid, state, samples, total, sample_steps [], total_steps
 * []}] and more, the rows beyond the limit; pid, tid and state are present where they apply; if
 * memory was recorded, levels [{name, unit, process, pid, last, highest, steps []}], with the
 * highest level in each step; and, if programs reported any, gauges [{name, unit, process, pid,
 * times, last, lowest, highest, mean, steps []}], with the level at the end of each step, null
 * before the first. CSV has a line for each step in which a row has samples.
 *
 * A thread has a row for each of its states. A sample is spread over the time it covers; it is
 * counted in the step where it ends.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes;
struct error;
struct export_sample;
struct profile;
struct timeline;

enum timeline_by {
	TIMELINE_BY_THREAD = 0,
	TIMELINE_BY_PROCESS = 1,
	TIMELINE_BY_NOTHING = 2,
};

enum timeline_format { TIMELINE_TEXT = 0, TIMELINE_JSON = 1, TIMELINE_CSV = 2 };

struct timeline_options {
	enum timeline_by by;
	enum timeline_format format;
	uint64_t from_ns; /* start of the first step, since the start of the recording */
	uint64_t step_ns; /* 0: divide the time into this many columns */
	uint32_t columns;
	uint32_t limit; /* rows; 0: all */
	bool color;
};

#define TIMELINE_MAX_STEPS 100000u

struct timeline *timeline_new(const struct timeline_options *options); /* NULL if out of memory */
void timeline_free(struct timeline *timeline);                         /* NULL is fine */

/* Adds a sample of the profile, whose duration determines the length of the steps. */
int timeline_add(struct timeline *timeline, const struct profile *profile,
		 const struct export_sample *sample, struct error *err);

/* Appends the timeline to out. */
int timeline_write(struct timeline *timeline, const struct profile *profile, struct bytes *out,
		   struct error *err);

#endif

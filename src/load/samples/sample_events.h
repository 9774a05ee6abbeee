/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_SAMPLES_SAMPLE_EVENTS_H
#define WICK_LOAD_SAMPLES_SAMPLE_EVENTS_H

/*
 * sample_events: the events of a recording, the one that is looked at, and what the
 * others come to for each sum of samples.
 *
 * The weights of the main event stand in the sums themselves; a column for each of the
 * others is made when its first sample comes, so a file of one event has none.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/sink.h"

struct bytes;

/* Values that events have in a profile, samples among them: those of a heap may come besides. */
#define SAMPLE_EVENTS_VALUES 10u

struct sample_event {
	uint32_t schema; /* its id in the file */
	char *event;
	char *value;
	char *unit;
	uint64_t period;
	enum schema_kind kind;
	uint64_t sum;          /* of all its weights: at most INT64_MAX */
	VEC(uint64_t) weights; /* by sum of samples; those behind the end are 0 */
};

struct sample_events {
	VEC(struct sample_event) items; /* as the file tells of them */
	uint32_t main;                  /* which of them; ID_NONE: not found yet */
	char *told;                     /* the main one by the file; NULL: its first */
	bool complete; /* its values are all: samples are not counted beside them */
};

void sample_events_fini(struct sample_events *events);

/* Adds one; wanted is the name of the one to look at, NULL: that which the file tells. */
int sample_events_add(struct sample_events *events, uint32_t schema, const struct schema *told,
		      const char *wanted);

/* Takes the file's word for the main one. 0 or -ENOMEM. */
int sample_events_tell(struct sample_events *events, const char *name, const char *wanted);

/* The main event, NULL when the file does not have it. */
const struct sample_event *sample_events_main(const struct sample_events *events);

/* The event of a schema, ID_NONE for one that is not known. */
uint32_t sample_events_find(const struct sample_events *events, uint32_t schema);

/* Whether a profile has room for what the event counts; gauges count nothing. */
bool sample_events_is_kept(const struct sample_events *events, uint32_t event);

/* What an event comes to for a sum of samples; not for the main one. */
uint64_t sample_event_weight(const struct sample_event *event, size_t sum);

/* Sets it. 0 or -ENOMEM. */
int sample_event_set(struct sample_event *event, size_t sum, uint64_t weight);

/* Appends the names of all, or only of those that a profile has no room for. */
void sample_events_put_names(const struct sample_events *events, bool left_out, struct bytes *out);

#endif

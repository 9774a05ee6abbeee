/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_SAMPLES_SAMPLE_EVENTS_H
#define WICK_LOAD_SAMPLES_SAMPLE_EVENTS_H

/*
 * sample_events: the events of a recording, the main one among them, and the weights of the others
 * for each sum of samples.
 *
 * The weights of the main event are in the sums themselves; a column for each other event is
 * created with its first sample, so a file with one event has none.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/sink.h"

struct bytes;

/*
 * Maximum number of values that events have in a profile, including the number of samples; heap
 * values may come on top.
 */
#define SAMPLE_EVENTS_VALUES 10u

struct sample_event {
	uint32_t schema; /* its id in the file */
	char *event;
	char *value;
	char *unit;
	uint64_t period;
	enum schema_kind kind;
	uint64_t sum;          /* of all its weights: at most INT64_MAX */
	VEC(uint64_t) weights; /* by sum of samples; those past the end are 0 */
};

struct sample_events {
	VEC(struct sample_event) items; /* in file order */
	uint32_t main;                  /* index of the main one; ID_NONE: not found yet */
	char *told;    /* name of the main one in the file; NULL: the first event */
	bool complete; /* its values are complete: the number of samples is not a value */
};

void sample_events_fini(struct sample_events *events);

/* Adds an event; `wanted` is the name of the main one, NULL: the one that the file names. */
int sample_events_add(struct sample_events *events, uint32_t schema, const struct schema *told,
		      const char *wanted);

/* Sets the main event that the file names. Returns 0 or -ENOMEM. */
int sample_events_tell(struct sample_events *events, const char *name, const char *wanted);

/* The main event, NULL if the file does not have it. */
const struct sample_event *sample_events_main(const struct sample_events *events);

/* The event of a schema, ID_NONE if unknown. */
uint32_t sample_events_find(const struct sample_events *events, uint32_t schema);

/* Whether a profile has room for the values of this event; gauges have none. */
bool sample_events_is_kept(const struct sample_events *events, uint32_t event);

/* The weight of an event in a sum of samples; not for the main one. */
uint64_t sample_event_weight(const struct sample_event *event, size_t sum);

/* Sets the weight. Returns 0 or -ENOMEM. */
int sample_event_set(struct sample_event *event, size_t sum, uint64_t weight);

/* Appends the names of all events, or only of those that a profile has no room for. */
void sample_events_put_names(const struct sample_events *events, bool left_out, struct bytes *out);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_USER_EVENTS_H
#define WICK_ENGINE_SIGNAL_USER_EVENTS_H

/* user_events: events and labels that programs report, as labels and schemas of the sink. */

#include <stdbool.h>
#include <stdint.h>

struct error;
struct process_sample;
struct sample_batch;
struct sink;
struct user_events;

struct user_events *user_events_new(struct sink *sink); /* borrows it; NULL if out of memory */
void user_events_free(struct user_events *events);

/* The state of the thread during the time a wall-clock sample covers; NULL: it is an event. */
const char *user_events_state(const struct process_sample *sample);

/*
 * The label set of a sample: the labels of its thread, its own, and the state of the thread (NULL:
 * unknown). 0: no labels, or out of memory.
 */
uint32_t user_events_labels(struct user_events *events, const struct process_sample *sample,
			    const char *state);

/* The schema of an event, by its name and unit. ID_NONE on failure. */
uint32_t user_events_schema(struct user_events *events, const struct process_sample *sample);

/*
 * Buffers an event until it is passed on together with others of its schema: in a recording each
 * change of the schema costs a chunk. Returns 0 or a negative errno, like the next.
 */
int user_events_keep(struct user_events *events, const struct sample_batch *batch);
int user_events_hand_on(struct user_events *events, struct error *err);

/* Whether the weight of an event exceeds the file format. Gauges may be negative. */
bool user_events_is_beyond(const struct process_sample *sample);

#endif

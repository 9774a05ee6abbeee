/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/signal/user_events.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/id_index.h"
#include "base/vec.h"
#include "engine/signal/process_file.h"
#include "model/entity.h"
#include "model/label_sets.h"
#include "model/sink.h"
#include "recording/sample_columns.h"

/* Limit for programs that make up ever new names. */
#define MAX_SCHEMAS 200u

struct known_schema {
	char *name;
	char *unit;
	enum schema_kind kind;
	uint32_t id;
	struct sample_columns kept; /* buffered events */
};

struct user_events {
	struct sink *sink;
	VEC(struct known_schema) schemas;
};

struct user_events *user_events_new(struct sink *sink)
{
	struct user_events *events = calloc(1, sizeof(*events));

	if (events)
		events->sink = sink;
	return events;
}

void user_events_free(struct user_events *events)
{
	if (!events)
		return;
	for (size_t i = 0; i < events->schemas.count; i++) {
		free(events->schemas.items[i].name);
		free(events->schemas.items[i].unit);
		sample_columns_fini(&events->schemas.items[i].kept);
	}
	vec_fini(&events->schemas);
	free(events);
}

/* Consecutive NUL-terminated texts. */
struct reader {
	const char *at;
	const char *end;
};

static const char *next_text(struct reader *reader)
{
	const char *text = reader->at;

	if (!text || text >= reader->end)
		return NULL;
	reader->at = text + strlen(text) + 1;
	return text;
}

/* Later labels replace earlier ones with the same key. */
static void add_label(struct label *labels, size_t *count, const char *key, const char *value)
{
	size_t i = 0;

	while (i < *count && strcmp(labels[i].key, key) != 0)
		i++;
	if (i == LABELS_MAX)
		return;
	labels[i] = (struct label){.key = key, .value = value};
	*count += i == *count;
}

static void add_texts(struct label *labels, size_t *count, struct reader reader)
{
	const char *key;
	const char *value;

	while ((key = next_text(&reader)) && (value = next_text(&reader)))
		add_label(labels, count, key, value);
}

static struct reader event_texts(const struct process_sample *sample)
{
	return (struct reader){sample->texts,
			       sample->texts ? sample->texts + sample->text_bytes : NULL};
}

const char *user_events_state(const struct process_sample *sample)
{
	if (sample->texts)
		return NULL;
	if (sample->flags & SESSION_PREEMPTED)
		return "preempted"; /* as in the ebpf engine */
	return sample->flags & SESSION_ASLEEP ? "S" : "R";
}

uint32_t user_events_labels(struct user_events *events, const struct process_sample *sample,
			    const char *state)
{
	struct reader of_event = event_texts(sample);
	struct label labels[LABELS_MAX] = {{0}};
	size_t count = 0;
	uint32_t id = 0;

	if (state)
		add_label(labels, &count, "state", state);
	if (sample->label_bytes > 0)
		add_texts(labels, &count,
			  (struct reader){sample->labels, sample->labels + sample->label_bytes});
	(void)next_text(&of_event); /* its name */
	(void)next_text(&of_event); /* and unit */
	add_texts(labels, &count, of_event);
	if (count == 0 || sink_labels(events->sink, labels, count, &id) < 0)
		return 0;
	return id;
}

static uint32_t make_schema(struct user_events *events, const char *name, const char *unit,
			    enum schema_kind kind)
{
	struct known_schema known = {.name = strdup(name), .unit = strdup(unit), .kind = kind};
	struct schema schema = {
		.event = known.name, .value = known.name, .unit = known.unit, .kind = kind};

	if (known.name && known.unit && events->schemas.count < MAX_SCHEMAS &&
	    sink_schema(events->sink, &schema, &known.id) == 0 &&
	    vec_push(&events->schemas, known) == 0)
		return known.id;
	free(known.name);
	free(known.unit);
	return ID_NONE;
}

uint32_t user_events_schema(struct user_events *events, const struct process_sample *sample)
{
	struct reader texts = event_texts(sample);
	const char *name = next_text(&texts);
	const char *unit = next_text(&texts);
	enum schema_kind kind = sample->flags & SESSION_GAUGE ? SCHEMA_GAUGE : SCHEMA_TOLD;

	if (!name || !unit)
		return ID_NONE;
	for (size_t i = 0; i < events->schemas.count; i++)
		if (events->schemas.items[i].kind == kind &&
		    strcmp(events->schemas.items[i].name, name) == 0 &&
		    strcmp(events->schemas.items[i].unit, unit) == 0)
			return events->schemas.items[i].id;
	return make_schema(events, name, unit, kind);
}

int user_events_keep(struct user_events *events, const struct sample_batch *batch)
{
	for (size_t i = 0; i < events->schemas.count; i++)
		if (events->schemas.items[i].id == batch->schema)
			return sample_columns_add(&events->schemas.items[i].kept, batch);
	return sink_batch(events->sink, batch, NULL);
}

int user_events_hand_on(struct user_events *events, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < events->schemas.count && r == 0; i++) {
		struct sample_columns *kept = &events->schemas.items[i].kept;
		struct sample_batch batch;

		if (kept->count == 0)
			continue;
		batch = sample_columns_batch(kept, 0);
		r = sink_batch(events->sink, &batch, err);
		kept->count = 0;
	}
	return r;
}

bool user_events_is_beyond(const struct process_sample *sample)
{
	return !(sample->flags & SESSION_GAUGE) && sample->weight_ns > INT64_MAX;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/samples/sample_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/id_index.h"
#include "model/profile.h"
#include "model/sink.h"

static void event_fini(struct sample_event *event)
{
	free(event->event);
	free(event->value);
	free(event->unit);
	vec_fini(&event->weights);
}

void sample_events_fini(struct sample_events *events)
{
	size_t i;

	for (i = 0; i < events->items.count; i++)
		event_fini(&events->items.items[i]);
	vec_fini(&events->items);
	free(events->told);
}

/* An event is selected by its name, or by the name of its value. */
static void choose_main(struct sample_events *events, const char *wanted)
{
	const char *name = wanted ? wanted : events->told;
	size_t i;

	events->main = name || events->items.count == 0 ? ID_NONE : 0;
	for (i = events->items.count; name && i-- > 0;)
		if (strcmp(events->items.items[i].value, name) == 0)
			events->main = (uint32_t)i;
	for (i = events->items.count; name && i-- > 0;)
		if (strcmp(events->items.items[i].event, name) == 0)
			events->main = (uint32_t)i;
	if (events->main == ID_NONE && !wanted && events->items.count > 0)
		events->main = 0;
	while (!wanted && events->main != ID_NONE &&
	       events->items.items[events->main].kind == SCHEMA_GAUGE &&
	       events->main + 1 < events->items.count)
		events->main++;
}

int sample_events_add(struct sample_events *events, uint32_t schema, const struct schema *told,
		      const char *wanted)
{
	struct sample_event event = {
		.schema = schema,
		.event = strdup(told->event),
		.value = strdup(told->value),
		.unit = strdup(told->unit),
		.period = told->period,
		.kind = told->kind,
	};

	if (!event.event || !event.value || !event.unit || vec_push(&events->items, event) < 0) {
		event_fini(&event);
		return -ENOMEM;
	}
	choose_main(events, wanted);
	return 0;
}

int sample_events_tell(struct sample_events *events, const char *name, const char *wanted)
{
	char *copy = strdup(name);

	if (!copy)
		return -ENOMEM;
	free(events->told);
	events->told = copy;
	choose_main(events, wanted);
	return 0;
}

const struct sample_event *sample_events_main(const struct sample_events *events)
{
	return events->main == ID_NONE ? NULL : &events->items.items[events->main];
}

uint32_t sample_events_find(const struct sample_events *events, uint32_t schema)
{
	uint32_t i;

	for (i = 0; i < events->items.count; i++)
		if (events->items.items[i].schema == schema)
			return i;
	return ID_NONE;
}

bool sample_events_is_kept(const struct sample_events *events, uint32_t event)
{
	/* Besides the main event and, if it is counted, the number of samples. */
	uint32_t room = SAMPLE_EVENTS_VALUES - (events->complete ? 1 : 2);

	uint32_t before = 0;
	uint32_t i;

	if (event == events->main)
		return true;
	for (i = 0; i < event; i++)
		before += i != events->main && events->items.items[i].kind != SCHEMA_GAUGE;
	return events->items.items[event].kind != SCHEMA_GAUGE && before < room;
}

uint64_t sample_event_weight(const struct sample_event *event, size_t sum)
{
	return sum < event->weights.count ? event->weights.items[sum] : 0;
}

int sample_event_set(struct sample_event *event, size_t sum, uint64_t weight)
{
	if (weight == 0 && sum >= event->weights.count)
		return 0;
	while (event->weights.count <= sum)
		if (vec_push(&event->weights, 0) < 0)
			return -ENOMEM;
	event->weights.items[sum] = weight;
	return 0;
}

void sample_events_put_names(const struct sample_events *events, bool left_out, struct bytes *out)
{
	const char *between = "";
	uint32_t i;

	for (i = 0; i < events->items.count; i++) {
		if (left_out && (sample_events_is_kept(events, i) ||
				 events->items.items[i].kind == SCHEMA_GAUGE))
			continue;
		bytes_printf(out, "%s%s", between, events->items.items[i].event);
		between = ", ";
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "heap/values.h"
#include "load/loader.h"

static void add_value(struct loader *loader, struct value_type *types, uint32_t *count,
		      uint32_t event)
{
	const struct sample_event *item = &loader->samples.events.items.items[event];

	loader->sources[*count] = event;
	types[(*count)++] = (struct value_type){item->value, item->unit};
}

/*
 * The number of samples comes first, unless the weights of the main event are just that, or the
 * values of the file are complete without it; then the main event, then the others. Names are
 * borrowed from the events until the profile has its own strings.
 */
static uint32_t list_values(struct loader *loader, struct value_type *types, uint32_t *ret_main)
{
	const struct sample_events *events = &loader->samples.events;
	const struct sample_event *main = sample_events_main(events);
	uint32_t count = 0;
	uint32_t i;

	*ret_main = 0;
	if (!events->complete || !main) {
		loader->sources[count] = LOADER_SAMPLES;
		types[count++] = (struct value_type){"samples", "count"};
	}
	if (!events->complete && main && strcmp(main->value, "samples") != 0) {
		*ret_main = count;
		add_value(loader, types, &count, events->main);
	}
	for (i = 0; i < events->items.count; i++) {
		if ((i == events->main && !events->complete) || !sample_events_is_kept(events, i))
			continue;
		if (i == events->main)
			*ret_main = count;
		add_value(loader, types, &count, i);
	}
	return count;
}

/* The profile outlives the events: its types get their own texts. */
static int keep_names(struct profile *profile)
{
	uint32_t i;

	for (i = 0; i < profile->value_count; i++) {
		struct value_type *type = &profile->value_types[i];
		uint32_t name = strings_add(&profile->strings, type->name);
		uint32_t unit = strings_add(&profile->strings, type->unit);

		if (name == ID_NONE || unit == ID_NONE)
			return -ENOMEM;
		type->name = strings_get(&profile->strings, name);
		type->unit = strings_get(&profile->strings, unit);
	}
	return 0;
}

/* Appends the values of a heap to those of samples. Returns the total number. */
static uint32_t list_heap_beside(struct loader *loader, struct value_type *types, uint32_t count)
{
	struct value_type of_heap[HEAP_VALUES];
	uint32_t ignored;
	uint32_t added = loader_list_heap(loader, of_heap, &ignored);
	uint32_t i;

	for (i = 0; i < added; i++) {
		loader->sources[count] = LOADER_HEAP;
		types[count++] = of_heap[i];
	}
	return count;
}

int loader_make_profile(struct loader *loader)
{
	struct value_type types[PROFILE_MAX_VALUES];
	uint32_t main;
	uint32_t count = samples_are_heap(&loader->samples) ? loader_list_heap(loader, types, &main)
							    : list_values(loader, types, &main);
	uint32_t of_samples = samples_are_heap(&loader->samples) ? 0 : count;

	_Static_assert(SAMPLE_EVENTS_VALUES + HEAP_VALUES <= PROFILE_MAX_VALUES, "both fit");
	if (loader_has_heap_beside(loader))
		count = list_heap_beside(loader, types, count);
	if (profile_new(types, count, &loader->profile) < 0)
		return -ENOMEM;
	loader->profile->main_value = main;
	if (count > of_samples)
		loader->profile->time.heap_value = of_samples;
	return keep_names(loader->profile);
}

void loader_values(const struct loader *loader, size_t sum, int64_t *values)
{
	const struct sample_events *events = &loader->samples.events;
	uint32_t i;

	for (i = 0; i < loader->profile->value_count; i++) {
		uint32_t source = loader->sources[i];

		if (source == LOADER_SAMPLES)
			values[i] = (int64_t)loader->samples.sums.items[sum].count;
		else if (source == LOADER_HEAP)
			values[i] = 0;
		else if (source == events->main)
			values[i] = (int64_t)loader->samples.sums.items[sum].weight;
		else
			values[i] = (int64_t)sample_event_weight(&events->items.items[source], sum);
	}
}

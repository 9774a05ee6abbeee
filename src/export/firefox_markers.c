/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/firefox_markers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/id_index.h"
#include "base/json.h"
#include "export/export.h"
#include "model/entity.h"

enum phase { PHASE_INSTANT = 0, PHASE_INTERVAL = 1 };

#define NS_PER_MS 1e6

int firefox_markers_init(struct firefox_markers *markers)
{
	return strings_init(&markers->texts);
}

void firefox_markers_fini(struct firefox_markers *markers)
{
	vec_fini(&markers->items);
	vec_fini(&markers->types);
	strings_fini(&markers->texts);
}

/* The type of an event, created if missing; ID_NONE if out of memory. */
static uint32_t type_of(struct firefox_markers *markers, const struct export_sample *sample)
{
	struct firefox_marker_type type = {.name = strings_add(&markers->texts, sample->event),
					   .unit = strings_add(&markers->texts, sample->unit),
					   .kind = sample->kind};
	uint32_t i;

	if (type.name == ID_NONE || type.unit == ID_NONE)
		return ID_NONE;
	for (i = 0; i < markers->types.count; i++)
		if (markers->types.items[i].name == type.name &&
		    markers->types.items[i].unit == type.unit &&
		    markers->types.items[i].kind == type.kind)
			return i;
	return vec_push(&markers->types, type) < 0 ? ID_NONE : i;
}

/* "key: value, key: value", stored once for all markers with the same labels. */
static uint32_t labels_of(struct firefox_markers *markers, const struct export_sample *sample)
{
	struct bytes text = {0};
	uint32_t id;
	size_t i;

	for (i = 0; i < sample->label_count; i++)
		bytes_printf(&text, "%s%s: %s", i > 0 ? ", " : "", sample->labels[i].key,
			     sample->labels[i].value);
	bytes_put_u8(&text, '\0');
	id = text.failed ? ID_NONE : strings_add(&markers->texts, (char *)text.data);
	bytes_fini(&text);
	return id;
}

/*
 * All parts of the work are events of one name: the label with that key has the name of the part.
 */
static const char *name_of(const struct export_sample *sample)
{
	size_t i;

	for (i = 0; i < sample->label_count; i++)
		if (strcmp(sample->labels[i].key, sample->event) == 0)
			return sample->labels[i].value;
	return sample->event;
}

int firefox_markers_add(struct firefox_markers *markers, struct strings *strings,
			const struct export_sample *sample)
{
	struct firefox_marker marker = {.since_ns = sample->since_ns,
					.weight = sample->weight,
					.thread = sample->thread,
					.type = type_of(markers, sample),
					.name = strings_add(strings, name_of(sample)),
					.labels = labels_of(markers, sample)};

	if (marker.type == ID_NONE || marker.name == ID_NONE || marker.labels == ID_NONE)
		return -ENOMEM;
	return vec_push(&markers->items, marker);
}

static int by_thread_and_time(const void *a, const void *b)
{
	const struct firefox_marker *x = a;
	const struct firefox_marker *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->since_ns < y->since_ns ? -1 : x->since_ns > y->since_ns;
}

void firefox_markers_sort(struct firefox_markers *markers)
{
	if (markers->items.count > 0)
		qsort(markers->items.items, markers->items.count, sizeof(struct firefox_marker),
		      by_thread_and_time);
}

static const char *text_of(const struct firefox_markers *markers, uint32_t id)
{
	return strings_get(&markers->texts, id);
}

static bool is_time(const struct firefox_markers *markers, const struct firefox_marker_type *type)
{
	return strcmp(text_of(markers, type->unit), "nanoseconds") == 0;
}

/* Whether it has a duration, and is drawn from its start to its end. */
static bool is_interval(const struct firefox_markers *markers,
			const struct firefox_marker_type *type)
{
	return type->kind != SCHEMA_GAUGE && is_time(markers, type);
}

static void put_field(struct json *json, const char *key, const char *label, const char *format)
{
	json_open_object(json, NULL);
	json_string(json, "key", key);
	json_string(json, "label", label);
	json_string(json, "format", format);
	json_close(json);
}

static void put_type(const struct firefox_markers *markers, const struct firefox_marker_type *type,
		     struct json *json)
{
	const char *unit = text_of(markers, type->unit);
	const char *format = is_time(markers, type)       ? "duration"
			     : strcmp(unit, "bytes") == 0 ? "bytes"
							  : "integer";

	json_open_object(json, NULL);
	json_string(json, "name", text_of(markers, type->name));
	json_string(json, "tableLabel", "{marker.data.value} {marker.data.labels}");
	json_open_array(json, "display");
	json_string(json, NULL, "marker-chart");
	json_string(json, NULL, "marker-table");
	json_close(json);
	json_open_array(json, "fields");
	put_field(json, "value", unit, format);
	put_field(json, "labels", "labels", "string");
	json_close(json);
	if (!is_interval(markers, type)) {
		json_open_array(json, "graphs");
		json_open_object(json, NULL);
		json_string(json, "key", "value");
		json_string(json, "type", type->kind == SCHEMA_GAUGE ? "line-filled" : "bar");
		json_close(json);
		json_close(json);
	}
	json_close(json);
}

void firefox_markers_put_schema(const struct firefox_markers *markers, struct json *json)
{
	size_t i;

	json_open_array(json, "markerSchema");
	for (i = 0; i < markers->types.count; i++)
		put_type(markers, &markers->types.items[i], json);
	json_close(json);
}

static void put_data(const struct firefox_markers *markers, const struct firefox_marker *marker,
		     struct json *json)
{
	const struct firefox_marker_type *type = &markers->types.items[marker->type];

	json_open_object(json, NULL);
	json_string(json, "type", text_of(markers, type->name));
	if (is_time(markers, type))
		json_double(json, "value", (double)(int64_t)marker->weight / NS_PER_MS, 6);
	else
		json_i64(json, "value", (int64_t)marker->weight);
	json_string(json, "labels", text_of(markers, marker->labels));
	json_close(json);
}

/* The value of a column for a marker. */
enum column { DATA, NAME, START, END, PHASE, CATEGORY };

static void put_value(const struct firefox_markers *markers, const struct firefox_marker *marker,
		      enum column column, struct json *json)
{
	bool interval = is_interval(markers, &markers->types.items[marker->type]);
	uint64_t begin_ns = marker->since_ns;

	if (interval)
		begin_ns = begin_ns > marker->weight ? begin_ns - marker->weight : 0;
	switch (column) {
	case DATA:
		put_data(markers, marker, json);
		break;
	case NAME:
		json_u64(json, NULL, marker->name);
		break;
	case START:
		json_double(json, NULL, (double)begin_ns / NS_PER_MS, 6);
		break;
	case END:
		if (interval)
			json_double(json, NULL, (double)marker->since_ns / NS_PER_MS, 6);
		else
			json_string(json, NULL, NULL);
		break;
	case PHASE:
		json_u64(json, NULL, interval ? PHASE_INTERVAL : PHASE_INSTANT);
		break;
	case CATEGORY:
		json_u64(json, NULL, 0);
		break;
	}
}

void firefox_markers_put(const struct firefox_markers *markers, size_t first, size_t end,
			 struct json *json)
{
	static const char *const columns[] = {
		[DATA] = "data",   [NAME] = "name",   [START] = "startTime",
		[END] = "endTime", [PHASE] = "phase", [CATEGORY] = "category",
	};
	size_t column;
	size_t i;

	json_open_object(json, "markers");
	json_u64(json, "length", end - first);
	for (column = 0; column < ARRAY_SIZE(columns); column++) {
		json_open_array(json, columns[column]);
		for (i = first; i < end; i++)
			put_value(markers, &markers->items.items[i], (enum column)column, json);
		json_close(json);
	}
	json_close(json);
}

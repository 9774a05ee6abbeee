/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_EXPORT_FIREFOX_MARKERS_H
#define WICK_EXPORT_FIREFOX_MARKERS_H

/*
 * firefox_markers: events that programs reported, as markers of the Firefox Profiler. Each event
 * becomes a marker type: durations are intervals, and gauges and counts have a graph over time.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/sink.h"
#include "model/strings.h"

struct export_sample;
struct json;

struct firefox_marker {
	uint64_t since_ns;
	uint64_t weight;
	uint32_t thread;
	uint32_t type;   /* index into types */
	uint32_t name;   /* index into the profile's strings */
	uint32_t labels; /* index into texts */
};

struct firefox_marker_type {
	uint32_t name; /* index into texts */
	uint32_t unit;
	enum schema_kind kind;
};

struct firefox_markers {
	VEC(struct firefox_marker) items;
	VEC(struct firefox_marker_type) types;
	struct strings texts;
};

int firefox_markers_init(struct firefox_markers *markers); /* 0 or -ENOMEM */
void firefox_markers_fini(struct firefox_markers *markers);

/* Adds a marker; `strings` are those of the profile. Returns 0 or -ENOMEM. */
int firefox_markers_add(struct firefox_markers *markers, struct strings *strings,
			const struct export_sample *sample);

/* Sorts them by thread and time. */
void firefox_markers_sort(struct firefox_markers *markers);

/* Appends the key "markerSchema", or the key "markers" of a thread. */
void firefox_markers_put_schema(const struct firefox_markers *markers, struct json *json);
void firefox_markers_put(const struct firefox_markers *markers, size_t first, size_t end,
			 struct json *json);

#endif

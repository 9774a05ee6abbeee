/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/perfetto_tracks.h"

#include <errno.h>
#include <string.h>

#include "export/export.h"
#include "export/protobuf.h"
#include "model/entity.h"

enum trace_field { TRACE_PACKET = 1 };
enum packet_field {
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_TRACK_DESCRIPTOR = 60,
};
enum sequence_flag { SEQUENCE_STATE_CLEARED = 1 };
enum track_field {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
};
enum process_field { PROCESS_PID = 1 };
enum thread_field { THREAD_PID = 1, THREAD_TID = 2 };
enum counter_field { COUNTER_UNIT = 3, COUNTER_UNIT_NAME = 6 };
enum counter_unit { UNIT_NAMED = 0, UNIT_TIME_NS = 1, UNIT_COUNT = 2, UNIT_SIZE_BYTES = 3 };
enum event_field {
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_TRACK_UUID = 11,
	EVENT_CATEGORY = 22,
	EVENT_NAME = 23,
	EVENT_COUNTER_VALUE = 30,
};
enum event_type { EVENT_SLICE_BEGIN = 1, EVENT_SLICE_END = 2, EVENT_COUNTER = 4 };
enum annotation_field { ANNOTATION_TEXT = 6, ANNOTATION_NAME = 10 };

#define SEQUENCE 2u /* samples are the first */

/* Unique track ids: ranges for threads, processes, and our own tracks. */
#define THREAD_TRACKS (1ull << 40)
#define PROCESS_TRACKS (2ull << 40)
#define OWN_TRACKS (3ull << 40)

void perfetto_tracks_fini(struct perfetto_tracks *tracks)
{
	vec_fini(&tracks->items);
	id_index_fini(&tracks->index);
	bytes_fini(&tracks->packet);
	bytes_fini(&tracks->message);
	bytes_fini(&tracks->part);
}

static void put_packet(struct perfetto_tracks *tracks, struct bytes *out)
{
	protobuf_u64(&tracks->packet, PACKET_SEQUENCE_ID, SEQUENCE);
	protobuf_message(out, TRACE_PACKET, &tracks->packet);
}

/* The track of a process or thread itself, the parent of the others. */
static uint64_t put_parent(struct perfetto_tracks *tracks, struct perfetto_place place,
			   struct bytes *out)
{
	uint64_t uuid = place.tid ? THREAD_TRACKS + place.tid : PROCESS_TRACKS + place.pid;

	protobuf_u64(&tracks->part, place.tid ? THREAD_PID : PROCESS_PID, place.pid);
	if (place.tid)
		protobuf_u64(&tracks->part, THREAD_TID, place.tid);
	protobuf_u64(&tracks->message, TRACK_UUID, uuid);
	protobuf_message(&tracks->message, place.tid ? TRACK_THREAD : TRACK_PROCESS, &tracks->part);
	protobuf_message(&tracks->packet, PACKET_TRACK_DESCRIPTOR, &tracks->message);
	put_packet(tracks, out);
	return uuid;
}

static enum counter_unit unit_of(const char *unit)
{
	if (strcmp(unit, "nanoseconds") == 0)
		return UNIT_TIME_NS;
	if (strcmp(unit, "bytes") == 0)
		return UNIT_SIZE_BYTES;
	return strcmp(unit, "count") == 0 ? UNIT_COUNT : UNIT_NAMED;
}

/* Whether it has a duration, and is drawn from its start to its end. */
static bool is_slice(const struct export_sample *sample)
{
	return sample->kind != SCHEMA_GAUGE && strcmp(sample->unit, "nanoseconds") == 0;
}

static void put_descriptor(struct perfetto_tracks *tracks, uint64_t uuid,
			   struct perfetto_place place, const struct export_sample *sample,
			   struct bytes *out)
{
	uint64_t parent;

	if (uuid == OWN_TRACKS) { /* the first packet of all */
		protobuf_u64(&tracks->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_STATE_CLEARED);
		put_packet(tracks, out);
	}
	parent = put_parent(tracks, place, out);
	protobuf_u64(&tracks->message, TRACK_UUID, uuid);
	protobuf_string(&tracks->message, TRACK_NAME, sample->event);
	protobuf_u64(&tracks->message, TRACK_PARENT, parent);
	if (!is_slice(sample)) {
		enum counter_unit unit = unit_of(sample->unit);

		protobuf_u64(&tracks->part, COUNTER_UNIT, unit);
		if (unit == UNIT_NAMED)
			protobuf_string(&tracks->part, COUNTER_UNIT_NAME, sample->unit);
		protobuf_message(&tracks->message, TRACK_COUNTER, &tracks->part);
	}
	protobuf_message(&tracks->packet, PACKET_TRACK_DESCRIPTOR, &tracks->message);
	put_packet(tracks, out);
}

/* The track for an event, created if missing; ID_NONE if out of memory. */
static uint32_t find_track(struct perfetto_tracks *tracks, struct perfetto_place place,
			   const struct export_sample *sample, struct bytes *out)
{
	uint64_t hash = hash_pair(hash_pair(place.pid, place.tid), (uintptr_t)sample->event);
	struct id_probe probe = id_index_probe(&tracks->index, hash);
	uint32_t id;

	while ((id = id_probe_next(&tracks->index, &probe)) != ID_NONE) {
		const struct perfetto_track *track = &tracks->items.items[id];

		if (track->place.pid == place.pid && track->place.tid == place.tid &&
		    track->event == sample->event)
			return id;
	}
	id = (uint32_t)tracks->items.count;
	if (vec_push(&tracks->items,
		     (struct perfetto_track){.place = place, .event = sample->event}) < 0 ||
	    id_index_add(&tracks->index, hash, id) < 0)
		return ID_NONE;
	put_descriptor(tracks, OWN_TRACKS + id, place, sample, out);
	return id;
}

static void put_event(struct perfetto_tracks *tracks, uint64_t uuid, enum event_type type,
		      uint64_t time_ns, struct bytes *out)
{
	protobuf_u64(&tracks->message, EVENT_TYPE, type);
	protobuf_u64(&tracks->message, EVENT_TRACK_UUID, uuid);
	protobuf_set_u64(&tracks->packet, PACKET_TIMESTAMP, time_ns);
	protobuf_message(&tracks->packet, PACKET_TRACK_EVENT, &tracks->message);
	put_packet(tracks, out);
}

/* It is reported at its end. */
static void put_slice(struct perfetto_tracks *tracks, uint64_t uuid,
		      const struct export_sample *sample, struct bytes *out)
{
	uint64_t begin_ns = sample->time_ns > sample->weight ? sample->time_ns - sample->weight : 0;
	const char *name = sample->event;
	size_t i;

	for (i = 0; i < sample->label_count; i++) {
		const struct label *label = &sample->labels[i];

		/*
		 * All parts of the work are events of one name: a label has the name of the part.
		 */
		if (strcmp(label->key, sample->event) == 0)
			name = label->value;
		protobuf_string(&tracks->part, ANNOTATION_NAME, label->key);
		protobuf_string(&tracks->part, ANNOTATION_TEXT, label->value);
		protobuf_message(&tracks->message, EVENT_ANNOTATION, &tracks->part);
	}
	protobuf_string(&tracks->message, EVENT_CATEGORY, "event");
	protobuf_string(&tracks->message, EVENT_NAME, name);
	put_event(tracks, uuid, EVENT_SLICE_BEGIN, begin_ns, out);
	put_event(tracks, uuid, EVENT_SLICE_END, sample->time_ns, out);
}

int perfetto_tracks_put(struct perfetto_tracks *tracks, struct perfetto_place place,
			const struct export_sample *sample, struct bytes *out)
{
	struct perfetto_track *track;
	uint32_t at;

	if (sample->kind == SCHEMA_GAUGE)
		place.tid = 0;
	at = find_track(tracks, place, sample, out);
	if (at == ID_NONE)
		return -ENOMEM;
	if (is_slice(sample)) {
		put_slice(tracks, OWN_TRACKS + at, sample, out);
		return 0;
	}
	track = &tracks->items.items[at];
	track->total += sample->weight; /* two's complement: the conversion is exact */
	protobuf_set_u64(&tracks->message, EVENT_COUNTER_VALUE,
			 sample->kind == SCHEMA_GAUGE ? sample->weight : track->total);
	put_event(tracks, OWN_TRACKS + at, EVENT_COUNTER, sample->time_ns, out);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_EXPORT_PERFETTO_TRACKS_H
#define WICK_EXPORT_PERFETTO_TRACKS_H

/*
 * perfetto_tracks: events that programs reported, as tracks of a Perfetto trace: a gauge is a
 * counter of its process, a count is an increasing counter of its thread, and a duration is a slice
 * of its thread, with its labels.
 *
 * Counts are per thread, because events of one thread arrive in order and can be summed while
 * writing.
 */

#include <stdint.h>

#include "base/bytes.h"
#include "base/id_index.h"
#include "base/vec.h"

struct export_sample;
struct perfetto_place {
	uint32_t pid;
	uint32_t tid;
};

/* A track that is already in the trace. */
struct perfetto_track {
	struct perfetto_place place; /* tid 0: the process */
	const char *event;           /* borrowed from the samples */
	uint64_t total;              /* the count so far */
};

struct perfetto_tracks {
	VEC(struct perfetto_track) items;
	struct id_index index;
	struct bytes packet;
	struct bytes message;
	struct bytes part;
};

void perfetto_tracks_fini(struct perfetto_tracks *tracks);

/* Appends an event to a trace. Returns 0 or -ENOMEM. */
int perfetto_tracks_put(struct perfetto_tracks *tracks, struct perfetto_place place,
			const struct export_sample *sample, struct bytes *out);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_EXPORT_PERFETTO_TRACKS_H
#define WICK_EXPORT_PERFETTO_TRACKS_H

/*
 * perfetto_tracks: what programs told of themselves, as tracks of a Perfetto trace: a
 * gauge is a counter of its process, what was counted a counter of its thread that goes
 * up, and what took time a slice of its thread, with its labels.
 *
 * What is counted stands with threads, for those of one come in order and may be summed
 * up as they are written.
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

/* One that is in the trace already. */
struct perfetto_track {
	struct perfetto_place place; /* of a process: no tid */
	const char *event;           /* borrowed from the samples */
	uint64_t total;              /* of what was counted so far */
};

struct perfetto_tracks {
	VEC(struct perfetto_track) items;
	struct id_index index;
	struct bytes packet;
	struct bytes message;
	struct bytes part;
};

void perfetto_tracks_fini(struct perfetto_tracks *tracks);

/* Appends what was told to a trace. 0 or -ENOMEM. */
int perfetto_tracks_put(struct perfetto_tracks *tracks, struct perfetto_place place,
			const struct export_sample *sample, struct bytes *out);

#endif

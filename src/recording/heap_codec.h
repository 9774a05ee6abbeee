/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORDING_HEAP_CODEC_H
#define WICK_RECORDING_HEAP_CODEC_H

/*
 * heap_codec: heap events of some threads to bytes and back.
 *
 * Programs do the same again and again. A byte says which kind of event from which
 * stack comes, mostly "as after the last two"; another one where the address occurred
 * before: a block that is freed was allocated some events ago, and a new one takes the
 * place of the last that was freed of its size. Times are runs of events at the same
 * microsecond. What differs from what is likely stands in columns of its own.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/vec.h"
#include "model/heap_event.h"

struct heap_model;
struct number_map;

#define HEAP_COLUMNS 12

struct heap_addresses;

struct heap_encoder {
	struct bytes columns[HEAP_COLUMNS]; /* have room for a whole chunk */
	uint8_t *end[HEAP_COLUMNS];         /* of what is in them */
	struct heap_model *model;
	struct heap_addresses *addresses;
	size_t count;
	uint64_t first_event; /* events in the file before this chunk */

	uint32_t thread;       /* whose events are added */
	uint32_t thread_count; /* of its events so far */
	uint64_t start_ticks;  /* of the thread's first event here */
	uint64_t last_start_ticks;
	uint64_t ticks; /* of the last event */
	uint16_t cpu;
	uint32_t cpu_since; /* events with this CPU */
};

/* Starts as zeros. */
void heap_encoder_fini(struct heap_encoder *encoder);

/* Begins a chunk. Returns 0 or -ENOMEM. */
int heap_encoder_begin(struct heap_encoder *encoder, uint64_t first_event);

/* Events that follow are of this thread, by its number in the epoch. */
void heap_encoder_thread(struct heap_encoder *encoder, uint32_t thread);

/*
 * Adds some dozens of events, at most CHUNK_MAX_HEAP_EVENTS to a chunk. stacks has the
 * numbers of their stacks in the epoch, ID_NONE when one has none. Sizes are below
 * UINT64_MAX, ops and calls known ones.
 */
void heap_encoder_add(struct heap_encoder *encoder, const struct heap_event *events,
		      const uint32_t *stacks, size_t n);

/*
 * Appends the payload of the chunk. All events before until_ticks are in this chunk and
 * those before; 0: not known. Returns 0 or -ENOMEM.
 */
int heap_encoder_finish(struct heap_encoder *encoder, uint64_t until_ticks, struct bytes *out);

/* Events that stand together, of one thread. */
struct heap_run {
	uint32_t thread;
	uint32_t count;
};

struct heap_decoder {
	struct heap_model *model;
	uint64_t first_event;
	uint64_t until_ns; /* 0: not told */
	bool has_holes;    /* some events have a stack that was lost; their `zero` is not 0 */
	VEC(struct heap_run) runs;
	VEC(struct heap_event) events; /* of all runs, one after the other */
};

void heap_decoder_fini(struct heap_decoder *decoder);

/*
 * Decodes a payload; numbers of stacks become ids. stacks is NULL: they stay as they are.
 * Returns 0, -EBADMSG or -ENOMEM.
 */
int heap_decoder_run(struct heap_decoder *decoder, const uint8_t *data, size_t size,
		     const struct number_map *stacks);

#endif

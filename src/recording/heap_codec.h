/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORDING_HEAP_CODEC_H
#define WICK_RECORDING_HEAP_CODEC_H

/*
 * heap_codec: encodes and decodes heap events of several threads.
 *
 * Programs repeat themselves. One byte encodes the kind of event and its stack, mostly as "what
 * usually follows the last two". Another byte encodes where the address occurred before: a freed
 * block was allocated some events ago, and a new block takes the place of the last freed one of its
 * size. Times are runs of events in the same microsecond. Values that differ from the prediction
 * are in separate columns.
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
	struct bytes columns[HEAP_COLUMNS]; /* with room for a whole chunk */
	uint8_t *end[HEAP_COLUMNS];         /* end of the data in each */
	struct heap_model *model;
	struct heap_addresses *addresses;
	size_t count;
	uint64_t first_event; /* events in the file before this chunk */

	uint32_t thread;       /* thread of the events being added */
	uint32_t thread_count; /* number of its events so far */
	uint64_t start_ticks;  /* of the thread's first event in this chunk */
	uint64_t last_start_ticks;
	uint64_t ticks; /* of the last event */
	uint16_t cpu;
	uint32_t cpu_since; /* events with this CPU */
};

/* Initialise with zeros. */
void heap_encoder_fini(struct heap_encoder *encoder);

/* Begins a chunk. Returns 0 or -ENOMEM. */
int heap_encoder_begin(struct heap_encoder *encoder, uint64_t first_event);

/* The events that follow belong to this thread, given by its number in the epoch. */
void heap_encoder_thread(struct heap_encoder *encoder, uint32_t thread);

/*
 * Adds some dozens of events, at most CHUNK_MAX_HEAP_EVENTS per chunk. `stacks` has the numbers of
 * their stacks in the epoch, ID_NONE for an event without a stack. Sizes must be below UINT64_MAX,
 * ops and calls must be valid.
 */
void heap_encoder_add(struct heap_encoder *encoder, const struct heap_event *events,
		      const uint32_t *stacks, size_t n);

/*
 * Appends the payload of the chunk. All events before until_ticks are in this chunk and earlier
 * ones; 0: unknown. Returns 0 or -ENOMEM.
 */
int heap_encoder_finish(struct heap_encoder *encoder, uint64_t until_ticks, struct bytes *out);

/* Consecutive events of one thread. */
struct heap_run {
	uint32_t thread;
	uint32_t count;
};

struct heap_decoder {
	struct heap_model *model;
	uint64_t first_event;
	uint64_t until_ns; /* 0: unknown */
	bool has_holes;    /* the stacks of some events were lost; their `zero` is not 0 */
	VEC(struct heap_run) runs;
	VEC(struct heap_event) events; /* of all runs, one after another */
};

void heap_decoder_fini(struct heap_decoder *decoder);

/*
 * Decodes a payload and translates stack numbers to ids; if `stacks` is NULL they stay numbers.
 * Returns 0, -EBADMSG or -ENOMEM.
 */
int heap_decoder_run(struct heap_decoder *decoder, const uint8_t *data, size_t size,
		     const struct number_map *stacks);

#endif

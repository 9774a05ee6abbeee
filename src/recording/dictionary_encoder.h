/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORDING_DICTIONARY_ENCODER_H
#define WICK_RECORDING_DICTIONARY_ENCODER_H

/*
 * dictionary_encoder: writes the entries of a dictionary when they are first needed in an epoch,
 * and assigns their numbers in it.
 *
 * The dictionary of the recorder lives for the whole session; an epoch has only the entries that
 * its samples use. Each function below returns the number of an entry in the current epoch, and
 * queues the entry for the next flush if it is new.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/vec.h"
#include "model/dictionary.h"

struct id_map {
	VEC(uint32_t) ids; /* session id -> epoch number + 1; 0: not in the epoch */
	uint32_t next;     /* numbers given so far */
	uint32_t flushed;  /* numbers that have been written */
};

struct dictionary_encoder {
	struct dictionary *source; /* borrowed */
	struct id_map strings;
	struct id_map processes;
	struct id_map modules;
	struct id_map threads;
	struct id_map places;
	struct id_map frames;
	struct id_map nodes;  /* of the stack tree */
	struct id_map stacks; /* nodes that samples end in */
	struct id_map labels;

	struct bytes string_bytes;
	struct bytes process_bytes;
	struct bytes module_bytes;
	struct bytes thread_bytes;
	struct bytes place_bytes;
	VEC(struct frame) new_frames; /* module ids are those of the epoch */
	struct bytes attach_bytes;
	struct bytes count_bytes;
	struct bytes node_bytes;
	struct bytes label_bytes;
	VEC(uint32_t) path; /* scratch */
	bool failed;        /* out of memory: reported by the flush */
};

void dictionary_encoder_init(struct dictionary_encoder *encoder, struct dictionary *source);
void dictionary_encoder_fini(struct dictionary_encoder *encoder);

/* Forgets all numbers: a new epoch begins. Call after a flush. */
void dictionary_encoder_reset(struct dictionary_encoder *encoder);

uint32_t dictionary_encoder_process(struct dictionary_encoder *encoder, uint32_t process);
uint32_t dictionary_encoder_module(struct dictionary_encoder *encoder, uint32_t module);

/* Assign a number to an entry that has none in the epoch; for the inline functions below. */
uint32_t dictionary_encoder_new_thread(struct dictionary_encoder *encoder, uint32_t thread);
uint32_t dictionary_encoder_new_stack(struct dictionary_encoder *encoder, uint32_t node);
uint32_t dictionary_encoder_new_labels(struct dictionary_encoder *encoder, uint32_t set);

/* The epoch number of a session id, ID_NONE if it has none yet. */
static inline uint32_t id_map_get(const struct id_map *map, uint32_t id)
{
	return id < map->ids.count ? map->ids.items[id] - 1 : ID_NONE;
}

static inline uint32_t dictionary_encoder_thread(struct dictionary_encoder *encoder,
						 uint32_t thread)
{
	uint32_t number = id_map_get(&encoder->threads, thread);

	return number != ID_NONE ? number : dictionary_encoder_new_thread(encoder, thread);
}

static inline uint32_t dictionary_encoder_stack(struct dictionary_encoder *encoder, uint32_t node)
{
	uint32_t number = id_map_get(&encoder->stacks, node);

	return number != ID_NONE ? number : dictionary_encoder_new_stack(encoder, node);
}

/* 0 is the empty set; the others count from 1. */
static inline uint32_t dictionary_encoder_labels(struct dictionary_encoder *encoder, uint32_t set)
{
	uint32_t number;

	if (set == 0)
		return 0;
	number = id_map_get(&encoder->labels, set);
	return 1 + (number != ID_NONE ? number : dictionary_encoder_new_labels(encoder, set));
}

/*
 * Appends the payload of a dictionary chunk. Returns 1 if there was something to write, 0 if not,
 * or -ENOMEM.
 */
int dictionary_encoder_flush(struct dictionary_encoder *encoder, struct bytes *out);

/* The approximate number of bytes that wait for the flush. */
size_t dictionary_encoder_pending(const struct dictionary_encoder *encoder);

/* The numbers assigned so far in the longest dictionary of the epoch. */
uint32_t dictionary_encoder_numbers(const struct dictionary_encoder *encoder);

#endif

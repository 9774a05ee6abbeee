/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORDING_DICTIONARY_DECODER_H
#define WICK_RECORDING_DICTIONARY_DECODER_H

/*
 * dictionary_decoder: reads the entries of an epoch's dictionaries into one
 * dictionary for the whole file, and translates the epoch's numbers to its ids.
 *
 * Entries of a chunk that was lost leave holes: their numbers answer ID_NONE,
 * and so does everything that stands on them.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/dictionary.h"

struct number_map {
	VEC(uint32_t) ids; /* ID_NONE: a hole */
};

struct dictionary_decoder {
	struct dictionary *target; /* borrowed */
	struct number_map strings;
	struct number_map processes;
	struct number_map modules;
	struct number_map threads;
	struct number_map places;
	struct number_map frames;
	struct number_map nodes; /* nodes.ids[0] is the empty stack */
	struct number_map stacks;
	struct number_map labels; /* without the empty set, which every epoch has */
	uint64_t entries;         /* read so far, over all epochs */
	bool is_first;            /* the target had no stacks when the epoch began */
	uint64_t max_entries;     /* set by the owner: more are an attack on our memory */
};

int dictionary_decoder_init(struct dictionary_decoder *decoder, struct dictionary *target);
void dictionary_decoder_fini(struct dictionary_decoder *decoder);

/* Forgets all numbers: a new epoch begins. Returns 0 or -ENOMEM. */
int dictionary_decoder_reset(struct dictionary_decoder *decoder);

/* Reads a chunk's payload. Returns 0, -EBADMSG (nothing more is taken from it), -ENOMEM. */
int dictionary_decoder_run(struct dictionary_decoder *decoder, const uint8_t *data, size_t size);

/* The id of an epoch's label set, where 0 is the empty one. */
static inline uint32_t dictionary_decoder_labels(const struct dictionary_decoder *decoder,
						 uint32_t number)
{
	if (number == 0)
		return 0;
	return number - 1 < decoder->labels.ids.count ? decoder->labels.ids.items[number - 1]
						      : ID_NONE;
}

/* The id of an epoch's number, ID_NONE when it is not known. */
static inline uint32_t number_map_get(const struct number_map *map, uint64_t number)
{
	return number < map->ids.count ? map->ids.items[number] : ID_NONE;
}

#endif

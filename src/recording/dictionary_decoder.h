/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORDING_DICTIONARY_DECODER_H
#define WICK_RECORDING_DICTIONARY_DECODER_H

/*
 * dictionary_decoder: reads the dictionary entries of an epoch into one dictionary for the whole
 * file, and translates numbers of the epoch to its ids.
 *
 * Entries of a lost chunk leave holes: their numbers give ID_NONE, and so does everything that
 * depends on them.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/dictionary.h"

/* The numbers of a lost chunk. The size of this struct does not depend on how many they are. */
struct number_hole {
	uint32_t first;
	uint32_t end;
	uint32_t known; /* how many numbers before it are not holes */
};

struct number_map {
	VEC(uint32_t) ids; /* of the numbers that are not holes, in order */
	VEC(struct number_hole) holes;
	uint32_t next; /* next number */
};

struct dictionary_decoder {
	struct dictionary *target; /* borrowed */
	struct number_map strings;
	struct number_map processes;
	struct number_map modules;
	struct number_map threads;
	struct number_map places;
	struct number_map frames;
	struct number_map nodes; /* number 0 is the empty stack */
	struct number_map stacks;
	struct number_map labels; /* without the empty set, which every epoch has implicitly */
	uint64_t entries;         /* read so far, over all epochs */
	bool is_first;            /* the target had no stacks when the epoch began */
	uint64_t max_entries;     /* set by the owner: a limit against memory exhaustion */
};

int dictionary_decoder_init(struct dictionary_decoder *decoder, struct dictionary *target);
void dictionary_decoder_fini(struct dictionary_decoder *decoder);

/* Forgets all numbers: a new epoch begins. Returns 0 or -ENOMEM. */
int dictionary_decoder_reset(struct dictionary_decoder *decoder);

/* Reads the payload of a chunk. Returns 0, -EBADMSG (the rest is ignored), or -ENOMEM. */
int dictionary_decoder_run(struct dictionary_decoder *decoder, const uint8_t *data, size_t size);

/* The index in ids of a number, SIZE_MAX for a hole or an unknown number. */
size_t number_map_place_slow(const struct number_map *map, uint64_t number);

static inline size_t number_map_place(const struct number_map *map, uint64_t number)
{
	if (__builtin_expect(map->holes.count > 0, 0))
		return number_map_place_slow(map, number);
	return number < map->ids.count ? (size_t)number : SIZE_MAX;
}

/* The id of a number of the epoch, ID_NONE if unknown. */
static inline uint32_t number_map_get(const struct number_map *map, uint64_t number)
{
	size_t place = number_map_place(map, number);

	return place == SIZE_MAX ? ID_NONE : map->ids.items[place];
}

/* The id of a label set of the epoch, where 0 is the empty set. */
static inline uint32_t dictionary_decoder_labels(const struct dictionary_decoder *decoder,
						 uint32_t number)
{
	return number == 0 ? 0 : number_map_get(&decoder->labels, number - 1);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORDING_CHUNK_SOURCE_H
#define WICK_RECORDING_CHUNK_SOURCE_H

/*
 * chunk_source: the bytes of a recording as they come in, and the chunks among
 * them. Damage is passed over and counted; an unfinished chunk waits for its
 * rest. Knows nothing of what chunks hold.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording/chunk.h"

struct chunk_source {
	int fd;          /* -1: all there is is in the buffer */
	bool is_limited; /* to so many bytes that may still be read: */
	uint64_t limit_bytes;
	uint8_t *buffer; /* [start, end) has not been used yet */
	size_t start;
	size_t end;
	size_t capacity;
	bool hunting; /* after damage: looking for the next chunk that verifies */

	uint64_t used_bytes;    /* stepped over in whole or as damage */
	uint64_t bad_runs;      /* stretches of damage */
	uint64_t skipped_bytes; /* in them */
	uint64_t wasted_bytes;  /* checksummed in vain */
};

void chunk_source_fini(struct chunk_source *source); /* closes fd */

/* Tries to have n bytes at hand. Returns 1, 0 when there are fewer for now, -errno. */
int chunk_source_need(struct chunk_source *source, size_t n);

static inline size_t chunk_source_left(const struct chunk_source *source)
{
	return source->end - source->start;
}

/* Steps over n bytes that are at hand. */
void chunk_source_skip(struct chunk_source *source, size_t n);

/*
 * Finds the next chunk that verifies. Returns 1 with its place, valid until the
 * next call (step over it with chunk_source_skip()); 0 when there is no whole
 * one for now; or a negative errno.
 */
int chunk_source_find(struct chunk_source *source, struct chunk_header *ret_header,
		      const uint8_t **ret_place);

#endif

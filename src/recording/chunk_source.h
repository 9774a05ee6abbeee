/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORDING_CHUNK_SOURCE_H
#define WICK_RECORDING_CHUNK_SOURCE_H

/*
 * chunk_source: reads the bytes of a recording as they arrive and finds the chunks in them. Damage
 * is skipped and counted; an unfinished chunk waits for its rest. Knows nothing about the content
 * of chunks.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording/chunk.h"

struct chunk_source {
	int fd;          /* -1: everything is in the buffer */
	bool is_limited; /* only this many more bytes may be read: */
	uint64_t limit_bytes;
	uint8_t *buffer; /* [start, end) is not consumed yet */
	size_t start;
	size_t end;
	size_t capacity;
	bool hunting; /* after damage: looking for the next chunk that verifies */

	uint64_t used_bytes;    /* consumed as chunks or as damage */
	uint64_t bad_runs;      /* runs of damage */
	uint64_t skipped_bytes; /* bytes in them */
	uint64_t wasted_bytes;  /* checksummed without success */
};

void chunk_source_fini(struct chunk_source *source); /* closes fd */

/*
 * Tries to read until n bytes are in the buffer. Returns 1, 0 if there are fewer for now, or a
 * negative errno.
 */
int chunk_source_need(struct chunk_source *source, size_t n);

static inline size_t chunk_source_left(const struct chunk_source *source)
{
	return source->end - source->start;
}

/* Consumes n bytes of the buffer. */
void chunk_source_skip(struct chunk_source *source, size_t n);

/*
 * Finds the next chunk with a valid checksum. Returns 1 with its place, valid until the next call
 * (consume it with chunk_source_skip()); 0 if there is no complete one for now; or a negative
 * errno.
 */
int chunk_source_find(struct chunk_source *source, struct chunk_header *ret_header,
		      const uint8_t **ret_place);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORDING_CHUNK_H
#define WICK_RECORDING_CHUNK_H

/* chunk: encodes and decodes one checksummed, compressed piece of a recording. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes;

struct chunk_header {
	uint8_t type;
	uint8_t flags;
	uint32_t epoch;
	uint32_t sequence;
	uint32_t stored_bytes;
	uint32_t raw_bytes;
	uint64_t checksum;
};

struct chunk_codec; /* compression contexts, reused from chunk to chunk */

struct chunk_codec *chunk_codec_new(void); /* NULL: out of memory */
void chunk_codec_free(struct chunk_codec *codec);

/* Store chunks uncompressed from now on: for a file that is read once and discarded. */
void chunk_codec_set_plain(struct chunk_codec *codec);

/*
 * Appends a complete chunk to out. The caller sets type, flags (CHUNK_MUST_UNDERSTAND or 0), epoch
 * and sequence in header; the rest is computed. Returns 0, -ENOMEM, or -EMSGSIZE if it is larger
 * than CHUNK_MAX_BYTES.
 */
int chunk_encode(struct chunk_codec *codec, const struct chunk_header *header, const void *payload,
		 size_t size, struct bytes *out);

/* Reads CHUNK_HEADER_BYTES; returns false if they cannot be the start of a chunk. */
bool chunk_parse_header(const uint8_t *place, struct chunk_header *ret);

/* Whether header (CHUNK_HEADER_BYTES) and payload after it match the checksum. */
bool chunk_verify(const uint8_t *place, const struct chunk_header *header);

/*
 * Returns the uncompressed payload, borrowed from place or from the codec until its next use.
 * Returns 0, -EBADMSG if it cannot be decompressed, or -ENOMEM.
 */
int chunk_decode(struct chunk_codec *codec, const uint8_t *place, const struct chunk_header *header,
		 const uint8_t **ret_data, size_t *ret_size);

#endif

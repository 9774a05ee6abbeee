/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORDING_LEAK_CODEC_H
#define WICK_RECORDING_LEAK_CODEC_H

/*
 * leak_codec: encodes and decodes the result of a leak scan.
 *
 * A scan with many groups needs several chunks. Each has the header of the scan, so it can be read
 * on its own. A reader that has all chunks joins them; one that lacks some can tell by the number
 * of blocks.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/leak.h"

struct bytes;
struct dictionary_decoder;
struct dictionary_encoder;

/*
 * Appends the payload of a chunk: the header, and groups from `first` on, as many as fit into a
 * chunk. They refer to dictionary entries, so they are encoded before the dictionary is written.
 * Returns the index of the first remaining group.
 */
size_t leak_encode(const struct leak_scan *scan, size_t first, struct dictionary_encoder *encoder,
		   struct bytes *out);

/* Initialise with zeros. */
struct leak_decoder {
	struct leak_scan scan; /* its groups point to those below */
	VEC(struct leak_group) groups;
};

void leak_decoder_fini(struct leak_decoder *decoder);

/*
 * Decodes a payload and translates numbers to ids, or to ID_NONE if their dictionary was lost.
 * Returns 0, -EBADMSG or -ENOMEM.
 */
int leak_decoder_run(struct leak_decoder *decoder, const uint8_t *data, size_t size,
		     const struct dictionary_decoder *dictionary);

#endif

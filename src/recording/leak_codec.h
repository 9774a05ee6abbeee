/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORDING_LEAK_CODEC_H
#define WICK_RECORDING_LEAK_CODEC_H

/*
 * leak_codec: what a leak scan found, to bytes and back.
 *
 * A scan with many groups takes several chunks. Each of them has the head of the scan, so it
 * stands for itself: who gets them all puts them together, and who lacks some can tell by the
 * number of blocks.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/leak.h"

struct bytes;
struct dictionary_decoder;
struct dictionary_encoder;

/*
 * Appends the payload of a chunk: the head, and groups from `first` on, as many as a chunk takes.
 * They name entries of the dictionary, so they are coded before that is written. Returns the
 * index of the first group that is left.
 */
size_t leak_encode(const struct leak_scan *scan, size_t first, struct dictionary_encoder *encoder,
		   struct bytes *out);

/* Starts as zeros. */
struct leak_decoder {
	struct leak_scan scan; /* its groups are those below */
	VEC(struct leak_group) groups;
};

void leak_decoder_fini(struct leak_decoder *decoder);

/*
 * Decodes a payload; numbers become ids, and ID_NONE where their dictionary was lost. Returns 0,
 * -EBADMSG or -ENOMEM.
 */
int leak_decoder_run(struct leak_decoder *decoder, const uint8_t *data, size_t size,
		     const struct dictionary_decoder *dictionary);

#endif

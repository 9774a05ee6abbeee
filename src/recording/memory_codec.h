/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORDING_MEMORY_CODEC_H
#define WICK_RECORDING_MEMORY_CODEC_H

/*
 * memory_codec: readings of processes' memory as bytes of a chunk, see
 * docs/reference/recording-format.md. Each reading is self-contained and has its length, so
 * readings of later versions can be skipped. Sizes are in KiB.
 */

#include "model/memory_reading.h"

struct bytes;
struct cursor;

void memory_encode(const struct memory_reading *reading, struct bytes *out);

/*
 * Decodes the next reading. `regions` has room for MEMORY_MAX_REGIONS, and *ret points to it.
 * Returns 1, 0 if its kind is unknown, or -EBADMSG.
 */
int memory_decode(struct cursor *in, struct memory_region *regions, struct memory_reading *ret);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORDING_MEMORY_CODEC_H
#define WICK_RECORDING_MEMORY_CODEC_H

/*
 * memory_codec: readings of processes' memory as bytes of a chunk, see
 * docs/reference/recording-format.md. Each stands for itself and has its length, so those of later
 * versions can be passed over. Sizes are in KiB.
 */

#include "model/memory_reading.h"

struct bytes;
struct cursor;

void memory_encode(const struct memory_reading *reading, struct bytes *out);

/*
 * Takes the next reading. regions has room for MEMORY_MAX_REGIONS, and *ret points there. 1, 0 when
 * it is of a kind that is not known, or -EBADMSG.
 */
int memory_decode(struct cursor *in, struct memory_region *regions, struct memory_reading *ret);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORDING_MAP_LOG_H
#define WICK_RECORDING_MAP_LOG_H

/*
 * map_log: the map events of a recording while it is written.
 *
 * All that are in force are kept, because each epoch repeats them. Starts as zeros.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/sink.h"

struct bytes;
struct dictionary_encoder;

struct map_log {
	VEC(struct map_event) events;
	size_t written;     /* of this epoch */
	size_t repeated;    /* that earlier epochs have already */
	VEC(uint8_t) ended; /* by process id: whether it has ended */
};

void map_log_fini(struct map_log *log);

/* Nothing more comes of a process, or something after all. */
void map_log_end(struct map_log *log, uint32_t process);
void map_log_revive(struct map_log *log, uint32_t process);

/* Whether some events wait to be written in this epoch. */
bool map_log_waits(const struct map_log *log);

/*
 * Appends the payload of a chunk: some events, up to the end of those that are all
 * repeated or all new. They name entries of the dictionary, so they are coded before
 * that is written.
 */
void map_log_encode(struct map_log *log, struct dictionary_encoder *encoder, size_t max_bytes,
		    struct bytes *out);

/* Drops what is no longer in force and has the rest written once more. */
void map_log_begin_epoch(struct map_log *log);

#endif

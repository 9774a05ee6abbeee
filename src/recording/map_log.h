/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORDING_MAP_LOG_H
#define WICK_RECORDING_MAP_LOG_H

/*
 * map_log: the map events of a recording that is being written.
 *
 * All events in force are kept, because each epoch repeats them. Initialise with zeros.
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
	size_t written;     /* written in this epoch */
	size_t repeated;    /* how many of them earlier epochs have already */
	VEC(uint8_t) ended; /* by process id: whether it has ended */
};

void map_log_fini(struct map_log *log);

/* A process has ended, or has turned out to be alive. */
void map_log_end(struct map_log *log, uint32_t process);
void map_log_revive(struct map_log *log, uint32_t process);

/* Whether events are waiting to be written in this epoch. */
bool map_log_waits(const struct map_log *log);

/*
 * Appends the payload of a chunk: a number of events that are either all repeated or all new. They
 * refer to dictionary entries, so they are encoded before the dictionary is written.
 */
void map_log_encode(struct map_log *log, struct dictionary_encoder *encoder, size_t max_bytes,
		    struct bytes *out);

/* Drops events that are no longer in force, and marks the rest to be written again. */
void map_log_begin_epoch(struct map_log *log);

#endif

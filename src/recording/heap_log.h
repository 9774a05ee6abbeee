/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORDING_HEAP_LOG_H
#define WICK_RECORDING_HEAP_LOG_H

/* heap_log: the heap events of a recording that is being written. Initialise with zeros. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording/heap_codec.h"

struct bytes;
struct dictionary_encoder;
struct error;

struct heap_log {
	uint64_t count; /* number of all events */

	/* private */
	struct heap_encoder encoder;
	bool begun;           /* a chunk has been started */
	bool until_waits;     /* until_ticks must still be written */
	uint64_t until_ticks; /* 0: unknown */
};

void heap_log_fini(struct heap_log *log);

/* Checks for bugs of our own, which would make a file that readers reject. Returns 0 or -EINVAL. */
int heap_log_check(const struct heap_batch *batch, struct error *err);

/*
 * Encodes events from *at on, until the chunk or the dictionary must be written. Returns 1 if it
 * must, else 0 or -ENOMEM. Sets *at to where it stopped.
 */
int heap_log_add(struct heap_log *log, struct dictionary_encoder *dictionary,
		 const struct heap_batch *batch, size_t max_pending_bytes, size_t *at);

/* Says that all events before this time have been added. */
void heap_log_until(struct heap_log *log, uint64_t time_ns);

/* Appends the payload of a chunk. Returns 1, 0 if there is nothing to write, or -ENOMEM. */
int heap_log_encode(struct heap_log *log, struct bytes *out);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORDING_HEAP_LOG_H
#define WICK_RECORDING_HEAP_LOG_H

/* heap_log: the heap events of a recording while it is written. Starts as zeros. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording/heap_codec.h"

struct bytes;
struct dictionary_encoder;
struct error;

struct heap_log {
	uint64_t count; /* of all events */

	/* private */
	struct heap_encoder encoder;
	bool begun;           /* a chunk */
	bool until_waits;     /* to be written */
	uint64_t until_ticks; /* 0: not told */
};

void heap_log_fini(struct heap_log *log);

/* Our own mistakes would make a file that no reader takes: -EINVAL. */
int heap_log_check(const struct heap_batch *batch, struct error *err);

/*
 * Codes events from `at` on, until the chunk or the dictionary is to be written. Returns
 * 1 when it is, else 0 or -ENOMEM. *at is where it stopped.
 */
int heap_log_add(struct heap_log *log, struct dictionary_encoder *dictionary,
		 const struct heap_batch *batch, size_t max_pending_bytes, size_t *at);

/* All events before this moment have been added. */
void heap_log_until(struct heap_log *log, uint64_t time_ns);

/* Appends the payload of a chunk. Returns 1, 0 when there is nothing to write, -ENOMEM. */
int heap_log_encode(struct heap_log *log, struct bytes *out);

#endif

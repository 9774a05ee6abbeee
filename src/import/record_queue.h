/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_IMPORT_RECORD_QUEUE_H
#define WICK_IMPORT_RECORD_QUEUE_H

/*
 * record_queue: sorts the records of perf.data by time.
 *
 * perf writes the rings of all CPUs one after another and ends each round with a mark. Records
 * older than the newest record of the previous round can no longer arrive, so they are delivered at
 * the mark. Memory is bounded: if a round is larger than the limit, the older half is delivered
 * early.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/vec.h"

struct perf_event_header;

/* Receives records, aligned to 8 bytes, in time order. A negative result stops the delivery. */
typedef int record_queue_fn(void *self, const struct perf_event_header *record);

struct queued_record {
	uint64_t time_ns;
	size_t offset; /* in data */
};

struct record_queue {
	VEC(struct queued_record) records;
	struct bytes data;
	struct bytes spare; /* scratch space for the records that are kept */
	uint64_t newest_ns;
	uint64_t round_ns;  /* the newest record before the last mark */
	size_t limit_bytes; /* limit for data, set by record_queue_init(); tests change it */
	record_queue_fn *fn;
	void *self;
};

void record_queue_init(struct record_queue *queue, record_queue_fn *fn, void *self);
void record_queue_fini(struct record_queue *queue);

/* Copies a record of any alignment. Delivers older ones if memory is full. */
int record_queue_put(struct record_queue *queue, uint64_t time_ns, const uint8_t *record,
		     size_t size);
int record_queue_round(struct record_queue *queue);
int record_queue_end(struct record_queue *queue); /* delivers all */

#endif

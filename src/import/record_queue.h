/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_IMPORT_RECORD_QUEUE_H
#define WICK_IMPORT_RECORD_QUEUE_H

/*
 * record_queue: puts the records of perf.data into the order of their times.
 *
 * perf writes the rings of all CPUs one after the other and ends each round with a
 * mark. What is older than the newest record of the round before cannot come any
 * more, so it is handed out at the mark. Memory is bounded: where rounds are larger
 * than that, the older half goes early.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/vec.h"

struct perf_event_header;

/* Gets records, aligned to 8 bytes, in order of time. Negative: stops the handing out. */
typedef int record_queue_fn(void *self, const struct perf_event_header *record);

struct queued_record {
	uint64_t time_ns;
	size_t offset; /* in data */
};

struct record_queue {
	VEC(struct queued_record) records;
	struct bytes data;
	struct bytes spare; /* what is kept moves there and back */
	uint64_t newest_ns;
	uint64_t round_ns;  /* the newest record before the last mark */
	size_t limit_bytes; /* of data; for tests, else as record_queue_init() sets it */
	record_queue_fn *fn;
	void *self;
};

void record_queue_init(struct record_queue *queue, record_queue_fn *fn, void *self);
void record_queue_fini(struct record_queue *queue);

/* Copies a record of any alignment. Hands out older ones when memory is full. */
int record_queue_put(struct record_queue *queue, uint64_t time_ns, const uint8_t *record,
		     size_t size);
int record_queue_round(struct record_queue *queue);
int record_queue_end(struct record_queue *queue); /* hands out all */

#endif

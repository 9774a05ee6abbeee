/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_OVERWRITE_RING_READER_H
#define WICK_ENGINE_SIGNAL_OVERWRITE_RING_READER_H

/*
 * overwrite_ring_reader: reads a ring whose writer overwrites the oldest records when it is full
 * (--on-overflow overwrite-old), even while they are read: a record is copied first, and is valid
 * only if it was not released before the copy was complete.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "wire/session.h"

struct overwrite_ring_reader {
	const struct session_slot *slot;
	const uint64_t *words;
	uint32_t size;
	uint64_t head; /* end of the data to read */
	uint64_t tail; /* next record to read */
	bool damaged;  /* the next record was invalid: everything up to the head is skipped */
};

struct moving_copy {
	VEC(uint64_t) words; /* of one record */
};

/* Copies the next record and advances past it. NULL: none left before the head. */
const struct session_record *overwrite_ring_reader_next(struct overwrite_ring_reader *ring,
							struct moving_copy *copy);

#endif

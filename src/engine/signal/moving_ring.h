/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_MOVING_RING_H
#define WICK_ENGINE_SIGNAL_MOVING_RING_H

/*
 * moving_ring: reads a ring whose writer overwrites the oldest records when it is full
 * (--on-overflow overwrite-old), even while they are read: a record is copied first, and is valid
 * only if it was not released before the copy was complete.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "wire/session.h"

struct moving_ring {
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
const struct session_record *moving_ring_next(struct moving_ring *ring, struct moving_copy *copy);

#endif

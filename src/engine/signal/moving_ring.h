/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_MOVING_RING_H
#define WICK_ENGINE_SIGNAL_MOVING_RING_H

/*
 * moving_ring: reads a ring whose writer gives up the oldest records when it needs
 * their room (--on-overflow overwrite-old), also while they are read: a record is
 * copied first, and counts only if its place was not given up until then.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "wire/session.h"

struct moving_ring {
	const struct session_slot *slot;
	const uint64_t *words;
	uint32_t size;
	uint64_t head; /* read up to here */
	uint64_t tail; /* what comes next */
	bool damaged;  /* what came next was no record: all up to the head is skipped */
};

struct moving_copy {
	VEC(uint64_t) words; /* of one record */
};

/* Copies the next record, and steps over it. NULL when there is none up to the head. */
const struct session_record *moving_ring_next(struct moving_ring *ring, struct moving_copy *copy);

#endif
